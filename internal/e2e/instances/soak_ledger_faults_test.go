package instances

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestSoakLedgerSeesFaults gives the ledger of the soak responses with a fault each.
// It must name every one, and accept the same responses without the fault: a ledger
// that finds nothing would prove nothing.
func TestSoakLedgerSeesFaults(t *testing.T) {
	t.Parallel()
	for name, tc := range ledgerCases() {
		times := newWriteTimes()
		times.call("accept", 20*time.Second)
		times.finish("accept", 30*time.Second)
		l := newLedger(times)
		l.past = map[string]*timeline{"past": {events: make([]committed, 1)}, "same": newTimeline()}
		for i, e := range []committed{
			{kind: order.OrderCreated, order: 1, to: order.Registered},
			{kind: order.OrderStateChanged, actor: order.ActorMerchant, order: 1, from: order.Registered, to: order.InProcessing, request: "accept"},
		} {
			testenv.NoError(t, l.add(e))
			if i == 0 {
				l.start()
			}
		}
		var found []string
		for _, o := range tc.observed {
			if problem := l.check(o); problem != "" {
				found = append(found, problem)
			}
		}
		if got := strings.Join(found, "; "); (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// ledgerCase is responses that a ledger checks, one after the other.
type ledgerCase struct {
	observed []observed
	want     string // part of the message; empty: nothing is wrong
}

// The responses in a ledgerCase begin and end so many seconds after the start.

func at(called, done int, o observed) observed {
	o.called, o.done = time.Duration(called)*time.Second, time.Duration(done)*time.Second
	return o
}

func singleSeen(called, done int, state order.State) observed {
	return at(called, done, observed{what: "single", explains: shows(1, 2, state.String(), nil)})
}

func listSeen(called, done, total int, filter string, shown ...seenOrder) observed {
	return at(called, done, observed{what: "list", explains: lists(2, filter, 1, 10, total, shown)})
}

func feedSeen(called, done int, newest int64, history string, events ...soakEvent) observed {
	page := soakPage{Events: events, Next: int64(len(events)), Newest: newest, History: history}
	return at(called, done, observed{what: "feed", history: history, explains: feedOf(page, 0, 10)})
}

// ledgerCases returns responses about order 1, which is registered first and accepted
// between the seconds 20 and 30.
func ledgerCases() map[string]ledgerCase {
	const n = sample(1)
	acceptedAs := func(state order.State) observed {
		return at(20, 30, observed{what: "accept", wrote: "accept", right: func(e committed) bool { return e.to == state }})
	}
	accepted := acceptedAs(order.InProcessing)
	created := soakEvent{Seq: 1, Type: "order.created", OrderReference: n.Reference()}
	created.Data.State = "registered"
	moved := soakEvent{Seq: 2, Type: "order.state_changed", OrderReference: n.Reference(), RequestID: "accept"}
	moved.Data.From, moved.Data.To = "registered", "in-processing"
	registered, processing := seenOrder{n, "registered"}, seenOrder{n, "in-processing"}
	const wrong = "not what any moment shows"
	return map[string]ledgerCase{
		"right": {[]observed{
			singleSeen(10, 19, order.Registered), listSeen(11, 19, 1, "", registered), accepted, singleSeen(31, 40, order.InProcessing),
			listSeen(41, 50, 1, "", processing), listSeen(41, 50, 0, "registered"), feedSeen(41, 50, 2, "h", created, moved),
		}, ""},
		"history goes on":                    {[]observed{feedSeen(10, 11, 1, "same", created)}, ""},
		"either while it is written":         {[]observed{singleSeen(21, 25, order.InProcessing), singleSeen(26, 29, order.InProcessing), accepted}, ""},
		"stale order":                        {[]observed{accepted, singleSeen(31, 40, order.Registered)}, wrong},
		"back to what was":                   {[]observed{singleSeen(21, 24, order.InProcessing), singleSeen(25, 29, order.Registered), accepted}, wrong},
		"stale list":                         {[]observed{accepted, listSeen(31, 40, 1, "registered", registered)}, wrong},
		"total of another moment":            {[]observed{accepted, listSeen(31, 40, 1, "registered")}, wrong},
		"shown before it was asked for":      {[]observed{singleSeen(10, 19, order.InProcessing)}, wrong},
		"other event of the change":          {[]observed{acceptedAs(order.RejectedByMerchant)}, "event 2 is of another change"},
		"acknowledged and lost":              {[]observed{at(20, 30, observed{what: "lost", wrote: "lost"})}, "there is no event of it"},
		"refused and done":                   {[]observed{at(20, 30, observed{what: "refused", failed: "accept"})}, "refused, but event 2"},
		"gap in the feed":                    {[]observed{feedSeen(31, 40, 2, "h", moved)}, wrong},
		"feed ends early":                    {[]observed{accepted, feedSeen(31, 40, 1, "h", created)}, wrong},
		"history changes":                    {[]observed{feedSeen(10, 11, 1, "h", created), feedSeen(12, 13, 1, "i", created)}, "the history is i"},
		"history of before":                  {[]observed{feedSeen(10, 11, 1, "past", created)}, "as it was with other events"},
		"waiting reader that nobody wakes":   {[]observed{at(19, 55, observed{what: "feed", history: "h", waited: 1})}, "no events at"},
		"written after it was known already": {[]observed{singleSeen(10, 15, order.InProcessing), accepted}, wrong},
	}
}

// TestSoakDeliveriesSeeFaults has the events of a merchant arrive at readers that repeat
// events and at one that does not, as the marketplace's webhook and its feed.
func TestSoakDeliveriesSeeFaults(t *testing.T) {
	t.Parallel()
	l := newTimeline()
	for n := range sample(4) {
		testenv.NoError(t, l.append(committed{kind: order.OrderCreated, order: 1 + n, to: order.Registered}))
	}
	const again, between, lost = "comes after", "event 4 comes after 2", "1 of 4 events are missing: "
	const otherID = 100
	for name, tc := range map[string]struct {
		events          []int64 // numbers; negative: with the content of another event; plus otherID: with another id, twice: without one
		webhook, market string  // part of the message; empty: nothing is wrong
	}{
		"right":                {[]int64{1, 2, 3, 4}, "", ""},
		"repeated":             {[]int64{1, 2, 2, 3, 1, 2, 3, 4}, "", again},
		"last one lost":        {[]int64{1, 2, 3}, lost + "4", lost + "4"},
		"lost between":         {[]int64{1, 2, 4}, between, between},
		"misordered":           {[]int64{1, 2, 4, 3}, between, between},
		"misordered, repeated": {[]int64{1, 2, 3, 1, 3, 2, 4}, "event 3 comes after 1", again},
		"of another history":   {[]int64{1, -2, 3, 4}, lost + "2", lost + "2"},
		"without an id":        {[]int64{1, 2 + 2*otherID, 3, 4}, "", ""},
		"of another id":        {[]int64{1, 2, 3, 4 + otherID}, lost + "4", lost + "4"},
	} {
		for once, want := range map[bool]string{false: tc.webhook, true: tc.market} {
			d := newSoakDeliveries(once)
			var found []string
			for _, seq := range tc.events {
				number := max(seq, -seq) % otherID
				e := soakEvent{ID: fmt.Sprintf("evt_1_%d_%d", number, seq/otherID), Seq: number, Type: "order.created", OrderReference: sample(number).Reference()}
				if seq > 0 {
					e.Data.State = "registered"
				}
				if seq/otherID == 2 {
					e.ID = ""
				}
				found = append(found, d.take(e))
			}
			found = append(found, d.missing(l))
			if got := strings.Join(found, ""); (got == "") != (want == "") || !strings.Contains(got, want) {
				t.Errorf("%s, once %t: %q, want %q", name, once, got, want)
			}
		}
	}
}

// TestSoakHooksTakeBatches sends an event, a batch, which the marketplace's webhook refuses
// once, and another event, to webhooks of a merchant and of the marketplace.
func TestSoakHooksTakeBatches(t *testing.T) {
	t.Parallel()
	l := newTimeline()
	for n := range sample(4) {
		testenv.NoError(t, l.append(committed{kind: order.OrderCreated, order: 1 + n, to: order.Registered}))
	}
	for owner, want := range map[string]string{"355": "[200 200 200]", webhook.All: "[200 500 200 200]"} {
		d := newSoakDeliveries(true)
		h := &soakHooks{soak: &soak{t: t}, dice: rand.New(rand.NewPCG(1, 1)), received: map[soakHook]*soakDeliveries{{owner, 355}: d}}
		h.again = map[[2]int64]int{{355, 3}: 1}
		event := func(seq sample) string {
			id := "" // those of a merchant have none
			if owner == webhook.All {
				id = fmt.Sprintf(`"id":"evt_355_%d_0","merchantId":355,`, seq)
			}
			return fmt.Sprintf(`{%s"seq":%d,"type":"order.created","orderReference":%q,"data":{"state":"registered"}}`, id, seq, seq.Reference())
		}
		var statuses []int
		post := func(body string) {
			r, w := httptest.NewRequest(http.MethodPost, "/"+owner, strings.NewReader(body)), httptest.NewRecorder()
			r.Header.Set("webhook-id", "msg_1_1_0")
			h.ServeHTTP(w, r)
			statuses = append(statuses, w.Code)
		}
		post(event(1))
		for batch := `{"events":[` + event(2) + "," + event(3) + "]}"; len(statuses) < 2 || statuses[len(statuses)-1] != http.StatusOK; {
			post(batch)
		}
		testenv.Equal(t, owner, "1 of 4 events are missing: 4; ", d.missing(l)[:30])
		post(event(4))
		testenv.Equal(t, owner, want, fmt.Sprint(statuses))
		testenv.Equal(t, owner, "", d.missing(l))
	}
}

// TestSoakTimelineRefuses appends events that cannot follow those before.
func TestSoakTimelineRefuses(t *testing.T) {
	t.Parallel()
	created := committed{kind: order.OrderCreated, order: 1, to: order.Registered, request: "created"}
	for name, e := range map[string]committed{
		"created again":       {kind: order.OrderCreated, order: 1, to: order.Registered},
		"from another state":  {kind: order.OrderStateChanged, actor: order.ActorOperator, order: 1, from: order.InProcessing, to: order.Canceled},
		"not a transition":    {kind: order.OrderStateChanged, actor: order.ActorOperator, order: 1, from: order.Registered, to: order.Completed},
		"no such file":        {kind: order.InvoiceDeleted, order: 1, invoice: 5},
		"one request, twice":  {kind: order.InvoiceUploaded, order: 1, invoice: 5, request: "created"},
		"of a missing order":  {kind: order.OrderStateChanged, actor: order.ActorMerchant, order: 2, from: order.Registered, to: order.InProcessing},
		"no type of an event": {order: 1},
	} {
		l := newTimeline()
		testenv.NoError(t, l.append(created))
		if l.append(e) == nil {
			t.Errorf("%s: appended", name)
		}
	}
}
