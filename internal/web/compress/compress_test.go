package compress

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// accepts says which Accept-Encoding headers accept gzip. A "|" separates two
// headers.
var accepts = map[string]bool{
	"":                           false,
	"gzip":                       true,
	"GZip":                       true,
	"x-gzip":                     true,
	"gzip, deflate, br":          true,
	"deflate, gzip;q=1.0, *;q=0": true,
	" br , gzip ":                true,
	"br|gzip":                    true,
	"*":                          true,
	"*;q=0.1":                    true,
	"br, *;q=0.001":              true,
	"gzip;q=0.001":               true,
	"gzip; q=0.5":                true,
	"gzip;Q=1":                   true,
	"gzip;q=1.000":               true,
	"gzip;q=0.5, identity;q=0.5": true,
	"identity;q=0, gzip;q=0.2":   true,
	"*;q=0, gzip":                true,

	"identity":             false,
	"br":                   false,
	"gzipped":              false,
	"gzip;q=0":             false,
	"gzip;q=0.0":           false,
	"gzip;q=0.000":         false,
	"*;q=0":                false,
	"gzip;q=0, *":          false,
	"identity, gzip;q=0.9": false,
	"gzip;q=0.5, *":        false,
	"gzip;q=2":             false,
	"gzip;q=1.001":         false,
	"gzip;q=0.1234":        false,
	"gzip;q=-1":            false,
	"gzip;q=":              false,
	"gzip;q=x":             false,
	"gzip;q=0x":            false,
	"gzip;level=9":         false,
	`"gzip"`:               false,
	"gzip deflate":         false,
	",,;q=1,":              false,
}

func TestAccepted(t *testing.T) {
	t.Parallel()
	for text, want := range accepts {
		if got := Accepted(strings.Split(text, "|")); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func FuzzAccepted(f *testing.F) {
	for text := range accepts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lower := strings.ToLower(text)
		if Accepted([]string{text}) && !strings.Contains(lower, "gzip") && !strings.Contains(lower, "*") {
			t.Errorf("%q is accepted without naming gzip", text)
		}
		if Accepted([]string{text, "gzip;q=0"}) != Accepted([]string{"gzip;q=0", text}) {
			t.Errorf("%q: the order of two headers makes a difference", text)
		}
	})
}

// TestSetVary checks that Accept-Encoding is named once, also if the handler has
// named it.
func TestSetVary(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		before, want []string
	}{
		{nil, []string{"Accept-Encoding"}},
		{[]string{"Accept"}, []string{"Accept", "Accept-Encoding"}},
		{[]string{"Accept-Encoding"}, []string{"Accept-Encoding"}},
	} {
		h := http.Header{"Vary": test.before}
		SetVary(h, http.StatusNotModified)
		if got := h["Vary"]; !slices.Equal(got, test.want) {
			t.Errorf("Vary is %q after %q, want %q", got, test.before, test.want)
		}
	}
}
