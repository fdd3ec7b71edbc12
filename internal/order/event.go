package order

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// EventType is the type of an event. The numbers are stored: append, never
// reorder.
type EventType uint8

// The event types.
const (
	OrderCreated EventType = iota + 1
	OrderStateChanged
	OrderUpdated
	InvoiceUploaded
	InvoiceDeleted
	OrderDeleted   // its data are gone, after the retention time
	WebhookFailed  // the service has disabled a webhook; the event has no order
	DeadlineNear   // the merchant has little time left to answer
	WebhookFailing // the service will disable a webhook; the event has no order
)

var eventNames = [...]string{
	"unknown", OrderCreated: "order.created", OrderStateChanged: "order.state_changed", OrderUpdated: "order.updated",
	InvoiceUploaded: "invoice.uploaded", InvoiceDeleted: "invoice.deleted", OrderDeleted: "order.deleted",
	WebhookFailed: "webhook.failed", DeadlineNear: "order.deadline_near", WebhookFailing: "webhook.failing",
}

// EventNames are the published names of all types, by their numbers.
var EventNames = eventNames[OrderCreated:]

// String returns the published name of the type.
func (t EventType) String() string {
	if int(t) >= len(eventNames) {
		t = 0
	}
	return eventNames[t]
}

// Event records one change. The store writes it in the transaction of the
// change.
type Event struct {
	// Seq numbers a merchant's events 1, 2, 3, ... in commit order without
	// gaps. The store assigns it.
	Seq  int64
	Type EventType
	By   Caller // its actor, token and request id are stored
	At   time.Time

	From, To State  // of OrderStateChanged; To alone of OrderCreated
	Reason   Reason // of OrderStateChanged, empty: none given; a text for people of WebhookFailed and WebhookFailing
	// Fields are the names of the changed fields of OrderUpdated: those of the order
	// document, and of MerchantData in version 2.
	Fields    []string
	InvoiceID int64     // of the invoice events
	WebhookID int64     // of WebhookFailed and WebhookFailing
	ExpiresAt time.Time // of DeadlineNear: the deadline
}

// Limits of one read of the change feed.
const (
	DefaultFeedLimit = 100
	MaxFeedLimit     = 1000
	MaxFeedWait      = 30 * time.Second
)

// EventRecord is an event with the names of its order, if it has one, and file.
type EventRecord struct {
	Event
	// Nonce is a random number of the transaction that wrote the event. It tells events
	// apart whose number was given out twice.
	Nonce      int64
	MerchantID int64
	Position   int64  // in the marketplace's feed
	LegacyID   int64  // of the order; 0 of an event of a webhook
	Reference  string // of the order; empty of an event of a webhook
	FileName   string // stored name; set for the invoice events
	OrderSize  int64  // of the order's stored details, in bytes; 0 of an event without an order
	// Order is the order as it was when the events were read. It is nil if orders were
	// not asked for, the order was deleted, or the event has none.
	Order *Order
}

// ID returns a text that no other event has, in any history.
func (e EventRecord) ID() string {
	return fmt.Sprintf("evt_%d_%d_%s", e.MerchantID, e.Seq, strconv.FormatUint(uint64(e.Nonce), 36))
}

// FeedQuery selects events.
type FeedQuery struct {
	After  int64 // number of the last event that the client has; 0: none
	Latest bool  // no events, only where the feed ends; the other fields are ignored
	Limit  int   // maximum number of events, 1 to MaxFeedLimit
	Orders bool  // with the orders of the events
	// Wants selects the types of events; nil: all. OrderEvents has all.
	Wants func(EventType) bool
	// Wait is how long to wait for an event if there is none yet, at most
	// MaxFeedWait. 0: do not wait. OrderEvents never waits.
	Wait time.Duration
	// TokenID is the token of the request; 0: none. The wait ends without events when
	// the token is revoked.
	TokenID int64
	// OnWait is called when the request begins to wait; nil: not called.
	OnWait func()
}

// Feed is a page of the change feed.
type Feed struct {
	Events []EventRecord // oldest first
	// Version is the data version of the merchant at the same moment; Version.Event
	// is the number of the newest event.
	Version DataVersion
	// History names the sequence of events. In another history, such as after a
	// restore, the same number may be of another event.
	History string

	More   bool  // there are more events than those that were read; set by Service
	Next   int64 // the value of FeedQuery.After for the next page; set by Service
	Waited bool  // the request was a waiter; set by Service
}

// Events returns a page of a merchant's events. With Wait it is a long poll: if
// there are no events it returns as soon as any instance of the service commits
// one, or the history changes. It returns no events when Wait is over, when the
// token is revoked or the merchant suspended, when the merchant has MaxWaiters waiters
// already, after StopWaiting, and if After is beyond the newest event: only a lost
// history had it. It holds no database connection while it waits.
func (s *Service) Events(ctx context.Context, merchantID int64, query FeedQuery) (Feed, error) {
	if query.Latest {
		feed, err := s.store.Events(ctx, merchantID, math.MaxInt64, 1)
		feed.Next = feed.Version.Event
		return feed, err
	}
	feed := Feed{Next: query.After}
	feed, err := s.waitForEvents(ctx, merchantID, query, func() (Feed, error) {
		var err error
		feed, err = s.readFeed(ctx, merchantID, query, feed)
		return feed, err
	})
	if err == nil && query.Orders {
		n := len(feed.Events)
		if feed.Events, err = s.addFeedOrders(ctx, feed.Events); err == nil && len(feed.Events) < n {
			feed.Next = feed.Events[len(feed.Events)-1].Seq
		}
	}
	return feed, err
}

