package e2e

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// The refusals of decision 8.
var (
	preconditionFailed = coded(412, anyText, "precondition_failed", anyText)
	keyReused          = coded(422, anyText, "idempotency_key_reused", anyText)
)

// tag returns the data tag of an order, which If-Match compares.
func (s *service) tag(t *testing.T, o placed) string {
	t.Helper()
	return s.do(t, get(v2.order(o))).dataTag()
}

// changes returns how many changes of an order its data tag counts, 1 for a new order.
// The lower bits of the revision are random.
func changes(t *testing.T, o placed, tag string) int64 {
	t.Helper()
	text, ok := strings.CutPrefix(strings.Trim(tag, `"`), fmt.Sprintf("%d-", o.number))
	revision, err := strconv.ParseInt(text, 10, 64)
	if !ok || err != nil {
		t.Errorf("the order %d has the tag %s", o.number, tag)
	}
	return revision >> 31
}

var viewVersion = regexp.MustCompile(`-[0-9a-f]{8}"$`)

// dataTag returns the data tag of an order. It is the tag itself if that has no view
// version, which tests then report.
func (a response) dataTag() string {
	return viewVersion.ReplaceAllString(a.header.Get("ETag"), `"`)
}

// write is a way to change an order.
type write struct {
	name string
	// prepare makes what the request needs and returns it.
	prepare func(t *testing.T, s *service, v version, o placed) request
}

var writes = []write{
	{"accept", func(_ *testing.T, _ *service, v version, o placed) request { return v.accept(o) }},
	{"reject", func(_ *testing.T, _ *service, v version, o placed) request {
		return v.reject(o, `"reason":"damaged"`)
	}},
	{"upload", func(_ *testing.T, _ *service, v version, o placed) request {
		return v.upload(o, "a.pdf", "content")
	}},
	{"delete", func(t *testing.T, s *service, v version, o placed) request {
		return remove(v.invoice(o, s.uploaded(t, v, o, "old.pdf", "old").id))
	}},
}

// eachWrite runs a scenario with a fresh order for every write of both versions. now
// is the tag of the order.
func eachWrite(t *testing.T, s *service, scenario func(t *testing.T, v version, o placed, r request, now string)) {
	inEachVersion(t, func(t *testing.T, v version) {
		for _, w := range writes {
			t.Run(w.name, func(t *testing.T) {
				o := s.addOne(t)
				r := w.prepare(t, s, v, o)
				scenario(t, v, o, r, s.tag(t, o))
			})
		}
	})
}

// TestIfMatch makes every change with the tag of another revision, which leaves
// the order as it was, and then with its own. The response has the
// tag of the order as it is then.
// Proves decision 5 (v2 files, one form), decision 8 (ETag; If-Match).
func TestIfMatch(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		eachWrite(t, s, func(t *testing.T, v version, o placed, r request, now string) {
			for _, stale := range []string{fmt.Sprintf(`"%d-1"`, o.number), strings.Replace(now, "-", "-1", 1), "W/" + now, `"a", "b"`, `""`} {
				wantUnmoved(t, s, v, o, r.with("If-Match", stale), preconditionFailed)
			}
			a := s.do(t, r.with("If-Match", `"a", `+now))
			a.ok(t)
			for _, a := range []response{a, s.do(t, get(v1.order(o))), s.do(t, get(v2.order(o)))} {
				got := a.dataTag()
				if changes(t, o, got) != changes(t, o, now)+1 || got != s.tag(t, o) || a.header.Get("ETag") == got {
					t.Errorf("%s: ETag is %s, before %s; want a later one with a view version", a, a.header.Get("ETag"), now)
				}
			}
			wantUnmoved(t, s, v, o, r.with("If-Match", now), preconditionFailed)
		})
	})
}

// TestIfMatchBadInput has malformed tags, and orders that are not there: those
// are missing whatever the tag.
// Proves decision 8 (matching, malformed tags).
func TestIfMatchBadInput(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
		eachWrite(t, s, func(t *testing.T, v version, o placed, r request, now string) {
			for _, malformed := range []string{"", "17", `"` + fmt.Sprint(o.number), `*, "a"`, `"a" "b"`, "w/" + now, `"a b"`} {
				wantUnmoved(t, s, v, o, r.with("If-Match", malformed), invalidQuery)
			}
			missing := o
			missing.number, missing.reference = 1<<40, "NO-SUCH"
			for _, any := range []string{"*", `"a"`} {
				testenv.Equal(t, any+" of a missing order: status", 404, s.do(t, v.accept(missing).with("If-Match", any)).status)
				s.do(t, v.upload(missing, "a.pdf", "x").with("If-Match", any)).wantRefusal(t, v, uploadOrderNotFound, missing)
				s.do(t, remove(v.invoice(missing, 1)).with("If-Match", any)).wantRefusal(t, v, invoiceNotFound, missing)
			}
		})
	})
}

// TestTagsOfSettings restarts a service with other settings: the tags of what it shows
// are other tags, so that no client goes on using a body with old addresses, and a
// change with a tag from before is made (decision 5).
// Proves decision 8 (ETag).
func TestTagsOfSettings(t *testing.T) {
	t.Parallel()
	settings := [][]string{
		{"--base-url", "https://a.example"},
		{"--base-url", "https://b.example"},
		{"--base-url", "https://a.example", "--storage-url", "https://files.example"},
		{"--base-url", "https://a.example", "--error-codes", "table"},
		{"--base-url", "https://a.example"},
	}
	s := newService(t, sqlite[0].start(t, settings[0]...))
	orders := s.addMany(t, 2)
	s.uploaded(t, v1, orders[0], "a.pdf", "a")
	paths := []string{v1.list(), v2.list(), v1.order(orders[0]), v2.order(orders[0])}
	first := make(map[string]string)
	for i, flags := range settings {
		if i > 0 {
			s.Stop(t)
			s.Server = s.Serve(t, flags...)
		}
		for _, path := range paths {
			a := s.send(t, get(path).with("If-None-Match", first[path]))
			tag, same := a.header.Get("ETag"), i == len(settings)-1
			if first[path] == "" {
				first[path] = tag
			} else if (tag == first[path]) != same || (a.status == 304) != same {
				t.Errorf("%s: %s has status %d and tag %s, with the first settings %s", flags, path, a.status, tag, first[path])
			}
		}
	}
	s.Stop(t)
	s.Server = s.Serve(t, settings[1]...)
	s.do(t, v2.accept(orders[0]).with("If-Match", first[v1.order(orders[0])])).ok(t)
}
