package webhook

import (
	"context"
	"errors"
	"time"

	"merchantorders/internal/order"
)

// Test sends a test event to an endpoint, in any state, and returns what came of it.
// Errors beside those of order.Change: ErrNotFound, ErrBusy.
func (s *Service) Test(ctx context.Context, caller order.Caller, key Key, options order.Options[Delivery]) (Delivery, error) {
	return s.sendOnce(ctx, caller, key, options, func(Endpoint) (outgoing, error) {
		now := s.now().UTC()
		body, name, err := s.encoder.Test(now)
		return outgoing{id: "msg_" + number(key.ID) + "_test_" + number(now.UnixNano()), typeName: name, body: body}, err
	})
}

// Redeliver sends an event of a merchant to an endpoint again, in any state, with the same
// message id. It does not move the cursor. Errors beside those of order.Change:
// ErrNotFound, ErrBusy, ErrNoEvent, also for an event that is not in the endpoint's feed.
func (s *Service) Redeliver(ctx context.Context, caller order.Caller, key Key, merchantID, event int64, options order.Options[Delivery]) (Delivery, error) {
	return s.sendOnce(ctx, caller, key, options, func(e Endpoint) (outgoing, error) {
		if key.MerchantID != merchantID && key.MerchantID != Marketplace {
			return outgoing{}, ErrNoEvent
		}
		feed, err := s.store.Events(ctx, merchantID, event-1, 1)
		if err != nil {
			return outgoing{}, err
		}
		if len(feed.Events) == 0 || feed.Events[0].Seq != event {
			return outgoing{}, ErrNoEvent
		}
		return newOutgoing(ctx, s.store, s.encoder, e, feed.Events[0])
	})
}

// sendOnce sends a message, unless a response is recorded for the idempotency key.
func (s *Service) sendOnce(ctx context.Context, caller order.Caller, key Key, options order.Options[Delivery], message func(Endpoint) (outgoing, error)) (Delivery, error) {
	if err := s.changes.Replay(ctx, caller, options.Key); err != nil {
		return Delivery{}, err
	}
	e, refusal := s.store.Webhook(ctx, key)
	var m outgoing
	if refusal == nil {
		m, refusal = message(e)
	}
	var lease Lease
	if refusal == nil {
		lease, refusal = s.borrow(ctx, key)
	}
	if refusal != nil {
		return s.record(ctx, caller, options, Delivery{}, refusal)
	}
	return s.sendLeased(ctx, caller, lease, options, m)
}

// sendLeased sends a message under a lease, so that nothing else is in flight to the
// endpoint. It records the response before it ends the lease: another request with the
// same key waits for the lease, and then finds the response. A client that disconnects
// does not stop it, because it may send the same request again.
func (s *Service) sendLeased(ctx context.Context, caller order.Caller, lease Lease, options order.Options[Delivery], m outgoing) (Delivery, error) {
	ctx = context.WithoutCancel(ctx)
	begin, cancelBegin := context.WithTimeout(ctx, time.Second) // see leaseTime
	defer cancelBegin()
	err := s.changes.Replay(begin, caller, options.Key)
	var delivery Delivery
	if err == nil {
		delivery, err = s.attempter.send(ctx, lease.Endpoint, m)
	}
	save, cancel := context.WithTimeout(ctx, saveTimeout)
	defer cancel()
	if err == nil {
		progress := lease.progress()
		progress.LeaseUntil = s.now().Add(leaseTime)
		err = s.store.SaveProgress(save, lease, progress, &delivery)
		if errors.Is(err, ErrLeaseLost) {
			err = nil // changed or removed meanwhile
		}
	}
	if err == nil {
		delivery, err = s.record(save, caller, options, delivery, nil)
	}
	err = errors.Join(err, s.store.ReleaseWebhook(save, lease))
	s.added(lease.MerchantID) // events may have waited for the lease
	return delivery, err
}

// record records the response to a request, with the delivery or the refusal.
func (s *Service) record(ctx context.Context, caller order.Caller, options order.Options[Delivery], delivery Delivery, refusal error) (Delivery, error) {
	return order.Change(ctx, s.changes, caller, options, func(Tx) (Delivery, error) { return delivery, refusal })
}

const (
	// borrowTimeout is how long a request waits for a delivery in flight.
	borrowTimeout  = 5 * time.Second
	borrowInterval = 100 * time.Millisecond
)

// borrow takes the lease of an endpoint, or returns ErrBusy.
func (s *Service) borrow(ctx context.Context, key Key) (Lease, error) {
	for range borrowTimeout / borrowInterval {
		now := s.now()
		lease, err := s.store.BorrowWebhook(ctx, key, now, now.Add(leaseTime))
		if !errors.Is(err, ErrNotDue) {
			return lease, err
		}
		timer := time.NewTimer(borrowInterval)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return Lease{}, ctx.Err()
		}
	}
	return Lease{}, ErrBusy
}
