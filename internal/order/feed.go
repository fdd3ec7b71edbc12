package order

import (
	"context"
	"time"
)

// Limits of one reading of events.
const (
	DefaultFeedLimit = 100
	MaxFeedLimit     = 1000
	MaxFeedWait      = 30 * time.Second
)

// EventRecord is an event with the names of what it tells of.
type EventRecord struct {
	Event
	LegacyID  int64  // of the order
	Reference string // of the order
	FileName  string // stored name, of the invoice events
}

// FeedQuery says which events are asked for: those that come after one.
type FeedQuery struct {
	After int64 // number of the last event that is known; 0: none
	Limit int   // the most to return, 1 to MaxFeedLimit
	// Wait is how long to wait for one, up to MaxFeedWait, where there is none.
	// 0: not at all. Readings of a single order never wait.
	Wait time.Duration
}

// Events returns a merchant's events, oldest first. Where there is none it
// returns as soon as there is, by whatever instance of the service, and
// without any when the time to wait is over, when too many of the merchant's
// wait already, and after EndWaits. No connection of the database is held
// while it waits.
func (s *Service) Events(ctx context.Context, merchantID int64, query FeedQuery) ([]EventRecord, error) {
	events, err := s.store.Events(ctx, merchantID, query.After, query.Limit)
	if err != nil || len(events) > 0 || query.Wait <= 0 || !s.watch.join(merchantID) {
		return events, err
	}
	defer s.watch.leave(merchantID)
	over := time.NewTimer(query.Wait)
	defer over.Stop()
	for {
		// Taken before the look, so that what comes after the look is not missed.
		changed := s.watch.changed(merchantID)
		events, err := s.store.Events(ctx, merchantID, query.After, query.Limit)
		if err != nil || len(events) > 0 {
			return events, err
		}
		select {
		case <-changed:
		case <-over.C:
			return nil, nil
		case <-s.watch.ended:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// OrderEvents returns the events of one order, oldest first, or ErrNotFound.
func (s *Service) OrderEvents(ctx context.Context, merchantID int64, key Identifier, query FeedQuery) ([]EventRecord, error) {
	if !key.Valid() {
		return nil, ErrNotFound
	}
	return s.store.OrderEvents(ctx, merchantID, key, query.After, query.Limit)
}

// StopWaiting lets everyone who waits for events go at once, and nobody wait from
// then on. The service works on without that.
func (s *Service) StopWaiting() { s.watch.end() }
