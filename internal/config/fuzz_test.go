package config_test

import (
	"strings"
	"testing"

	"merchantorders/internal/config"
)

// FuzzReadFile checks that any settings file is read or refused, with one line for
// each fault, and that a value in it is never in an error.
func FuzzReadFile(f *testing.F) {
	for _, text := range []string{
		"", "---\n", "...", "%YAML 1.1\n---\n", "listen: s3cr3t\n", "data: [s3cr3t]", "data: &a s3cr3t\nlisten: *a", "? s3cr3t\n: x", "<<: {a: 1}",
		"database: \"s3cr3t", "data: !!binary s3cr3t", "\xff\xfe", "\xef\xbb\xbfdata: x", "data: |\n  s3cr3t\n listen", "- s3cr3t", "!!map s3cr3t", "data: *s3cr3t",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		path := write(t, "settings.yaml", text)
		s := config.NewSources(nil, flags)
		err := s.ReadFile(path)
		for _, flag := range flags {
			_, _, lookupErr := s.Lookup(flag)
			if lookupErr != nil && err == nil {
				err = lookupErr
			}
		}
		if err == nil {
			return
		}
		for line := range strings.Lines(err.Error()) {
			// A mistyped key is shown, a value is not.
			if strings.Contains(line, "s3cr3t") && !strings.Contains(line, "is not a setting") {
				t.Errorf("the error shows a value: %s", line)
			}
		}
	})
}
