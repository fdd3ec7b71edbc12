package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// TestSuccessor sees that every good response of v1 names its successor in
// v2, and no other response does.
// Proves decision 5 (v1 successor, choice of the version).
func TestSuccessor(t *testing.T) {
	for _, test := range []struct {
		name, base string
		flags      []string
	}{
		{"own address", "", nil},
		{"given address", "https://orders.example.com/shop", []string{"--base-url", "https://orders.example.com/shop"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			alone(t, sqlite, func(t *testing.T, s *service) {
				base := test.base
				if base == "" {
					base = s.BaseURL
				}
				orders := s.addMany(t, 2)
				list := "<" + base + `/v2/orders>; rel="successor-version"`
				single := func(o placed) string {
					return "<" + base + "/v2/orders/" + o.reference + `>; rel="successor-version"`
				}
				e := s.uploaded(t, v2, orders[0], "a.pdf", "a")
				for _, step := range []struct {
					r    request
					want string
				}{
					{get(v1.list()), list},
					{get(v1.list() + "/"), list},
					{get(v1.list("status", "O", "page", "2")), list},
					{request{method: "HEAD", path: v1.list()}, list},
					{get(v1.order(orders[0])), single(orders[0])},
					{v1.accept(orders[0]), single(orders[0])},
					{v1.reject(orders[1]), single(orders[1])},
					{v1.upload(orders[1], "a.pdf", "a"), single(orders[1])},
					{remove(v1.invoice(orders[0], e.id)), single(orders[0])},

					{v1.accept(orders[0]), ""},
					{get("/api/orders/1"), ""},
					{get(v1.list("page", "0")), ""},
					{get(v1.list()).as(noAuth), ""},
					{get(v2.list()), ""},
					{get(v2.order(orders[0])), ""},
				} {
					a := s.do(t, step.r)
					if (a.status == 200) != (step.want != "" || strings.HasPrefix(a.request.path, "/v2")) {
						t.Errorf("%s: status %d: %s", a, a.status, a.short())
					}
					var got string
					for _, link := range a.header.Values("Link") {
						if strings.Contains(link, "successor-version") {
							got += link
						}
					}
					if got != step.want {
						t.Errorf("%s: Link is %q, want %q", a, got, step.want)
					}
				}
			}, test.flags...)
		})
	}
}

// TestAnswerHeaders has the headers of good responses and of errors: JSON, not to
// be guessed at, not to be cached.
// Proves decision 5 (caching), spec 1.
func TestAnswerHeaders(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
		o := s.addOne(t)
		inEachVersion(t, func(t *testing.T, v version) {
			for _, r := range []request{
				get(v.list()), get(v.order(o)), v.upload(o, "a.pdf", "a"), v.upload(o, "a.exe", "a"), v.reject(o, `"reason":"x"`), get(v.list("page", "0")),
				get(v.list()).as(noAuth), get(v.prefix + "/nothing"), {method: "PURGE", path: v.list()},
			} {
				a := s.do(t, r)
				if got := a.header.Get("Content-Type"); got != "application/json" {
					t.Errorf("%s: Content-Type is %q", a, got)
				}
				if got := a.header.Get("X-Content-Type-Options"); got != "nosniff" {
					t.Errorf("%s: X-Content-Type-Options is %q", a, got)
				}
				if got := a.header.Get("Content-Length"); got != asJSON(t, len(a.body)) {
					t.Errorf("%s: Content-Length is %q, the body has %d bytes", a, got, len(a.body))
				}
				want := "no-store"
				if a.request.method == http.MethodGet && a.header.Get("ETag") != "" {
					want = "private, no-cache"
				}
				if got := a.header.Get("Cache-Control"); got != want {
					t.Errorf("%s: Cache-Control is %q", a, got)
				}
				if a.header.Get("Access-Control-Allow-Origin") != "" || a.header.Get("Set-Cookie") != "" || a.header.Get("Server") != "" {
					t.Errorf("%s has headers that nobody asked for: %v", a, a.header)
				}
			}
		})
	})
}
