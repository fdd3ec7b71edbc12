package webhook

import (
	"context"
	"errors"
	"time"

	"merchantorders/internal/order"
)

// SendOptions are the source and the idempotency of a single delivery.
type SendOptions = order.ChangeOptions[Delivery]

// Test sends a test event to an endpoint, in any state, and returns what came of it.
// Errors beside those of order.Change: ErrNotFound, ErrBusy.
func (s *Service) Test(ctx context.Context, key Key, options SendOptions) (Delivery, error) {
	return s.sendOnce(ctx, key, options, func() (outgoing, error) {
		now := s.now().UTC()
		body, name, err := s.encoder.Test(now)
		return outgoing{id: "msg_" + number(key.ID) + "_test_" + number(now.UnixNano()), typeName: name, body: body}, err
	})
}

// Redeliver sends an event to an endpoint again, in any state, with the same message
// id. It does not move the cursor. Errors beside those of order.Change: ErrNotFound,
// ErrBusy, ErrNoEvent.
func (s *Service) Redeliver(ctx context.Context, key Key, event int64, options SendOptions) (Delivery, error) {
	return s.sendOnce(ctx, key, options, func() (outgoing, error) {
		feed, err := s.store.Events(ctx, key.MerchantID, event-1, 1)
		if err != nil {
			return outgoing{}, err
		}
		if len(feed.Events) == 0 || feed.Events[0].Seq != event {
			return outgoing{}, ErrNoEvent
		}
		return newOutgoing(s.encoder, key, feed.Events[0])
	})
}

// errProceed means that no response is recorded for an idempotency key.
var errProceed = errors.New("proceed")

// sendOnce sends a message, unless a response is recorded for the idempotency key. The
// message is not sent in the transaction of the key: two requests with the same key at
// the same time may both send it.
func (s *Service) sendOnce(ctx context.Context, key Key, options SendOptions, message func() (outgoing, error)) (Delivery, error) {
	probe := options
	probe.Response = func(Delivery, error) ([]byte, error) { return nil, nil }
	_, err := order.Change(ctx, s.store.InWebhookTx, probe, func(Tx) (Delivery, error) { return Delivery{}, errProceed })
	if !errors.Is(err, errProceed) {
		return Delivery{}, err
	}
	var delivery Delivery
	_, refusal := s.store.Webhook(ctx, key)
	if refusal == nil {
		var m outgoing
		if m, refusal = message(); refusal == nil {
			delivery, refusal = s.send(ctx, key, m)
		}
	}
	return order.Change(ctx, s.store.InWebhookTx, options, func(Tx) (Delivery, error) { return delivery, refusal })
}

// send sends a message under the lease of the endpoint, so that nothing else is in
// flight to it.
func (s *Service) send(ctx context.Context, key Key, m outgoing) (Delivery, error) {
	lease, err := s.borrow(ctx, key)
	if err != nil {
		return Delivery{}, err
	}
	delivery, err := s.courier.send(ctx, lease.Endpoint, m)
	save, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	if err == nil {
		err = s.store.SaveProgress(save, lease, lease.progress(), &delivery)
	}
	if err != nil {
		release := s.store.ReleaseWebhook(save, lease)
		if errors.Is(err, ErrLeaseLost) {
			err = nil // changed or removed meanwhile: only the log lacks the delivery
		}
		err = errors.Join(err, release)
	}
	s.added(key.MerchantID) // events may have waited for the lease
	return delivery, err
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