// readFeed reads the events of the wanted types behind a page of the same request, whose History
// is empty if it is the beginning. Next is behind the events of other types too, so that nobody
// reads them again. In another history the numbers of the page mean nothing, and it begins again.
func (s *Service) readFeed(ctx context.Context, merchantID int64, query FeedQuery, before Feed) (Feed, error) {
	feed := Feed{History: before.History, Next: before.Next}
	events, more, err := query.readWanted(func(limit int) ([]EventRecord, error) {
		page, err := s.store.Events(ctx, merchantID, feed.Next, limit)
		if err == nil && feed.History != "" && page.History != feed.History {
			return nil, ErrOtherHistory
		}
		feed.Version, feed.History = page.Version, page.History
		if n := len(page.Events); n > 0 {
			feed.Next = page.Events[n-1].Seq
		}
		return page.Events, err
	})
	if errors.Is(err, ErrOtherHistory) {
		return s.readFeed(ctx, merchantID, query, Feed{Next: query.After})
	}
	if n := len(events); n == query.Limit {
		feed.Next = events[n-1].Seq
	}
	feed.Events, feed.More = events, more
	return feed, err
}

// maxReads is how many pages a request reads at most to find events of the types that it
// wants.
const maxReads = 10

// readWanted returns the first events of the wanted types, and whether there may be more events
// after them, or after all that was read. read returns the next events.
func (query FeedQuery) readWanted(read func(limit int) ([]EventRecord, error)) (events []EventRecord, more bool, err error) {
	limit := query.Limit
	if query.Wants != nil {
		limit = MaxFeedLimit
	}
	for range maxReads {
		page, err := read(limit)
		if err != nil {
			return nil, false, err
		}
		more = len(page) == limit
		for i, e := range page {
			if query.Wants != nil && !query.Wants(e.Type) {
				continue
			}
			if events = append(events, e); len(events) == query.Limit {
				return events, more || i < len(page)-1, nil
			}
		}
		if !more {
			break
		}
	}
	return events, more, nil
}

// maxPageOrders bounds the orders of a page of events or of unanswered orders, in bytes of
// their stored details: the service and the client hold the whole page.
const maxPageOrders = 4 << 20

// addFeedOrders sets the orders of a page of events and returns the page: its first events
// whose orders fit on a page.
func (s *Service) addFeedOrders(ctx context.Context, events []EventRecord) ([]EventRecord, error) {
	events = FittingOrders(events, maxPageOrders)
	return events, AddOrders(ctx, s.store, events)
}

// FittingOrders returns the first events whose orders have at most limit bytes of stored details
// in all, one at least.
func FittingOrders(events []EventRecord, limit int64) []EventRecord {
	return fitting(events, limit, func(e EventRecord) int64 { return e.OrderSize })
}

// fitting returns the first items whose sizes are at most limit in all, one at least.
func fitting[T any](items []T, limit int64, size func(T) int64) []T {
	for i, item := range items {
		if limit -= size(item); i > 0 && limit < 0 {
			return items[:i]
		}
	}
	return items
}

// locator returns where the order of the event is.
func (e EventRecord) locator() Locator { return Locator{e.MerchantID, e.LegacyID} }

// locators returns where the orders of events are, of those that have one.
func locators(events []EventRecord) []Locator {
	at := make([]Locator, 0, len(events))
	for _, e := range events {
		if e.LegacyID != 0 {
			at = append(at, e.locator())
		}
	}
	return at
}

// AddOrders sets the orders of events. An order is as new as its events or newer.
func AddOrders(ctx context.Context, store Reader, events []EventRecord) error {
	orders, err := store.Orders(ctx, locators(events))
	for i, e := range events {
		if o, found := orders[e.locator()]; found {
			events[i].Order = &o
		}
	}
	return err
}

// waitForEvents calls read until it finds events of a merchant, or of allMerchants, or the
// wait is over.
func (s *Service) waitForEvents(ctx context.Context, merchantID int64, query FeedQuery, read func() (Feed, error)) (Feed, error) {
	if query.Wait <= 0 {
		return read()
	}
	revoked, ended, ok := s.waiters.join(merchantID, query.TokenID)
	if !ok {
		return read()
	}
	defer s.waiters.leave(merchantID, query.TokenID)
	timeout := time.NewTimer(query.Wait)
	defer timeout.Stop()
	history := ""
	for {
		// Before the read, so that an event committed after the read closes it.
		wake := s.waiters.next(merchantID)
		feed, err := read()
		feed.Waited = history != ""
		lost := query.After > feed.Version.Event || feed.Waited && feed.History != history
		if err != nil || len(feed.Events) > 0 || feed.More || lost {
			return feed, err
		}
		s.waiters.see(merchantID, feed.Version)
		if !feed.Waited && query.OnWait != nil {
			query.OnWait()
		}
		history, feed.Waited = feed.History, true
		select {
		case <-wake:
		case <-revoked:
			return feed, nil
		case <-ended:
			return feed, nil
		case <-timeout.C:
			return feed, nil
		case <-s.waiters.stopped.Done():
			return feed, nil
		case <-ctx.Done():
			return Feed{}, ctx.Err()
		}
	}
}

// OrderEvents returns the events of one order, oldest first, or ErrNotFound.
func (s *Service) OrderEvents(ctx context.Context, merchantID int64, id Identifier, query FeedQuery) ([]EventRecord, error) {
	if !id.Valid() {
		return nil, ErrNotFound
	}
	return s.store.OrderEvents(ctx, merchantID, id, query.After, query.Limit)
}

// StopWaiting ends all long polls at once and lets none begin. Everything else
// of the service goes on working.
func (s *Service) StopWaiting() { s.waiters.stop() }

// Waiting returns how many requests wait for events, and the longest time for which
// a commit of another instance may have gone unnoticed by them; 0 if none waits.
func (s *Service) Waiting() (requests int, lag time.Duration) { return s.waiters.lag() }
