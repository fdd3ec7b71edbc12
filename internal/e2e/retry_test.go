package e2e

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/testenv"
)

const replayed = "Idempotent-Replayed"

var lastKey atomic.Int64

// newKey returns an Idempotency-Key that was not used before.
func newKey() string { return fmt.Sprintf("key %d", lastKey.Add(1)) }

// under returns the request with an Idempotency-Key.
func (r request) under(key string) request { return r.with("Idempotency-Key", key) }

// recorded is what of a response has to be the same when it is given again.
func (a response) recorded() string {
	var fields []string
	for _, name := range []string{"Content-Type", "Content-Length", "ETag", "Link", "Cache-Control", "X-Content-Type-Options"} {
		fields = append(fields, fmt.Sprintf("%s: %q", name, a.header.Values(name)))
	}
	return fmt.Sprintf("%d\n%s\n\n%s", a.status, strings.Join(fields, "\n"), a.body)
}

// wantAgain sees that a request gets the same response as the first time.
func (s *service) wantAgain(t testing.TB, r request, first response) {
	t.Helper()
	a := s.do(t, r)
	if diff := cmp.Diff(first.recorded(), a.recorded()); diff != "" {
		t.Errorf("%s again (-first +again):\n%s", a, diff)
	}
	if got := a.header.Values(replayed); len(got) != 1 || got[0] != "true" {
		t.Errorf("%s again: %s is %q", a, replayed, got)
	}
}

// first sends a request for the first time.
func (s *service) first(t testing.TB, r request) response {
	t.Helper()
	a := s.do(t, r)
	if _, said := a.header[replayed]; said {
		t.Errorf("%s: the first response says that it is not", a)
	}
	return a
}

// TestRetry makes every change twice under one key: the second time nothing
// happens, and the response is the first one, byte for byte. Without
// the key, and under another, it is the published refusal.
// Proves decision 5 (repeated request), decision 8 (ETag; replay).
func TestRetry(t *testing.T) {
	on(t, bothDatabases, func(t *testing.T, s *service) {
		eachWrite(t, s, func(t *testing.T, v version, o placed, r request, now string) {
			key := newKey()
			first := s.first(t, r.under(key))
			first.ok(t)
			if got := first.dataTag(); changes(t, o, got) != changes(t, o, now)+1 {
				t.Errorf("ETag is %s, before %s", got, now)
			}
			shown := v2.shown(t, s, o)
			for range 2 {
				s.wantAgain(t, r.under(key), first)
			}
			wantJSON(t, "the order", v2.shown(t, s, o), shown)
			if strings.HasSuffix(r.path, "/invoices") {
				return // a second upload is a second file
			}
			for _, r := range []request{r, r.under(newKey())} {
				if a := s.first(t, r); a.status == 200 {
					t.Errorf("%s once more: %s", a, a.body)
				}
			}
		})
	})
}

// TestRetryOfRefusal repeats requests that were refused by a rule or for their
// condition: the first response holds. A refusal that found no order, or did not
// look for it, holds no key.
// Proves decision 8 (errors, order of checks).
func TestRetryOfRefusal(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			o, accepted, late := s.addOne(t), s.addOne(t), s.newDocument()
			s.do(t, v.accept(accepted)).want(t, 200, v.done())
			for name, r := range map[string]request{
				"accept, state":      v.accept(accepted),
				"reject, state":      v.reject(accepted),
				"reason":             v.reject(o, `"reason":"whim"`),
				"changed":            v.accept(o).with("If-Match", `"a"`),
				"upload, type":       v.upload(o, "a.exe", "x"),
				"upload, too big":    v.upload(o, "a.pdf", strings.Repeat("x", 4_000_001)),
				"delete, no invoice": remove(v.invoice(o, 1<<40)),
			} {
				key := newKey()
				first := s.first(t, r.under(key))
				if first.status < 400 || first.status >= 500 {
					t.Errorf("%s: status %d: %s", name, first.status, first.body)
				}
				s.wantAgain(t, r.under(key), first)
			}
			free := newKey()
			for name, r := range map[string]request{
				"missing order":         v.accept(late.placed(t)),
				"payload":               v.rejectWith(o, `{"status":`),
				"no object":             v.rejectWith(o, `[]`),
				"action":                v.rejectWith(o, `{"status":"X"}`),
				"malformed tags":        v.accept(o).with("If-Match", "a"),
				"upload, no order":      v.upload(s.newDocument().placed(t), "a.pdf", "x"),
				"upload, payload":       post(v.invoices(o), `{"filename":"a.pdf"}`),
				"upload, huge":          post(v.invoices(o), strings.Repeat("x", 12<<20)),
				"delete, missing order": remove(v.invoice(late.placed(t), 1)),
				"delete, not a number":  remove(v.invoices(o) + "/abc"),
			} {
				if a := s.first(t, r.under(free)); a.status != 400 && a.status != 404 {
					t.Errorf("%s: status %d: %s", name, a.status, a.body)
				}
			}
			s.add(t, late)
			r := v.accept(late.placed(t)).under(free)
			first := s.first(t, r)
			first.want(t, 200, v.done())
			s.wantAgain(t, r, first)
			s.do(t, v.rejectWith(o, `[]`).under(free)).wantRefusal(t, v, keyReused, o)
			s.do(t, v.accept(o)).want(t, 200, v.done())
		})
	})
}

