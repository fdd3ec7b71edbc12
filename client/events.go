package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// EventType says what happened.
type EventType string

// The types of events. A reader passes over those that it does not know.
const (
	OrderCreated      EventType = "order.created"
	OrderStateChanged EventType = "order.state_changed"
	OrderUpdated      EventType = "order.updated"
	InvoiceUploaded   EventType = "invoice.uploaded"
	InvoiceDeleted    EventType = "invoice.deleted"
)

// Event tells of one change of one order.
type Event struct {
	Seq            int64           `json:"seq"` // a merchant's events are numbered 1, 2, 3, ...
	Type           EventType       `json:"type"`
	OrderReference string          `json:"orderReference"`
	OrderID        int64           `json:"orderId"` // the number of version 1
	At             time.Time       `json:"at"`
	Actor          string          `json:"actor"` // merchant, operator or system
	Data           json.RawMessage `json:"data"`  // an object, by type
}

// StateChange is the Data of OrderStateChanged.
type StateChange struct {
	From   State  `json:"from"`
	To     State  `json:"to"`
	Reason Reason `json:"reason"` // of a rejection; empty: none given
}

// StateChange returns what an event of a changed state says, and false for every
// other event.
func (e Event) StateChange() (StateChange, bool) {
	var change StateChange
	if e.Type != OrderStateChanged || json.Unmarshal(e.Data, &change) != nil {
		return StateChange{}, false
	}
	return change, true
}

// InvoiceChange is the Data of InvoiceUploaded and InvoiceDeleted.
type InvoiceChange struct {
	InvoiceID int64  `json:"invoiceId"`
	Filename  string `json:"filename"` // as stored; empty: the service does not say
}

// InvoiceChange returns what an event of an invoice file says, and false for
// every other event.
func (e Event) InvoiceChange() (InvoiceChange, bool) {
	var change InvoiceChange
	if e.Type != InvoiceUploaded && e.Type != InvoiceDeleted || json.Unmarshal(e.Data, &change) != nil {
		return InvoiceChange{}, false
	}
	return change, true
}

// EventPage is a piece of the feed, oldest first.
type EventPage struct {
	Events []Event `json:"events"`
	Next   int64   `json:"next"` // what to ask after for the piece that follows
}

// The limits of a piece of the feed.
const (
	MaxEvents = 1000
	MaxWait   = 30 * time.Second
)

// EventsPage returns the merchant's events after a number, 0 for all, oldest
// first. limit is how many at most, 1 to MaxEvents; 0: as the service likes. When
// there are none, the service holds the answer for up to wait, in whole seconds
// up to MaxWait, until something happens.
func (c *Client) EventsPage(ctx context.Context, after int64, limit int, wait time.Duration) (EventPage, error) {
	query := eventQuery(after, limit)
	if seconds := int64(wait / time.Second); seconds > 0 {
		query.Set("wait", strconv.FormatInt(seconds, 10))
	}
	return c.events(ctx, &call{
		op: "read events after " + strconv.FormatInt(after, 10), method: http.MethodGet,
		url: c.address(query, "events"), timeout: c.timeout + max(wait, 0),
	}, after)
}

// Events returns the merchant's events after a number, 0 for all, up to the
// newest that there is. The first error ends them; whoever keeps the Seq of the
// last event goes on from there later and misses nothing.
func (c *Client) Events(ctx context.Context, after int64) iter.Seq2[Event, error] {
	return pieces(after, nil, func(after int64) (EventPage, error) {
		return c.EventsPage(ctx, after, MaxEvents, 0)
	})
}

// FollowEvents is Events without an end: after the newest it waits for what
// comes. It ends with the first error, at the latest with that of ctx.
func (c *Client) FollowEvents(ctx context.Context, after int64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var asked time.Time
		pause := func() error {
			// A service where too many wait already answers at once.
			if c.now().Sub(asked) >= followPause {
				return nil
			}
			if err := c.sleep(ctx, followPause+c.spread(followPause)); err != nil {
				return c.lost(ctx, &call{op: "follow events"}, "", err)
			}
			return nil
		}
		pieces(after, pause, func(after int64) (EventPage, error) {
			asked = c.now()
			return c.EventsPage(ctx, after, MaxEvents, MaxWait)
		})(yield)
	}
}

// followPause is the least time between two questions of which the first found
// nothing.
const followPause = time.Second

// OrderEvents returns the history of one order, oldest first. No such order, or
// another merchant's: ErrNotFound.
func (c *Client) OrderEvents(ctx context.Context, reference string) iter.Seq2[Event, error] {
	op := "read events of order " + reference
	return pieces(0, nil, func(after int64) (EventPage, error) {
		if err := c.checkReference(op, reference); err != nil {
			return EventPage{}, err
		}
		address := c.address(eventQuery(after, MaxEvents), "orders", reference, "events")
		return c.events(ctx, &call{op: op, method: http.MethodGet, url: address}, after)
	})
}

func eventQuery(after int64, limit int) url.Values {
	query := url.Values{"after": {strconv.FormatInt(after, 10)}}
	if limit != 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	return query
}

func (c *Client) events(ctx context.Context, call *call, after int64) (EventPage, error) {
	a, err := c.do(ctx, call)
	if err != nil {
		return EventPage{}, err
	}
	page, err := decodeEvents(a.body, after)
	if err != nil {
		return EventPage{}, c.malformed(call, a, err)
	}
	return page, nil
}

// pieces returns the events of one piece after the other: up to the first that
// is empty or, where there is a pause to make then, for ever.
func pieces(after int64, pause func() error, read func(after int64) (EventPage, error)) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for from := after; ; {
			page, err := read(from)
			if err == nil && len(page.Events) == 0 && pause != nil {
				err = pause()
			}
			if err != nil {
				yield(Event{}, err)
				return
			}
			for _, event := range page.Events {
				if !yield(event, nil) {
					return
				}
			}
			if len(page.Events) == 0 && pause == nil {
				return
			}
			from = page.Next
		}
	}
}
