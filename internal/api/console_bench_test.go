package api_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/order"
)

// BenchmarkConsole compares pages of the console with the responses of version 2 that
// have the same data, both without a cache. x-json is the processor time of the page as
// a multiple of that of the responses.
func BenchmarkConsole(b *testing.B) {
	s := newBenchService(b)
	cookie := s.signIn(b)
	reference := benchReference(77)
	for _, c := range []struct {
		name, page string
		json       []string
	}{
		{"order", "/console/orders/" + reference, []string{"/v2/orders/" + reference}},
		{"order with history", "/console/orders/" + reference, []string{"/v2/orders/" + reference, "/v2/orders/" + reference + "/events"}},
		{"list", "/console/orders?page=300", []string{"/v2/orders?page=300&itemsPerPage=25"}},
		{"overview", "/console", overviewResponses()},
		{"overview and one list", "/console", []string{"/v2/orders"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			const batch = 20 // requests of each kind in turn
			var page, json time.Duration
			n := 0
			for b.Loop() {
				json += s.timeRequests(b, batch, "", c.json...)
				page += s.timeRequests(b, batch, cookie, c.page)
				n += batch
			}
			json /= time.Duration(n)
			page /= time.Duration(n)
			b.ReportMetric(float64(page.Microseconds()), "page-µs")
			b.ReportMetric(float64(json.Microseconds()), "json-µs")
			b.ReportMetric(float64(page)/float64(json), "x-json")
		})
	}
}

// overviewResponses returns the paths of the responses that a client needs for the
// overview: the new orders, and the number of orders in each state.
func overviewResponses() []string {
	paths := []string{"/v2/orders?state=registered"}
	for _, state := range order.States() {
		paths = append(paths, "/v2/orders?itemsPerPage=1&state="+state.String())
	}
	return paths
}

// signIn returns the cookie of a new session.
func (s benchService) signIn(b *testing.B) string {
	b.Helper()
	form := url.Values{"token": {s.token}}.Encode()
	r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/", strings.NewReader(form))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	if s.handler.ServeHTTP(w, r); w.Code != http.StatusSeeOther {
		b.Fatalf("sign in: %d %s", w.Code, w.Body)
	}
	return strings.SplitN(w.Header().Get("Set-Cookie"), ";", 2)[0]
}

// timeRequests requests each path n times and returns the processor time. With a cookie
// the requests are those of a person.
func (s benchService) timeRequests(b *testing.B, n int, cookie string, paths ...string) time.Duration {
	b.Helper()
	began := processorTime(b)
	for range n {
		for _, path := range paths {
			r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, path, http.NoBody)
			if err != nil {
				b.Fatal(err)
			}
			if cookie != "" {
				r.Header.Set("Cookie", cookie)
			} else {
				r.Header.Set("Authorization", "Bearer "+s.token)
			}
			w := &unread{header: make(http.Header), status: http.StatusOK}
			if s.handler.ServeHTTP(w, r); w.status != http.StatusOK {
				b.Fatalf("%s: status %d", path, w.status)
			}
		}
	}
	return processorTime(b) - began
}
