package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// TestPolling asks again for what it has: 304 as long as nothing has changed,
// whoever might have changed it (RFC 9110, 13.1.2).
// Proves decision 5 (caching), spec 2.2, spec 2.4.
func TestPolling(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			o := s.addOne(t)
			other := s.another(t)
			lists := []string{v.list(), v.list("page", "2"), v.list(v.from, "2026-01-01", v.to, "2026-12-31")}
			paths := append(lists, v.order(o))
			tags := make(map[string]string)
			for _, path := range paths {
				a := s.do(t, get(path))
				a.ok(t)
				tags[path] = a.header.Get("ETag")
				for _, has := range []string{tags[path], "W/" + tags[path], `"a", ` + tags[path], "*"} { // others are in web.TestNotModified
					if a := s.send(t, get(path).with("If-None-Match", has)); a.status != http.StatusNotModified || a.body != "" || a.header.Get("ETag") != tags[path] {
						t.Errorf("%s with %s: status %d, ETag %s, body %q", a, has, a.status, a.header.Get("ETag"), a.body)
					}
				}
			}
			changed := func(what string, want bool, paths ...string) {
				t.Helper()
				for _, path := range paths {
					a := s.send(t, get(path).with("If-None-Match", tags[path]))
					testenv.Equal(t, fmt.Sprintf("%s %s has changed", what, path), want, a.status == http.StatusOK)
					tags[path] = a.header.Get("ETag")
				}
			}
			other.addOne(t)
			changed("another merchant's order", false, paths...)
			another := s.addOne(t)
			changed("an order came in", true, lists...)
			changed("another order came in", false, v.order(o))
			s.do(t, v.accept(another)).ok(t)
			changed("another order was accepted", true, lists...)
			changed("another order was accepted", false, v.order(o))
			s.do(t, v.accept(o)).ok(t)
			changed("it was accepted", true, paths...)
			s.uploaded(t, v, o, "a.pdf", "content")
			changed("a file was uploaded", true, paths...)
		})
	})
}

// nextLink finds the path of a list's next page.
var nextLink = regexp.MustCompile(`^<[^>]*?(/(?:api|v2)/orders[^>]*)>; rel="next"$`)

// next returns the path of the page that a response links to; empty: none.
func (a response) next() string {
	for _, link := range a.header.Values("Link") {
		if found := nextLink.FindStringSubmatch(link); found != nil {
			return found[1]
		}
	}
	return ""
}

// TestNextLinks follows a list while orders come in and move: every order that
// was there is shown once.
// Proves decision 3 (next links).
func TestNextLinks(t *testing.T) {
	references := regexp.MustCompile(`"(?:id|order_reference)":"([^"]+)"`)
	onBothDatabases(t, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			there := make(map[string]bool)
			for _, o := range s.addMany(t, 23) {
				there[o.reference] = true
			}
			seen := make(map[string]int)
			pages := 0
			for path := v.list(v.size, "5"); path != ""; pages++ {
				a := s.do(t, get(path))
				for _, found := range references.FindAllStringSubmatch(a.ok(t), -1) {
					seen[found[1]]++
				}
				path = a.next()
				s.do(t, v.accept(s.addOne(t))).ok(t)
				s.addOne(t, document{"createdAt": "2020-01-01T00:00:00Z"})
			}
			for reference := range there {
				if seen[reference] == 0 {
					t.Errorf("%s was there and is not shown", reference)
				}
			}
			for reference, times := range seen {
				if times > 1 {
					t.Errorf("%s is shown %d times", reference, times)
				}
			}
			if pages < 5 {
				t.Errorf("only %d pages", pages)
			}
		})
	})
}

// TestLinkParameters checks that the links to other pages repeat only parameters
// that a list knows, as the client spells them.
// Proves decision 3 (empty and unknown parameters).
func TestLinkParameters(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			s.addMany(t, 2)
			query := v.inWords("x=1&period=A&SIZE=1&page=1&FROM=2020-01-01&TO=&x=2&token=secret&cursor=")
			a := s.do(t, get(v.prefix+"/orders?"+query))
			a.ok(t)
			size, from := v.inWords("SIZE"), v.inWords("FROM")
			want := map[string][]string{"first": {from, size}, "next": {"cursor", from, size}}
			for _, link := range a.header.Values("Link") {
				target, relation, _ := strings.Cut(strings.TrimPrefix(link, "<"), `>; rel="`)
				relation = strings.TrimSuffix(relation, `"`)
				address := testenv.Of(url.Parse(target)).Must(t)
				got := slices.Sorted(maps.Keys(address.Query()))
				slices.Sort(want[relation])
				if relation != "successor-version" && !slices.Equal(got, want[relation]) {
					t.Errorf("%s has the parameters %v, want %v", link, got, want[relation])
				}
				delete(want, relation)
			}
			if len(want) > 0 {
				t.Errorf("links are missing: %v", want)
			}
		})
	})
}

// TestForeignCursors asks with cursors that the list did not give.
// Proves decision 3 (next links).
func TestForeignCursors(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			o := s.addMany(t, 3)[0]
			next := s.do(t, get(v.list(v.size, "1"))).next()
			address := testenv.Of(url.Parse(next)).Must(t)
			cursor := address.Query().Get("cursor")
			s.do(t, get(v.list("cursor", cursor))).ok(t)
			s.do(t, get(v.list(v.size, "2", "cursor", cursor))).ok(t)
			tampered := []byte(cursor)
			tampered[3] ^= 1
			for what, r := range map[string]request{
				"tampered with":     get(v.list("cursor", string(tampered))),
				"cut off":           get(v.list("cursor", cursor[:len(cursor)-4])),
				"too long":          get(v.list("cursor", cursor+"AAAA")),
				"none":              get(v.list("cursor", "17")),
				"given twice":       get(v.list("cursor", cursor, "cursor", cursor)),
				"of another filter": get(v.list("cursor", cursor, v.status, state{"registered", "O"}.in(v))),
			} {
				t.Run(what, func(t *testing.T) { s.do(t, r).wantRefusal(t, v, invalidQuery, o) })
			}
			s.another(t).do(t, get(v.list("cursor", cursor))).wantRefusal(t, v, invalidQuery, o)
		})
	})
}
