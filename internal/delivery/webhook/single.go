package webhook

import (
	"context"
	"errors"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/order"
)

// Test sends a test event to an endpoint, in any state, and returns what came of it.
// Errors beside those of order.Change: delivery.ErrNotFound, ErrBusy.
func (s *Service) Test(ctx context.Context, caller order.Caller, key delivery.Key, options order.Options[delivery.Attempt]) (delivery.Attempt, error) {
	return s.sendOnce(ctx, caller, key, options, func(e Endpoint) (outgoing, error) {
		now := s.Now().UTC()
		body, name, err := s.Encoder.Test(now)
		body, _ = e.join([][]byte{body})
		return outgoing{delivery.Attempt{MessageID: "msg_" + number(key.ID) + "_test_" + number(now.UnixNano()), Type: name, Events: 1}, body}, err
	})
}

// Redeliver sends an event of a merchant to an endpoint again, in any state, with the same
// message id as if it was delivered alone. It does not move the cursor. Errors beside those of order.Change:
// delivery.ErrNotFound, ErrBusy, ErrNoEvent, also for an event that is not in the endpoint's feed.
func (s *Service) Redeliver(ctx context.Context, caller order.Caller, key delivery.Key, merchantID, event int64, options order.Options[delivery.Attempt]) (delivery.Attempt, error) {
	return s.sendOnce(ctx, caller, key, options, func(e Endpoint) (outgoing, error) {
		if key.MerchantID != merchantID && key.MerchantID != delivery.Marketplace {
			return outgoing{}, ErrNoEvent
		}
		feed, err := s.Store.Events(ctx, merchantID, event-1, 1)
		if err != nil {
			return outgoing{}, err
		}
		if len(feed.Events) == 0 || feed.Events[0].Seq != event {
			return outgoing{}, ErrNoEvent
		}
		return s.outgoing(ctx, e, feed.Events)
	})
}

// sendOnce sends a message under a lease, so that nothing else is in flight to the endpoint,
// unless a response is recorded for the idempotency key. It records the response before it ends
// the lease: another request with the same key waits for the lease, and then finds the response.
// A client that disconnects does not stop it, because it may send the same request again.
func (s *Service) sendOnce(ctx context.Context, caller order.Caller, key delivery.Key, options order.Options[delivery.Attempt], message func(Endpoint) (outgoing, error)) (delivery.Attempt, error) {
	if err := s.changes.Replay(ctx, caller, options.Key); err != nil {
		return delivery.Attempt{}, err
	}
	e, err := s.Store.Webhook(ctx, key)
	var m outgoing
	if err == nil {
		m, err = message(e)
	}
	var lease delivery.Lease
	if err == nil {
		lease, err = s.borrow(ctx, key)
	}
	if err != nil {
		return s.record(ctx, caller, options, delivery.Attempt{}, err)
	}
	ctx = context.WithoutCancel(ctx)
	begin, cancelBegin := context.WithTimeout(ctx, time.Second) // see delivery.LeaseTime
	defer cancelBegin()
	var attempt delivery.Attempt
	if err = s.changes.Replay(begin, caller, options.Key); err == nil {
		attempt, err = s.post(ctx, lease.To.(Endpoint), m)
	}
	save, cancel := context.WithTimeout(ctx, delivery.SaveTimeout)
	defer cancel()
	if err == nil {
		err = s.Store.SaveProgress(save, lease, delivery.Progress{Cursor: lease.Cursor, LeaseUntil: s.Now().Add(delivery.LeaseTime), Attempt: &attempt})
	}
	if err == nil || errors.Is(err, delivery.ErrLeaseLost) { // changed or removed meanwhile
		attempt, err = s.record(save, caller, options, attempt, nil)
	}
	err = errors.Join(err, s.Store.ReleaseEndpoint(save, lease))
	s.Changed(lease.MerchantID) // events may have waited for the lease
	return attempt, err
}

// record records the response to a request, with the delivery or the refusal.
func (s *Service) record(ctx context.Context, caller order.Caller, options order.Options[delivery.Attempt], attempt delivery.Attempt, refusal error) (delivery.Attempt, error) {
	return order.Change(ctx, s.changes.Changes, caller, options, func(Tx) (delivery.Attempt, error) { return attempt, refusal })
}

const (
	// borrowTimeout is how long a request waits for a delivery in flight.
	borrowTimeout  = 5 * time.Second
	borrowInterval = 100 * time.Millisecond
)

// borrow takes the lease of an endpoint, or returns ErrBusy.
func (s *Service) borrow(ctx context.Context, key delivery.Key) (delivery.Lease, error) {
	for range borrowTimeout / borrowInterval {
		now := s.Now()
		lease, err := s.Store.BorrowEndpoint(ctx, key, now, now.Add(delivery.LeaseTime))
		if !errors.Is(err, delivery.ErrNotDue) {
			return lease, err
		}
		select {
		case <-time.After(borrowInterval):
		case <-ctx.Done():
			return delivery.Lease{}, ctx.Err()
		}
	}
	return delivery.Lease{}, ErrBusy
}
