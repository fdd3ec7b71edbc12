package browser

import (
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"merchantorders/internal/testenv"
)

// message is a text of the console in English and Greek, with # for each value.
type message struct{ english, greek string }

// readMessages reads the texts of the console.
var readMessages = sync.OnceValues(func() ([]message, error) {
	text, err := os.ReadFile("../../console/messages.tsv")
	var all []message
	for line := range strings.Lines(string(text)) {
		if fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(fields) == 3 {
			all = append(all, message{values.ReplaceAllString(fields[1], "#"), values.ReplaceAllString(fields[2], "#")})
		}
	}
	return all, err
})

// values are the verbs, limits and numbers of texts.
var values = regexp.MustCompile(`%[a-z]|\{[^}]*\}|[0-9]+`)

// said returns regular expressions that an element matches if it says an English text, in the
// language of the person. Parts between colons are messages of their own; what is no message,
// such as a reference, is the same in each language.
func (p *user) said(t *testing.T, text string) []string {
	t.Helper()
	if p.language != "el" {
		return []string{regexp.QuoteMeta(text)}
	}
	messages := testenv.Of(readMessages()).Must(t)
	var all []string
	for part := range strings.SplitSeq(text, ": ") {
		all = append(all, inGreek(messages, part))
	}
	return all
}

// inGreek returns a regular expression for the Greek messages whose English is a text, or
// contains it. A number alone is no message.
func inGreek(messages []message, text string) string {
	english, numbers := values.ReplaceAllString(text, "#"), values.FindAllString(text, -1)
	var whole, containing []string
	for _, m := range messages {
		value := ".+?"
		greek := strings.Split(m.greek, "#")
		for i, constant := range greek {
			greek[i] = regexp.QuoteMeta(constant)
		}
		switch {
		case text == "" || english == "#":
		case m.english == english && len(greek) == len(numbers)+1:
			pattern := greek[0]
			for i, number := range numbers {
				pattern += number + greek[i+1]
			}
			whole = append(whole, pattern)
		case strings.Contains(m.english, english):
			containing = append(containing, strings.Join(greek, value))
		}
	}
	switch {
	case whole != nil:
		return strings.Join(whole, "|")
	case containing != nil:
		return strings.Join(containing, "|")
	}
	return regexp.QuoteMeta(text)
}
