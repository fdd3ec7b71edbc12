package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// secondSentence is the end of a sentence with another one on the same line.
var secondSentence = regexp.MustCompile(`[a-z)*][.?!](?:\*\*|\))? ["A-Z*\[]`)

// TestOneSentencePerLine checks that a line of text has one sentence, so that a
// change of a sentence is a change of a line. Tables and code are exempt.
func TestOneSentencePerLine(t *testing.T) {
	t.Parallel()
	root := os.DirFS("..")
	for _, file := range documents(t, root) {
		for _, line := range proseOf(t, root, file) {
			if strings.HasPrefix(line, "|") || strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "#") {
				continue
			}
			if secondSentence.MatchString(codeForm.ReplaceAllString(line, "")) {
				t.Errorf("%s: more than one sentence: %s", file, line)
			}
		}
	}
}
