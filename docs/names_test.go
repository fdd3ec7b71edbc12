package docs_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

var (
	// pathForm is a path of the repository in backquotes.
	pathForm = regexp.MustCompile("`((?:client|cmd|docs|internal|openapi|bench|scripts|tools)/[A-Za-z0-9_./-]+)`")
	// testForm is the name of a test in backquotes, with or without its package.
	testForm = regexp.MustCompile("`(?:([a-z0-9/]+)\\.)?((?:Test|Fuzz|Benchmark)[A-Z][A-Za-z0-9]*)[^`]*`")
	// funcForm is the declaration of a test.
	funcForm = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)[A-Z][A-Za-z0-9]*)\(`)
	// futureForm is a path of an example that does not exist yet.
	futureForm = regexp.MustCompile(`NAME|/v3`)
)

// TestPathsExist checks that every path in backquotes exists.
func TestPathsExist(t *testing.T) {
	t.Parallel()
	root := os.DirFS("..")
	for _, file := range documents(t, root) {
		for _, line := range proseOf(t, root, file) {
			for _, match := range pathForm.FindAllStringSubmatch(line, -1) {
				if futureForm.MatchString(match[1]) || strings.Contains(match[1], ".Test") {
					continue
				}
				if _, err := fs.Stat(root, path.Clean(match[1])); err != nil {
					t.Errorf("%s: %s does not exist", file, match[1])
				}
			}
		}
	}
}

// TestTestsExist checks that every test in backquotes exists, in a folder that ends as
// its package says.
func TestTestsExist(t *testing.T) {
	t.Parallel()
	root := os.DirFS("..")
	folders := make(map[string][]string) // of tests
	testenv.NoError(t, fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(root, name)
		for _, match := range funcForm.FindAllSubmatch(text, -1) {
			folders[string(match[1])] = append(folders[string(match[1])], "/"+path.Dir(name))
		}
		return err
	}))
	for _, file := range documents(t, root) {
		for _, line := range proseOf(t, root, file) {
			for _, match := range testForm.FindAllStringSubmatch(line, -1) {
				inPackage := func(folder string) bool { return match[1] == "" || strings.HasSuffix(folder, "/"+match[1]) }
				if !slices.ContainsFunc(folders[match[2]], inPackage) {
					t.Errorf("%s: there is no %s", file, match[0])
				}
			}
		}
	}
}

// cellForm is text in backquotes.
var cellForm = regexp.MustCompile("`([^`]+)`")

// TestChangesNameFiles checks that each file in the tables of CONTRIBUTING exists. A name
// without a folder is of the folder of the name before it.
func TestChangesNameFiles(t *testing.T) {
	t.Parallel()
	root, files := os.DirFS(".."), 0
	for _, line := range proseOf(t, root, "CONTRIBUTING.md") {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		folder := ""
		for _, match := range cellForm.FindAllStringSubmatch(cells[1], -1) {
			name := match[1]
			if !strings.Contains(name, "/") {
				name = path.Join(folder, name)
			}
			folder = path.Dir(name)
			if futureForm.MatchString(name) {
				continue
			}
			files++
			if _, err := fs.Stat(root, path.Clean(name)); err != nil {
				t.Errorf("%s: there is no %s", strings.TrimSpace(cells[1]), name)
			}
		}
	}
	if files < 40 {
		t.Errorf("only %d files are named", files)
	}
}
