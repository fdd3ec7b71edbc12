package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// TestLegacyClient plays a legacy client of v1 through, as those that others
// wrote behave (what the decisions mark with "client"): Basic with an e-mail, a
// slash after orders, times for dates, letters that are no status, parameters
// and members that nobody reads.
// Proves decision 1 (Basic), decision 3 (a date with a time; state), decision 5 (unknown
// keys).
func TestLegacyClient(t *testing.T) {
	on(t, bothDatabases, func(t *testing.T, s *service) {
		orders := s.addMany(t, 3, document{"createdAt": "2026-05-01T10:00:00Z"})
		client := func(r request) request {
			return r.as(basic("merchant@example.com", s.token)).with("User-Agent", "legacy/1.0").with("Content-Type", "application/json")
		}
		for _, letter := range []string{"O", "E", "K", "P", "F"} {
			path := "/api/orders/?status=" + letter + "&period=C&time_from=2026-05-01&time_to=2026-05-31&items_per_page=250&page=1"
			asked := client(get(path))
			asked.body = "[]" // some send one with every request
			body := s.do(t, asked).ok(t)
			want := map[string]int64{"O": 3}[letter]
			if got := numberAt(t, body, "params.total_items"); got != want {
				t.Errorf("status %s: %d orders, want %d", letter, got, want)
			}
			if got := numberAt(t, body, "params.items_per_page"); got != 100 {
				t.Errorf("the page size is %d", got)
			}
		}
		for _, from := range []string{"2026-05-01T15:00:00", "2026-05-01%2015:00:00", "2026-05-01+15:00:00"} {
			body := s.do(t, client(get("/api/orders?date_from="+from))).ok(t)
			if got := numberAt(t, body, "params.total_items"); got != 3 {
				t.Errorf("date_from=%s: %d orders, want all 3 of that day", from, got)
			}
		}
		r := client(put(v1.order(orders[0])+"/", `{"status":"G","notify_user":"1","notify_department":"0","details":{"note":"x"}}`))
		s.do(t, r).want(t, 200, `{"message":"success"}`)
		r = client(put(v1.order(orders[1]), `{"reason":"out-of-stock","status":"D","notify_user":false}`))
		s.do(t, r).want(t, 200, `{"message":"success"}`)
		e := s.stored(t, client(v1.uploadBase64(orders[0], `C:\invoices\ΤΙΜ 1.PDF`, wrapped(strings.Repeat("aGkh", 100)))))
		if got := s.do(t, client(get(s.path(t, e.url)))).ok(t); got != strings.Repeat("hi!", 100) {
			t.Errorf("the file has %q", got)
		}
		s.do(t, client(remove(v1.invoice(orders[0], e.id)))).want(t, 200, `{"message":"success","invoices":[]}`)
		if a := s.do(t, client(get(v1.order(orders[0])))); a.status != http.StatusOK || textAt(t, a.body, "status") != "G" {
			t.Errorf("the accepted order: status %d: %s", a.status, a.short())
		}
	})
}

// TestBothVersions plays one order through, each step in the other version than
// the one before (spec 9).
// Proves decision 5 (v1 successor, choice of the version), spec 9.
func TestBothVersions(t *testing.T) {
	onBothDatabases(t, func(t *testing.T, s *service) {
		o := s.addOne(t)
		a := s.uploaded(t, v1, o, "a.pdf", "a")
		b := s.uploaded(t, v2, o, "b.pdf", "b")
		s.do(t, remove(v2.invoice(o, a.id))).ok(t)
		s.do(t, remove(v1.invoice(o, b.id))).ok(t)
		s.do(t, v2.accept(o)).want(t, 200, v2.done())
		s.do(t, v1.reject(o)).wantRefusal(t, v1, cannotReject, o)
		s.do(t, v1.accept(o)).wantRefusal(t, v1, cannotAccept, o)
		if one, two := textAt(t, v1.shown(t, s, o), "status"), textAt(t, v2.shown(t, s, o), "state"); one != "G" || two != "in-processing" {
			t.Errorf("v1 shows %s, v2 %s", one, two)
		}
	})
}
