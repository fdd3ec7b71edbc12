package client_test

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"merchantorders/client"
	"merchantorders/internal/testenv"
)

// feed serves a feed of newest events, at most limit in a page.
func feed(newest int64, limit int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		after, err := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
		if err != nil {
			response(w, 400, coded("invalid_params", "after must be a whole number"))
			return
		}
		var events []string
		next := after
		for ; next < min(newest, after+limit); next++ {
			events = append(events, fmt.Sprintf(`{"seq":%d,"type":"order.created","orderReference":"SF-%d","orderId":1,"at":"2026-11-20T09:15:00Z","actor":"operator","data":{}}`, next+1, next+1))
		}
		response(w, 200, fmt.Sprintf(`{"events":[%s],"next":%d}`, strings.Join(events, ","), next))
	}
}

func TestEventsToTheEnd(t *testing.T) {
	t.Parallel()
	f := newFake(t, feed(25, 10))
	for name, test := range map[string]struct {
		events func(context.Context) func(func(client.Event, error) bool)
		path   string
	}{
		"all": {func(ctx context.Context) func(func(client.Event, error) bool) { return f.client.Events(ctx, 3) }, "/v2/events?after=3&limit=1000"},
		"of one order": {func(ctx context.Context) func(func(client.Event, error) bool) {
			return f.client.OrderEvents(ctx, "SF-1")
		}, "/v2/orders/SF-1/events?after=0&limit=1000"},
	} {
		before := len(f.requests())
		var seqs []int64
		for event, err := range test.events(t.Context()) {
			testenv.NoError(t, err)
			seqs = append(seqs, event.Seq)
		}
		if seqs[len(seqs)-1] != 25 || int64(len(seqs)) != 26-seqs[0] {
			t.Errorf("%s: %v", name, seqs)
		}
		testenv.Equal(t, name+": requested for", test.path, f.requests()[before].RequestURI)
	}
}

// TestFollowEvents checks that FollowEvents waits at the end of the feed, also if
// the service does not, and ends with its context.
func TestFollowEvents(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var waits []time.Duration
	now := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	f := newFake(t, feed(3, 10), client.WithNow(func() time.Time { return now }), client.WithSleep(func(ctx context.Context, d time.Duration) error {
		if waits = append(waits, d); len(waits) == 3 {
			cancel()
		}
		return ctx.Err()
	}))
	var seqs []int64
	var last error
	for event, err := range f.client.FollowEvents(ctx, 0) {
		if last = err; err == nil {
			seqs = append(seqs, event.Seq)
		}
	}
	testenv.Equal(t, "events", []int64{1, 2, 3}, seqs)
	testenv.Equal[error](t, "ended with", context.Canceled, wantKind(t, last, nil))
	testenv.Equal(t, "waits", []time.Duration{time.Second, time.Second, time.Second}, waits)
	testenv.Equal(t, "query", "after=0&limit=1000&wait=30", f.requests()[0].URL.RawQuery)
}

// TestFollowWithoutPause checks that there is no pause if the service has waited.
func TestFollowWithoutPause(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	now, requested := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC), 0
	f := newFake(t, func(w http.ResponseWriter, r *http.Request) {
		if requested++; requested == 3 {
			cancel()
		}
		feed(0, 10)(w, r)
	}, client.WithNow(func() time.Time { now = now.Add(31 * time.Second); return now }))
	for event, err := range f.client.FollowEvents(ctx, 0) {
		if err == nil {
			t.Errorf("event %d", event.Seq)
		}
	}
	if waits := f.waited(); len(waits) > 0 {
		t.Errorf("waits %v", waits)
	}
}

// TestHistoryChanged checks that events of another history are never returned, and
// that a number beyond the newest event is noticed.
func TestHistoryChanged(t *testing.T) {
	t.Parallel()
	page := func(next, newest int64, history string) string {
		event := fmt.Sprintf(`{"seq":%d,"type":"order.created","orderReference":"SF-1","at":"2026-11-20T09:15:00Z"}`, next)
		if next > newest {
			event = ""
		}
		return fmt.Sprintf(`{"events":[%s],"next":%d,"newest":%d,"history":%q}`, event, next, newest, history)
	}
	inFirst := []client.FeedOption{client.InHistory("first")}
	for name, test := range map[string]struct {
		options []client.FeedOption
		pages   []string
		want    []string // events
		message string
	}{
		"while it is followed": {nil, []string{page(18, 18, "first"), page(19, 19, "second")}, []string{"18 first"},
			"read events after 18: event numbers have started again: the history is second, not first"},
		"since it was stored": {inFirst, []string{page(18, 18, "second")}, nil,
			"read events after 17: event numbers have started again: the history is second, not first"},
		"fewer events": {inFirst, []string{page(17, 16, "first")}, nil,
			"read events after 17: event numbers have started again: the newest event is 16"},
	} {
		for follow, read := range map[bool]func(c *client.Client) iter.Seq2[client.Event, error]{
			false: func(c *client.Client) iter.Seq2[client.Event, error] {
				return c.Events(t.Context(), 17, test.options...)
			},
			true: func(c *client.Client) iter.Seq2[client.Event, error] {
				return c.FollowEvents(t.Context(), 17, test.options...)
			},
		} {
			served := 0
			f := newFake(t, func(w http.ResponseWriter, _ *http.Request) {
				response(w, 200, test.pages[served])
				served++
			})
			var got []string
			var last error
			for event, err := range read(f.client) {
				if last = err; err == nil {
					got = append(got, fmt.Sprint(event.Seq, " ", event.History))
				}
			}
			testenv.Equal(t, fmt.Sprintf("%s, following %v: events", name, follow), test.want, got)
			testenv.Equal(t, name, test.message, wantKind(t, last, client.ErrHistoryChanged).Error())
		}
	}
}

