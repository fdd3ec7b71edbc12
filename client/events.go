package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// EventType is the type of an event.
type EventType string

// The types of events. Ignore unknown types: the service may add some.
const (
	OrderCreated      EventType = "order.created"
	OrderStateChanged EventType = "order.state_changed"
	OrderUpdated      EventType = "order.updated"
	InvoiceUploaded   EventType = "invoice.uploaded"
	InvoiceDeleted    EventType = "invoice.deleted"
	OrderDeleted      EventType = "order.deleted"  // after the marketplace's retention time
	WebhookFailed     EventType = "webhook.failed" // the service has disabled a webhook; the event has no order
	DeadlineNear      EventType = "order.deadline_near"
	WebhookFailing    EventType = "webhook.failing" // the service will disable a webhook; the event has no order
)

// Event is one change, of one order unless its type says otherwise.
type Event struct {
	Seq            int64           `json:"seq"` // a merchant's events are numbered 1, 2, 3, ...
	Type           EventType       `json:"type"`
	OrderReference string          `json:"orderReference"` // empty: the event has no order
	OrderID        int64           `json:"orderId"`        // the numeric id of v1
	At             time.Time       `json:"at"`
	Actor          string          `json:"actor"`              // merchant, operator or system
	TokenID        int64           `json:"tokenId,omitzero"`   // of the token that made the change; 0: none
	RequestID      string          `json:"requestId,omitzero"` // X-Request-Id of the response to it; empty: none
	Data           json.RawMessage `json:"data"`               // an object that depends on Type

	// Order is the order when the service responded, after WithOrders; of a webhook that
	// includes orders, when it was sent. nil: it was not requested, the order was deleted,
	// or the event has none. Its Tag is empty.
	Order *Order `json:"order,omitempty"`

	// OrderProblem is why Order is nil although the order exists; empty: it is not nil, or
	// for another reason.
	OrderProblem string `json:"orderProblem,omitempty"`

	// History is that of the EventPage; see InHistory. It is set by Events and
	// FollowEvents. Empty: the service does not tell.
	History string `json:"history,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *Event) UnmarshalJSON(data []byte) error {
	type plain Event // without methods
	wire := struct {
		*plain
		Order *wireOrder `json:"order"`
	}{plain: (*plain)(e)}
	err := json.Unmarshal(data, &wire)
	if err == nil && wire.Order != nil {
		if !wire.Order.complete() {
			return errIncomplete
		}
		o := wire.Order.order()
		e.Order = &o
	}
	return err
}

// dataOf returns the data of an event of some types, and false for other events.
func dataOf[T any](e Event, types ...EventType) (data T, ok bool) {
	if !slices.Contains(types, e.Type) || json.Unmarshal(e.Data, &data) != nil {
		var none T
		return none, false
	}
	return data, true
}

// StateChange returns the data of an OrderStateChanged event, and false for other
// events.
func (e Event) StateChange() (StateChange, bool) {
	return dataOf[StateChange](e, OrderStateChanged)
}

// ChangedFields returns the names of the fields that an OrderUpdated event changed, and
// false for other events.
func (e Event) ChangedFields() ([]string, bool) {
	data, ok := dataOf[struct{ Fields []string }](e, OrderUpdated)
	return data.Fields, ok
}

// InvoiceChange returns the data of an InvoiceUploaded or InvoiceDeleted event, and
// false for other events.
func (e Event) InvoiceChange() (InvoiceChange, bool) {
	return dataOf[InvoiceChange](e, InvoiceUploaded, InvoiceDeleted)
}

// WebhookFailure returns the data of a WebhookFailed or WebhookFailing event, and false for
// other events.
func (e Event) WebhookFailure() (WebhookFailure, bool) {
	return dataOf[WebhookFailure](e, WebhookFailed, WebhookFailing)
}

// Deadline returns the deadline of a DeadlineNear event, until when the order can be
// accepted or rejected, and false for other events.
func (e Event) Deadline() (time.Time, bool) {
	data, ok := dataOf[struct{ ExpiresAt wireTime }](e, DeadlineNear)
	return data.ExpiresAt.Time, ok
}

// ofOrder reports whether the event is of an order, by its type.
func (e Event) ofOrder() bool {
	return strings.HasPrefix(string(e.Type), "order.") || strings.HasPrefix(string(e.Type), "invoice.")
}

// EventPage is a page of the change feed, oldest first.
type EventPage struct {
	Events []Event `json:"events"`
	Next   int64   `json:"next"` // the after parameter of the next page

	// These are missing in the responses of older services.
	Newest  int64  `json:"newest"`  // number of the newest event
	History string `json:"history"` // another one if numbers may have been reused
}

// Limits of EventsPage.
const (
	MaxEvents = 1000
	MaxWait   = 30 * time.Second
)

// EventsPage returns the merchant's events with numbers above after, oldest first;
// 0 returns all. limit is 1 to MaxEvents; 0 means the default of the service. If
// there is no event, the service waits for one up to wait, in whole seconds up to
// MaxWait (long polling).
func (c *Client) EventsPage(ctx context.Context, after int64, limit int, wait time.Duration) (EventPage, error) {
	return c.feedPage(ctx, after, eventQuery(after, limit), wait)
}

func (c *Client) feedPage(ctx context.Context, after int64, query url.Values, wait time.Duration) (EventPage, error) {
	if seconds := int64(wait / time.Second); seconds > 0 {
		query.Set("wait", strconv.FormatInt(seconds, 10))
	}
	return c.events(ctx, &call{
		op: "read events after " + text(after), method: http.MethodGet,
		url: c.address(query, "events"), timeout: c.timeout + max(wait, 0),
	}, after)
}

// FeedEnd returns where the feed ends: an EventPage without events. A copy of all
// orders begins with it: store Next and History, read the orders, then continue with
// FollowEvents(ctx, end.Next, InHistory(end.History)).
func (c *Client) FeedEnd(ctx context.Context) (EventPage, error) {
	return c.events(ctx, &call{
		op: "read the end of the events", method: http.MethodGet, url: c.address(url.Values{"after": {"latest"}}, "events"),
	}, 0)
}

// FeedOption configures Events and FollowEvents.
type FeedOption func(*feed)

// InHistory says in which history the number after was read: the History of an Event
// or EventPage, stored together with the number. If the service has another history,
// the error is ErrHistoryChanged and no event is returned.
func InHistory(history string) FeedOption { return func(f *feed) { f.history = history } }

// WithOrders requests the order of each event, so that a copy of all orders needs no
// other requests.
func WithOrders() FeedOption { return func(f *feed) { f.orders = true } }

// feed reads pages of one history.
type feed struct {
	client  *Client
	history string // empty: any
	orders  bool
}

func (c *Client) newFeed(options []FeedOption) *feed {
	f := &feed{client: c}
	for _, option := range options {
		option(f)
	}
	return f
}

// read returns a page, or ErrHistoryChanged if event numbers have started again.
func (f *feed) read(ctx context.Context, after int64, wait time.Duration) (EventPage, error) {
	query := eventQuery(after, MaxEvents)
	if f.orders {
		query.Set("include", "order")
	}
	page, err := f.client.feedPage(ctx, after, query, wait)
	if err != nil || page.History == "" {
		return page, err
	}
	problem := ""
	switch {
	case f.history != "" && page.History != f.history:
		problem = fmt.Sprintf("the history is %s, not %s", page.History, f.history)
	case page.Newest < after:
		problem = fmt.Sprintf("the newest event is %d", page.Newest)
	}
	if problem != "" {
		err := f.client.notSent("read events after "+text(after), ErrHistoryChanged, ErrHistoryChanged.Error()+": "+problem)
		err.Tries = 1
		return EventPage{}, err
	}
	f.history = page.History
	for i := range page.Events {
		page.Events[i].History = page.History
	}
	return page, nil
}

// Events returns the merchant's events with numbers above after, up to the newest;
// 0 returns all. The first error ends the iteration. To continue later without
// missing an event, store the Seq and the History of the last one. The error is
// ErrHistoryChanged if numbers have started again: discard the stored ones and begin
// a new copy with FeedEnd.
func (c *Client) Events(ctx context.Context, after int64, options ...FeedOption) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f := c.newFeed(options)
		eventPages(after, func(after int64) (EventPage, error) { return f.read(ctx, after, 0) })(yield)
	}
}

// FollowEvents is like Events, but waits for new events after the newest. It ends
// with the first error, at the latest with that of ctx.
func (c *Client) FollowEvents(ctx context.Context, after int64, options ...FeedOption) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f := c.newFeed(options)
		eventPages(after, func(after int64) (EventPage, error) { return f.follow(ctx, after) })(yield)
	}
}

// follow returns the next page with events.
func (f *feed) follow(ctx context.Context, after int64) (EventPage, error) {
	for c := f.client; ; {
		requested := c.now()
		page, err := f.read(ctx, after, MaxWait)
		if err != nil || len(page.Events) > 0 {
			return page, err
		}
		after = page.Next
		if c.now().Sub(requested) >= followPause {
			continue
		}
		// A service with too many waiters responds at once.
		if err := c.sleep(ctx, followPause+c.jitter(followPause)); err != nil {
			return EventPage{}, c.transportError(ctx, &call{op: "follow events"}, "", err)
		}
	}
}

// followPause is the minimum time between two requests if the first one returned no
// event.
const followPause = time.Second

// OrderEvents returns the events of one order, oldest first. The error is
// ErrNotFound if the order does not exist or belongs to another merchant.
func (c *Client) OrderEvents(ctx context.Context, reference string) iter.Seq2[Event, error] {
	return eventPages(0, func(after int64) (EventPage, error) {
		call := c.orderCall(http.MethodGet, "read events of order "+reference, reference, "events")
		call.url += "?" + eventQuery(after, MaxEvents).Encode()
		return c.events(ctx, call, after)
	})
}

func eventQuery(after int64, limit int) url.Values {
	query := url.Values{"after": {text(after)}}
	if limit != 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	return query
}

func (c *Client) events(ctx context.Context, call *call, after int64) (EventPage, error) {
	return fetch(ctx, c, call, func(r response) (EventPage, error) { return decodeEvents(r, after) })
}

// eventPages returns the events of all pages, up to the first empty one.
func eventPages(after int64, read func(after int64) (EventPage, error)) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for from := after; ; {
			page, err := read(from)
			if err != nil {
				yield(Event{}, err)
				return
			}
			for _, event := range page.Events {
				if !yield(event, nil) {
					return
				}
			}
			if len(page.Events) == 0 {
				return
			}
			from = page.Next
		}
	}
}
