// Package docstest reads the tables of the documents, for tests that compare
// them with the code. It understands only as much Markdown as it needs.
package docstest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// Rows returns the rows of all tables between a heading of level 2 and the next
// one, with cells trimmed of space. file is relative to the folder docs, such as
// "guide/errors.md". The test fails if there is no row.
func Rows(t testing.TB, file, heading string) [][]string {
	t.Helper()
	text := testenv.Of(os.ReadFile(filepath.Join(moduleRoot(t), "docs", filepath.FromSlash(file)))).Must(t)
	_, below, found := strings.Cut(string(text), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("%s has no heading %q", file, heading)
	}
	below, _, _ = strings.Cut(below, "\n## ")
	var rows [][]string
	var last string
	inTable := false
	for line := range strings.Lines(below) {
		line = strings.TrimSpace(line)
		switch {
		case !strings.HasPrefix(line, "|"):
			inTable = false
		case strings.HasPrefix(line, "|---"):
			inTable = true
		case inTable:
			rows = append(rows, cells(line))
		}
		last = line
	}
	if len(rows) == 0 {
		t.Fatalf("%s has no table below the heading %q; its last line is %q", file, heading, last)
	}
	return rows
}

// moduleRoot returns the folder of go.mod, at or above the folder of the running
// test.
func moduleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, err = os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if parent := filepath.Dir(dir); parent != dir {
			dir, err = parent, nil
		}
	}
	t.Fatalf("find the root of the module: %v", err)
	return ""
}

func cells(line string) []string {
	parts := strings.Split(strings.Trim(line, "|"), "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

var codeForm = regexp.MustCompile("`([^`]+)`")

// Code returns the texts of a cell that are between backquotes.
func Code(cell string) []string {
	var found []string
	for _, match := range codeForm.FindAllStringSubmatch(cell, -1) {
		found = append(found, match[1])
	}
	return found
}
