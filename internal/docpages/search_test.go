package docpages

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzSearch searches for any text.
func FuzzSearch(f *testing.F) {
	f.Add("Retry-After")
	f.Add("\xff a\x00b [(")
	f.Add("İ Σ ſ K ß … …")
	s := newSite("", false)
	f.Fuzz(func(t *testing.T, query string) {
		if page := s.search(query).body; !utf8.Valid(page) {
			t.Error("the page is not valid UTF-8")
		}
		for _, r := range s.find(strings.ToValidUTF8(query, "") + " e") {
			var excerpt strings.Builder
			for _, p := range r.Excerpt {
				excerpt.WriteString(p.Text)
			}
			if !utf8.ValidString(excerpt.String()) || excerpt.Len() > 2*excerptLen {
				t.Errorf("excerpt %q", excerpt.String())
			}
		}
	})
}
