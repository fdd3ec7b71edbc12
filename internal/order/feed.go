package order

import (
	"context"
	"time"
)

// Limits of one read of the change feed.
const (
	DefaultFeedLimit = 100
	MaxFeedLimit     = 1000
	MaxFeedWait      = 30 * time.Second
)

// EventRecord is an event with the names of its order and file.
type EventRecord struct {
	Event
	LegacyID  int64  // of the order
	Reference string // of the order
	FileName  string // stored name; set for the invoice events
}

// FeedQuery selects events.
type FeedQuery struct {
	After int64 // number of the last event that the client has; 0: none
	Limit int   // maximum number of events, 1 to MaxFeedLimit
	// Wait is how long to wait for an event if there is none yet, at most
	// MaxFeedWait. 0: do not wait. OrderEvents never waits.
	Wait time.Duration
}

// Events returns a merchant's events, oldest first. With Wait it is a long poll:
// if there are no events it returns as soon as any instance of the service
// commits one. It returns no events when Wait is over, when the merchant has
// MaxWaiters waiters already, and after StopWaiting. It holds no database
// connection while it waits.
func (s *Service) Events(ctx context.Context, merchantID int64, query FeedQuery) ([]EventRecord, error) {
	events, err := s.store.Events(ctx, merchantID, query.After, query.Limit)
	if err != nil || len(events) > 0 || query.Wait <= 0 || !s.waiters.join(merchantID) {
		return events, err
	}
	defer s.waiters.leave(merchantID)
	timeout := time.NewTimer(query.Wait)
	defer timeout.Stop()
	for {
		// Before the read, so that an event committed after the read closes it.
		wake := s.waiters.next(merchantID)
		events, err := s.store.Events(ctx, merchantID, query.After, query.Limit)
		if err != nil || len(events) > 0 {
			return events, err
		}
		select {
		case <-wake:
		case <-timeout.C:
			return nil, nil
		case <-s.waiters.stopped:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
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
