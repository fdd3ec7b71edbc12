package api_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// BenchmarkConsole compares pages of the console with the responses of version 2 that
// have the same data. Nothing is cached.
func BenchmarkConsole(b *testing.B) {
	s := newBenchService(b)
	form := url.Values{"token": {s.token}}.Encode()
	signIn := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/", strings.NewReader(form))
	signIn.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	signedIn := httptest.NewRecorder()
	s.handler.ServeHTTP(signedIn, signIn)
	if signedIn.Code != http.StatusSeeOther {
		b.Fatalf("sign in: %d %s", signedIn.Code, signedIn.Body)
	}
	cookie := strings.SplitN(signedIn.Header().Get("Set-Cookie"), ";", 2)[0]
	for _, c := range []struct{ name, path string }{
		{"order/json", "/v2/orders/" + benchReference(77)},
		{"order/page", "/console/orders/" + benchReference(77)},
		{"list/json", "/v2/orders?page=300&itemsPerPage=25"},
		{"list/page", "/console/orders?page=300"},
		{"overview/page", "/console"},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, c.path, nil)
				r.Header.Set("Authorization", "Bearer "+s.token)
				r.Header.Set("Cookie", cookie)
				w := &unread{header: make(http.Header), status: http.StatusOK}
				if s.handler.ServeHTTP(w, r); w.status != http.StatusOK {
					b.Fatalf("status %d", w.status)
				}
			}
		})
	}
}