// TestRetryOfAnotherRequest uses a key for a second request, which differs in
// its method, path, body or condition: refused, and nothing happens.
// Proves decision 8 (another request with the key).
func TestRetryOfAnotherRequest(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			orders := s.addMany(t, 2)
			o, other := orders[0], orders[1]
			moved, uploaded := newKey(), newKey()
			s.do(t, v.reject(o, `"reason":"damaged"`).under(moved)).ok(t)
			s.do(t, v.upload(o, "a.pdf", "content").under(uploaded)).ok(t)
			shown := v2.shown(t, s, other)
			for name, r := range map[string]request{
				"another order":     v.reject(other, `"reason":"damaged"`).under(moved),
				"another reason":    v.reject(o, `"reason":"wrong-price"`).under(moved),
				"another space":     v.reject(o, ` "reason":"damaged"`).under(moved),
				"another action":    v.accept(o).under(moved),
				"another condition": v.reject(o, `"reason":"damaged"`).with("If-Match", "*").under(moved),
				"an upload":         v.upload(o, "a.pdf", "content").under(moved),
				"another content":   v.upload(o, "a.pdf", "c0ntent").under(uploaded),
				"another name":      v.upload(o, "b.pdf", "content").under(uploaded),
				"a file elsewhere":  v.upload(other, "a.pdf", "content").under(uploaded),
				"a malformed body":  v.rejectWith(o, `{`).under(moved),
				"a missing order":   v.accept(placed{1 << 40, "NO-SUCH"}).under(moved),
			} {
				t.Run(name, func(t *testing.T) { s.first(t, r).wantRefusal(t, v, keyReused, o) })
			}
			for _, another := range versions {
				if another.name != v.name {
					s.do(t, another.reject(o, `"reason":"damaged"`).under(moved)).wantRefusal(t, another, keyReused, o)
				}
			}
			wantJSON(t, "the other order", v2.shown(t, s, other), shown)
			testenv.Equal(t, "files", 1, len(s.entries(t, o)))
		})
	})
}

// TestRetryOfMerchants sees that a key is its merchant's own, and that those who
// may not write neither use one up nor are shown what is recorded under it.
// Proves decision 8 (whose key).
func TestRetryOfMerchants(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		stranger := s.another(t)
		reader := s.newToken(t, "orders:read")
		inEachVersion(t, func(t *testing.T, v version) {
			o, theirs, key := s.addOne(t), stranger.addOne(t), newKey()
			r := v.accept(o).under(key)
			s.first(t, r.as(noAuth)).wantRefusal(t, v, unauthorized, o)
			s.first(t, r.by(reader)).wantRefusal(t, v, forbidden, o)
			stranger.first(t, r).wantRefusal(t, v, orderNotFound, o)
			first := s.first(t, r)
			first.want(t, 200, v.done())
			stranger.first(t, v.accept(theirs).under(newKey())).want(t, 200, v.done())
			s.first(t, r.by(reader)).wantRefusal(t, v, forbidden, o)
			s.wantAgain(t, r, first)
		})
	})
}

// TestRetryBadInput has keys that are none: more of them are in idempotency.TestParseKey.
// Nothing happens, in the version's form.
// Proves decision 8 (form of a key).
func TestRetryBadInput(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
		eachWrite(t, s, func(t *testing.T, v version, o placed, r request, _ string) {
			for name, bad := range map[string]request{
				"too long":   r.under(strings.Repeat("k", 256)),
				"two":        r.under("a").under("b"),
				"with a tag": r.under("").with("If-Match", "*"),
			} {
				t.Run(name, func(t *testing.T) { wantUnmoved(t, s, v, o, bad, invalidQuery) })
			}
		})
	})
}

// TestRetryKeys has the longest key, and one with every letter that it may have.
// Reading takes no notice of a key.
// Proves decision 8 (form of a key).
func TestRetryKeys(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		var printable strings.Builder
		for c := '!'; c <= '~'; c++ {
			printable.WriteRune(c)
		}
		for _, key := range []string{"k", "K", printable.String(), "in two words", strings.Repeat("k", 255)} {
			r := v2.accept(s.addOne(t)).under(key)
			first := s.first(t, r)
			first.want(t, 200, v2.done())
			s.wantAgain(t, r, first)
			testenv.Equal(t, "status of a list", 200, s.first(t, get("/v2/orders").under(key)).status)
		}
	})
}

// TestRetryOfCutBody sends half of a body and no more: what was asked for is not
// known then, and the whole request is taken as if it were the first.
// Proves decision 8 (errors, order of checks).
func TestRetryOfCutBody(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
		inEachVersion(t, func(t *testing.T, v version) {
			o := s.addOne(t)
			for _, r := range []request{v.upload(o, "a.pdf", strings.Repeat("x", 100_000)), v.reject(o, `"reason":"damaged"`)} {
				key, conn := newKey(), s.dial(t)
				text := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nIdempotency-Key: %s\r\nContent-Length: %d\r\n\r\n%s",
					r.method, r.path, s.token, key, len(r.body), r.body[:len(r.body)/2])
				testenv.Of(io.WriteString(conn, text)).Must(t)
				testenv.NoError(t, conn.CloseWrite())
				if a := readAnswer(t, bufio.NewReader(conn), r.path); a.status != 400 {
					t.Errorf("half of it: status %d: %s", a.status, a.body)
				}
				first := s.first(t, r.under(key))
				first.ok(t)
				s.wantAgain(t, r.under(key), first)
			}
		})
	})
}