func TestFeedEnd(t *testing.T) {
	t.Parallel()
	f := newFake(t, always(200, `{"events":[],"next":17,"newest":17,"history":"first"}`))
	testenv.Of(f.client.FeedEnd(t.Context())).Want(t, "end of the feed", client.EventPage{Events: []client.Event{}, Next: 17, Newest: 17, History: "first"})
	testenv.Equal(t, "requested for", "/v2/events?after=latest", f.requests()[0].RequestURI)
}

func TestEventsOutOfOrder(t *testing.T) {
	t.Parallel()
	event := func(seq int) string {
		return fmt.Sprintf(`{"seq":%d,"type":"order.created","orderReference":"SF-1","at":"2026-11-20T09:15:00Z"}`, seq)
	}
	for name, body := range map[string]string{
		"again":        fmt.Sprintf(`{"events":[%s],"next":17}`, event(17)),
		"twice":        fmt.Sprintf(`{"events":[%s,%s],"next":18}`, event(18), event(18)),
		"backwards":    fmt.Sprintf(`{"events":[%s,%s],"next":19}`, event(19), event(18)),
		"next too low": fmt.Sprintf(`{"events":[%s],"next":17}`, event(18)),
		"next is back": `{"events":[],"next":3}`,
		"no events":    `{"next":17}`,
		"no order":     `{"events":[{"seq":18,"type":"order.updated","orderReference":"","at":"2026-11-20T09:15:00Z"}],"next":18}`,
		"half order":   `{"events":[{"seq":18,"type":"order.updated","orderReference":"SF-1","at":"2026-11-20T09:15:00Z","order":{"id":"SF-1"}}],"next":18}`,
		"no type":      `{"events":[{"seq":18,"orderReference":"SF-1","at":"2026-11-20T09:15:00Z"}],"next":18}`,
	} {
		f := newFake(t, always(200, body))
		_, err := f.client.EventsPage(t.Context(), 17, 0, 0)
		if e := wantKind(t, err, client.ErrResponse); e == nil {
			t.Error(name)
		}
	}
}

// TestEventsWithoutOrder reads events of a type that has no order, and of an unknown one.
// Proves decision 5 (webhooks: pauses, end).
func TestEventsWithoutOrder(t *testing.T) {
	t.Parallel()
	f := newFake(t, always(200, `{"events":[
		{"seq":18,"type":"webhook.failed","orderReference":"","orderId":0,"at":"2026-11-20T09:15:00Z","data":{"webhookId":7,"reason":"gone"}},
		{"seq":19,"type":"token.added","orderReference":"","orderId":0,"at":"2026-11-20T09:15:00Z","data":{}}],"next":19}`))
	page, err := f.client.EventsPage(t.Context(), 17, 0, 0)
	if err != nil || len(page.Events) != 2 {
		t.Fatalf("%+v, %v", page, err)
	}
	if failure, ok := page.Events[0].WebhookFailure(); !ok || failure.WebhookID != 7 {
		t.Errorf("%+v, %v", failure, ok)
	}
}

func TestEventData(t *testing.T) {
	t.Parallel()
	changed := client.Event{Type: client.OrderStateChanged, Data: []byte(`{"from":"registered","to":"rejected-by-merchant","reason":"damaged"}`)}
	got, ok := changed.StateChange()
	if want := (client.StateChange{From: client.Registered, To: client.RejectedByMerchant, Reason: client.Damaged}); !ok || got != want {
		t.Errorf("%+v, %v", got, ok)
	}
	if _, ok := changed.InvoiceChange(); ok {
		t.Error("a state change has invoice data")
	}
	file := client.Event{Type: client.InvoiceDeleted, Data: []byte(`{"invoiceId":7,"filename":"a.pdf"}`)}
	if got, ok := file.InvoiceChange(); !ok || got != (client.InvoiceChange{InvoiceID: 7, Filename: "a.pdf"}) {
		t.Errorf("%+v, %v", got, ok)
	}
	failed := client.Event{Type: client.WebhookFailed, Data: []byte(`{"webhookId":7,"reason":"gone"}`)}
	if got, ok := failed.WebhookFailure(); !ok || got != (client.WebhookFailure{WebhookID: 7, Reason: "gone"}) {
		t.Errorf("%+v, %v", got, ok)
	}
	if got, ok := (client.Event{Type: client.WebhookFailing, Data: failed.Data}).WebhookFailure(); !ok || got.WebhookID != 7 {
		t.Errorf("%+v, %v", got, ok)
	}
	if _, ok := changed.WebhookFailure(); ok {
		t.Error("a state change has data of a webhook")
	}
	near := client.Event{Type: client.DeadlineNear, Data: []byte(`{"expiresAt":"2026-11-22 08:15:30"}`)}
	if got, ok := near.Deadline(); !ok || !got.Equal(time.Date(2026, 11, 22, 8, 15, 30, 0, time.UTC)) {
		t.Errorf("%v, %v", got, ok)
	}
	if _, ok := failed.Deadline(); ok {
		t.Error("a failed webhook has a deadline")
	}
	if _, ok := (client.Event{Type: client.OrderStateChanged, Data: []byte(`[`)}).StateChange(); ok {
		t.Error("broken data tell of a change")
	}
}
