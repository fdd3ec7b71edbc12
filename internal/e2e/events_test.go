package e2e

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/testenv"
)

// events is the request for events.
func events(query string) request { return get("/v2/events?" + query) }

// history is the request for the events of an order.
func history(o placed, query string) request { return get(v2.order(o) + "/events?" + query) }

// eventOf is how an event of an order has to be shown that a request has made.
func eventOf(o placed, seq int, kind, actor, data string) string {
	return fmt.Sprintf(`{"seq":%d,"type":%q,"orderReference":%q,"orderId":%d,"at":"...","actor":%q,"tokenId":"#","requestId":"...","data":%s}`,
		seq, kind, o.reference, o.number, actor, data)
}

// eventsOf is a response with events of an order.
func eventsOf(next int, shown ...string) string {
	return fmt.Sprintf(`{"events":[%s],"next":%d}`, strings.Join(shown, ","), next)
}

// feedOf is a response with events of the feed.
func feedOf(next, newest int, shown ...string) string {
	return fmt.Sprintf(`{"events":[%s],"next":%d,"newest":%d,"history":"..."}`, strings.Join(shown, ","), next, newest)
}

const beyondNewest = "after is above newest: it is of another history, or of another merchant; begin a new copy"

// TestEvents does everything there is an event of, in both versions, and
// compares the whole feed, its parts and the history of each order. Another
// merchant has events of its own.
// Proves decision 5 (events: content, limits), decision 9 (include=order), spec 6.
func TestEvents(t *testing.T) {
	at := regexp.MustCompile(`"at":"([^"]*)"`)
	onBothDatabases(t, func(t *testing.T, s *service) {
		s.do(t, events("")).want(t, 200, feedOf(0, 0))
		began := time.Now().Truncate(time.Second)
		first, second := s.addOne(t), s.addOne(t, document{"state": "ready-for-shipment"})
		other := s.another(t)
		theirs := other.addOne(t)
		s.do(t, v1.reject(first, `"reason":"wrong-price"`)).ok(t)
		s.do(t, post("/operator/merchants/"+s.id()+"/orders/"+second.reference+"/state", `{"state":"picked-by-courier"}`).by(s.operator)).ok(t)
		file := s.uploaded(t, v2, second, "Τιμολόγιο.pdf", "a")
		s.do(t, remove(v1.invoice(second, file.id))).ok(t)
		s.do(t, v2.accept(first)).wantRefusal(t, v2, cannotAccept, first)
		invoice := fmt.Sprintf(`{"invoiceId":%d,"filename":"Τιμολόγιο.pdf"}`, file.id)
		all := []string{
			eventOf(first, 1, "order.created", "operator", `{"state":"registered"}`),
			eventOf(second, 2, "order.created", "operator", `{"state":"ready-for-shipment"}`),
			eventOf(first, 3, "order.state_changed", "merchant", `{"from":"registered","to":"rejected-by-merchant","reason":"wrong-price"}`),
			eventOf(second, 4, "order.state_changed", "operator", `{"from":"ready-for-shipment","to":"picked-by-courier","reason":null}`),
			eventOf(second, 5, "invoice.uploaded", "merchant", invoice),
			eventOf(second, 6, "invoice.deleted", "merchant", invoice),
		}
		feed := s.do(t, events(""))
		feed.want(t, 200, feedOf(6, 6, all...))
		for _, shown := range at.FindAllStringSubmatch(feed.body, -1) {
			if when, err := time.Parse("2006-01-02T15:04:05Z", shown[1]); err != nil || when.Before(began) || when.After(time.Now()) {
				t.Errorf("an event is from %s, and all from %s on", shown[1], began.UTC())
			}
		}
		s.do(t, events("after=2&limit=3")).want(t, 200, feedOf(5, 6, all[2:5]...))
		s.do(t, events("after=5&limit=1000&wait=30")).want(t, 200, feedOf(6, 6, all[5]))
		s.do(t, get("/v2/events/?after=6")).want(t, 200, feedOf(6, 6))
		withOrder := make([]string, len(all))
		for i, event := range all {
			o := []placed{first, second, first, second, second, second}[i]
			shown := strings.TrimPrefix(s.do(t, get(v2.order(o))).ok(t), "{")
			withOrder[i] = strings.TrimSuffix(event, "}") + "," + shown
		}
		s.do(t, events("include=order")).want(t, 200, feedOf(6, 6, withOrder...))
		s.do(t, events("after=4&include=order&wait=30")).want(t, 200, feedOf(6, 6, withOrder[4:]...))
		beyond := strings.Replace(feedOf(4000000000000, 6), `"history":"..."}`, `"history":"...","problem":"`+beyondNewest+`"}`, 1)
		s.do(t, events("after=4000000000000&wait=30")).want(t, 200, beyond)
		s.do(t, events("types=order.state_changed,invoice.deleted&include=order&limit=2&wait=30")).want(t, 200, feedOf(4, 6, withOrder[2], withOrder[3]))
		s.do(t, events("types=order.state_changed,invoice.deleted&after=4")).want(t, 200, feedOf(6, 6, all[5]))
		s.do(t, events("types=order.state_changed&after=4&wait=1")).want(t, 200, feedOf(6, 6))
		s.do(t, events("types=order.changed")).want(t, 400, invalidQuery.v2)
		s.do(t, events("after=latest&limit=1000&wait=30")).want(t, 200, feedOf(6, 6))
		s.do(t, history(first, "after=latest")).want(t, 400, invalidQuery.v2)
		s.do(t, history(first, "")).want(t, 200, eventsOf(3, all[0], all[2]))
		s.do(t, history(second, "limit=2")).want(t, 200, eventsOf(4, all[1], all[3]))
		s.do(t, history(second, "after=4&limit=2")).want(t, 200, eventsOf(6, all[4:]...))
		s.do(t, history(second, "after=6")).want(t, 200, eventsOf(6))
		other.do(t, events("")).want(t, 200, feedOf(1, 1, eventOf(theirs, 1, "order.created", "operator", `{"state":"registered"}`)))
		for _, o := range []placed{theirs, {reference: "none"}} {
			s.do(t, history(o, "")).wantRefusal(t, v2, orderNotFound, o)
		}
		head := s.do(t, request{method: "HEAD", path: "/v2/events"})
		if head.status != 200 || head.body != "" || head.header.Get("Content-Length") != feed.header.Get("Content-Length") {
			t.Errorf("HEAD: status %d, headers %v", head.status, head.header)
		}
	})
}

