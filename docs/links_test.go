// Package docs_test checks the documents: every link has a target, the example
// import file parses, the state diagram shows the allowed transitions, and every
// text line is one sentence. It understands only as much Markdown as it needs
// and must not know how the service stores or serves anything.
package docs_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"merchantorders/internal/testenv"
)

// TestLinks checks that every relative link leads to an existing file and, if it
// has an anchor, to an existing heading.
func TestLinks(t *testing.T) {
	t.Parallel()
	root := os.DirFS("..")
	for _, file := range documents(t, root) {
		for _, fault := range brokenLinks(t, root, file) {
			t.Error(fault)
		}
	}
}

// documents returns every document of the project.
func documents(t *testing.T, root fs.FS) []string {
	t.Helper()
	files := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"}
	for _, pattern := range []string{"docs/*.md", "docs/guide/*.md"} {
		found, err := fs.Glob(root, pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no file matches %s: %v", pattern, err)
		}
		files = append(files, found...)
	}
	return files
}

// TestGuideLinks checks that merchants find every rule in the guide: no page of it links to
// a document for operators or to the decisions.
func TestGuideLinks(t *testing.T) {
	t.Parallel()
	root := os.DirFS("..")
	for _, file := range documents(t, root) {
		if !strings.HasPrefix(file, "docs/guide/") {
			continue
		}
		for _, match := range linkForm.FindAllStringSubmatch(strings.Join(proseOf(t, root, file), "\n"), -1) {
			target, _, _ := strings.Cut(match[1], "#")
			if strings.HasPrefix(target, "../") && !slices.Contains([]string{"../interface.md", "../../openapi/v1.yaml", "../../openapi/v2.yaml", "../../clients"}, target) {
				t.Errorf("%s links to %s", file, target)
			}
		}
	}
}

func TestBrokenLinks(t *testing.T) {
	t.Parallel()
	page := "# Top\n\n## 2.1 What's new, in v2?\n\n## Again\n\n## Again\n\n```sh\n# no heading\n```\n"
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"file":             {"[a](docs/page.md)", nil},
		"folder":           {"[a](docs)", nil},
		"heading":          {"[a](docs/page.md#21-whats-new-in-v2)", nil},
		"second of a name": {"[a](docs/page.md#again-1)", nil},
		"own heading":      {"# Here\n[a](#here)", nil},
		"elsewhere":        {"[a](https://example.com/x) [b](mailto:a@example.com)", nil},
		"code":             {"`[a](gone.md)`\n```\n[a](gone.md)\n```\n", nil},
		"no file":          {"[a](docs/gone.md)", []string{"index.md: docs/gone.md: no such file"}},
		"no heading":       {"[a](docs/page.md#gone)", []string{"index.md: docs/page.md#gone: no such heading"}},
		"heading of code":  {"[a](docs/page.md#no-heading)", []string{"index.md: docs/page.md#no-heading: no such heading"}},
		"no own heading":   {"[a](#gone)", []string{"index.md: #gone: no such heading"}},
		"out of the tree":  {"[a](../x.md)", []string{"index.md: ../x.md: no such file"}},
		"two on a line":    {"[a](x) and [b](docs/page.md) ![c](y.png \"d\")", []string{"index.md: x: no such file", "index.md: y.png: no such file"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := fstest.MapFS{"index.md": {Data: []byte(c.text)}, "docs/page.md": {Data: []byte(page)}}
			testenv.Equal(t, "faults", c.want, brokenLinks(t, tree, "index.md"))
		})
	}
}

var (
	linkForm    = regexp.MustCompile(`\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)`)
	schemeForm  = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:`)
	codeForm    = regexp.MustCompile("``[^`]+``|`[^`]*`")
	headingForm = regexp.MustCompile(`^#{1,6}\s+(.*?)\s*#*$`)
)

// brokenLinks returns a line for every relative link of a file without a target.
func brokenLinks(t *testing.T, tree fs.FS, file string) []string {
	t.Helper()
	var faults []string
	for _, line := range proseOf(t, tree, file) {
		for _, match := range linkForm.FindAllStringSubmatch(codeForm.ReplaceAllString(line, ""), -1) {
			link := match[1]
			if schemeForm.MatchString(link) {
				continue
			}
			target, anchor, _ := strings.Cut(link, "#")
			at := file
			if target != "" {
				at = path.Join(path.Dir(file), target)
			}
			if _, err := fs.Stat(tree, at); err != nil {
				faults = append(faults, file+": "+link+": no such file")
			} else if anchor != "" && !slices.Contains(anchorsOf(t, tree, at), anchor) {
				faults = append(faults, file+": "+link+": no such heading")
			}
		}
	}
	return faults
}

// anchorsOf returns the anchors of the headings of a file.
func anchorsOf(t *testing.T, tree fs.FS, file string) []string {
	t.Helper()
	var anchors []string
	seen := make(map[string]int)
	for _, line := range proseOf(t, tree, file) {
		match := headingForm.FindStringSubmatch(line)
		if match == nil {
			continue
		}
		anchor := anchorOf(match[1])
		if n := seen[anchor]; n > 0 {
			anchors = append(anchors, anchor+"-"+strconv.Itoa(n))
		} else {
			anchors = append(anchors, anchor)
		}
		seen[anchor]++
	}
	return anchors
}

// anchorOf returns the anchor of a heading as common Markdown viewers make it:
// in lower case, without punctuation, with hyphens for spaces.
func anchorOf(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// proseOf returns the lines of a file that are not in a code block.
func proseOf(t *testing.T, tree fs.FS, file string) []string {
	t.Helper()
	text := testenv.Of(fs.ReadFile(tree, file)).Must(t)
	var prose []string
	inCode := false
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			inCode = !inCode
		} else if !inCode {
			prose = append(prose, strings.TrimRight(line, "\r\n"))
		}
	}
	return prose
}
