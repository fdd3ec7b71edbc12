package idempotency

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// Proves decision 8 (form of a key).
func TestParseKey(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		given []string
		want  string
		ok    bool
	}{
		{"none", nil, "", true},
		{"one letter", []string{"a"}, "a", true},
		{"a UUID", []string{"8e03978e-40d5-43e8-bc93-6894a57f9324"}, "8e03978e-40d5-43e8-bc93-6894a57f9324", true},
		{"quotes are part of it", []string{`"a"`}, `"a"`, true},
		{"every printable character", []string{"! #~"}, "! #~", true},
		{"longest", []string{strings.Repeat("k", 255)}, strings.Repeat("k", 255), true},
		{"too long", []string{strings.Repeat("k", 256)}, "", false},
		{"empty", []string{""}, "", false},
		{"twice", []string{"a", "b"}, "", false},
		{"twice the same", []string{"a", "a"}, "", false},
		{"a tab", []string{"a\tb"}, "", false},
		{"NUL", []string{"a\x00"}, "", false},
		{"DEL", []string{"a\x7f"}, "", false},
		{"Greek", []string{"κλειδί"}, "", false},
		{"not UTF-8", []string{"\xff"}, "", false},
	} {
		got, err := ParseKey(http.Header{"Idempotency-Key": test.given})
		if got != test.want || (err == nil) != test.ok {
			t.Errorf("%s: %q, error %v", test.name, got, err)
		}
	}
}

// TestDigest has requests that differ in one thing. Without a query the digest is that of
// the first release, whose records are replayed.
func TestDigest(t *testing.T) {
	t.Parallel()
	digest := func(method, target string) string {
		r := httptest.NewRequest(method, target, nil)
		return fmt.Sprintf("%x", Digest(r, nil))[:16]
	}
	testenv.Equal(t, "the digest of a request without a query", "f4db30f9801bec54", digest("DELETE", "/v2/tokens/7"))
	seen := make(map[string]string)
	for _, target := range []string{"/v2/tokens/7", "/v2/tokens/7?children=true", "/v2/tokens/7?children=false", "/v2/tokens/7?a=1&b=2", "/v2/tokens/7%3Fchildren=true"} {
		got := digest("DELETE", target)
		testenv.Equal(t, "another request with the digest of "+target, "", seen[got])
		seen[got] = target
	}
	testenv.Equal(t, "digest of the parameters in another sequence", digest("DELETE", "/v2/tokens/7?a=1&b=2"), digest("DELETE", "/v2/tokens/7?b=2&a=1"))
}

// FuzzParseKey checks that an accepted key is the one that was sent, and one that
// every database stores unchanged.
// Proves decision 8 (form of a key).
func FuzzParseKey(f *testing.F) {
	for _, key := range []string{"", "a", "8e03978e-40d5", strings.Repeat("k", 256), "\x00", "κ", "a\r\nb"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		got, err := ParseKey(http.Header{"Idempotency-Key": {key}})
		if err != nil {
			return
		}
		if got != key || got == "" || len(got) > 255 || strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%q is parsed as %q", key, got)
		}
	})
}