// TestEventsWait waits for what happens in the same server, and for what a
// command beside it does; gets a response without events when the time is over,
// and at once when the server stops.
// Proves decision 5 (events: long polling).
func TestEventsWait(t *testing.T) {
	alone(t, bothDatabases, func(t *testing.T, s *service) {
		o := s.addOne(t)
		ask := func(ctx context.Context, query string) <-chan response {
			got := make(chan response, 1)
			go func() {
				a, err := s.trySend(ctx, events(query))
				if err != nil && ctx.Err() == nil {
					t.Errorf("%s: %v", a, err)
				}
				got <- a
			}()
			return got
		}
		s.do(t, events("after=1&wait=1")).want(t, 200, feedOf(1, 1))

		waiting := ask(t.Context(), "after=1&wait=30")
		s.do(t, v1.accept(o)).ok(t)
		(<-waiting).want(t, 200, feedOf(2, 2, eventOf(o, 2, "order.state_changed", "merchant", `{"from":"registered","to":"in-processing","reason":null}`)))

		waiting = ask(t.Context(), "after=2&wait=30")
		second := s.newDocument()
		s.Import(t, []byte(second.text(t)))
		shown := eventOf(second.placed(t), 3, "order.created", "operator", `{"state":"registered"}`)
		(<-waiting).want(t, 200, feedOf(3, 3, strings.Replace(shown, `"#","requestId":"..."`, `null,"requestId":null`, 1)))

		looks := s.looks(t)
		gone, leave := context.WithCancel(t.Context())
		left, stays := ask(gone, "after=3&wait=30"), ask(t.Context(), "after=3&wait=30")
		// Each looks before it waits.
		testenv.Eventually(t, "both requests have read events", func() bool { return s.looks(t) == looks+2 })
		leave()
		<-left
		s.Stop(t)
		testenv.Lacks(t, "log", s.Log(), "cut off")
		select {
		case a := <-stays:
			a.want(t, 200, feedOf(3, 3))
		case <-time.After(testenv.WaitTimeout):
			t.Error("the one who waited has no response")
		}
	})
}

// TestEventsRevoked revokes the tokens of requests that wait: they end with a 401 at
// once, also if there is an event for them.
// Proves decision 5 (events: revoked token).
func TestEventsRevoked(t *testing.T) {
	alone(t, bothDatabases, func(t *testing.T, s *service) {
		o := s.addOne(t)
		for _, event := range []bool{false, true} {
			looks := s.looks(t)
			token := s.newToken(t, "orders:read")
			waiting := make(chan response, 1)
			go func() {
				a, err := s.trySend(t.Context(), events("after=1&wait=30").by(token))
				if err != nil {
					t.Error(err)
				}
				waiting <- a
			}()
			testenv.Eventually(t, "the request has read events", func() bool { return s.looks(t) == looks+1 })
			start := time.Now()
			if result := s.Run(t, "", "token", "revoke", token); result.Code != 0 {
				t.Fatalf("exit code %d: %s", result.Code, result.Stderr)
			}
			if event {
				s.do(t, v2.accept(o)).ok(t)
			}
			(<-waiting).want(t, 401, unauthorized.v2)
			// The end of the wait would be a 401 too.
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("the 401 came after %s", took)
			}
		}
	})
}

var looksForm = regexp.MustCompile(`(?m)^merchant_orders_database_seconds_count\{.*operation="events".*\} (\d+)$`)

// looks is how often events have been read so far.
func (s *service) looks(t *testing.T) int64 {
	t.Helper()
	found := looksForm.FindStringSubmatch(s.send(t, get("/metrics").as(noAuth)).ok(t))
	if found == nil {
		return 0
	}
	return number(t, found[1])
}
