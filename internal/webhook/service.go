package webhook

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Service manages endpoints. It has no state, so any number of services can work on
// one store.
type Service struct {
	store        Store
	encoder      Encoder
	courier      courier
	now          func() time.Time
	allowPrivate bool
	added        func(merchantID int64)
}

// ServiceOptions are what a Service works with.
type ServiceOptions struct {
	Store   Store
	Poster  Poster
	Encoder Encoder
	Now     func() time.Time
	// AllowPrivate allows endpoints that are not public; see URLProblem.
	AllowPrivate bool
	// Added is called after a change of a merchant's endpoints; nil: not called.
	Added func(merchantID int64)
}

// NewService returns a Service.
func NewService(o ServiceOptions) *Service {
	if o.Added == nil {
		o.Added = func(int64) {}
	}
	return &Service{
		store: o.Store, encoder: o.Encoder, courier: courier{o.Poster, o.Now, attemptTimeout}, now: o.Now,
		allowPrivate: o.AllowPrivate, added: o.Added,
	}
}

// URLProblem is the function URLProblem with the settings of the service.
func (s *Service) URLProblem(text string) string { return URLProblem(text, s.allowPrivate) }

// DescriptionProblem returns what is wrong with a description, as a phrase that
// follows the name of the field. It returns "" for a valid one, which may be empty.
func DescriptionProblem(text string) string {
	switch {
	case !utf8.ValidString(text) || len(text) > MaxDescription:
		return "must be text of at most " + number(MaxDescription) + " bytes"
	case strings.ContainsFunc(text, unicode.IsControl):
		return "must be on one line, without control characters"
	}
	return ""
}

// List returns the endpoints of a merchant, by id; those of all merchants if the id is
// 0.
func (s *Service) List(ctx context.Context, merchantID int64) ([]Endpoint, error) {
	return s.store.Webhooks(ctx, merchantID)
}

// Get returns an endpoint, or ErrNotFound.
func (s *Service) Get(ctx context.Context, key Key) (Endpoint, error) {
	return s.store.Webhook(ctx, key)
}

// Deliveries returns up to limit deliveries to an endpoint with ids below before, the
// newest first, or ErrNotFound.
func (s *Service) Deliveries(ctx context.Context, key Key, before int64, limit int) ([]Delivery, error) {
	if _, err := s.store.Webhook(ctx, key); err != nil {
		return nil, err
	}
	return s.store.WebhookDeliveries(ctx, key, before, limit)
}

// DeleteOldDeliveries deletes the deliveries older than DeliveryRetention and returns
// how many it deleted.
func (s *Service) DeleteOldDeliveries(ctx context.Context) (int, error) {
	endpoints, err := s.store.Webhooks(ctx, 0)
	total := 0
	for _, e := range endpoints {
		if err != nil {
			break
		}
		var n int
		n, err = s.store.DeleteWebhookDeliveries(ctx, e.Key, s.now().Add(-DeliveryRetention))
		total += n
	}
	return total, err
}

// testSuffix ends the ids of messages that are no delivery of the feed.
const testSuffix = "_test_"

// Test sends a test event to an endpoint, in any state, and returns what came of it.
// Errors: ErrNotFound, ErrBusy.
func (s *Service) Test(ctx context.Context, key Key) (Delivery, error) {
	now := s.now().UTC()
	body, name, err := s.encoder.Test(now)
	if err != nil {
		return Delivery{}, err
	}
	id := "msg_" + number(key.ID) + testSuffix + number(now.UnixNano())
	return s.sendOne(ctx, key, outgoing{id: id, typeName: name, body: body})
}

// Redeliver sends an event to an endpoint again, in any state, with the same message
// id. It does not move the cursor. Errors: ErrNotFound, ErrBusy, ErrNoEvent.
func (s *Service) Redeliver(ctx context.Context, key Key, event int64) (Delivery, error) {
	if _, err := s.store.Webhook(ctx, key); err != nil {
		return Delivery{}, err
	}
	feed, err := s.store.Events(ctx, key.MerchantID, event-1, 1)
	if err != nil {
		return Delivery{}, err
	}
	if len(feed.Events) == 0 || feed.Events[0].Seq != event {
		return Delivery{}, ErrNoEvent
	}
	m, err := newOutgoing(s.encoder, key, feed.Events[0])
	if err != nil {
		return Delivery{}, err
	}
	return s.sendOne(ctx, key, m)
}

// sendOne sends a message under the lease of the endpoint, so that nothing else is in
// flight to it.
func (s *Service) sendOne(ctx context.Context, key Key, m outgoing) (Delivery, error) {
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
		releaseErr := s.store.ReleaseWebhook(save, lease)
		if errors.Is(err, ErrLeaseLost) {
			err = nil // the endpoint was changed or removed meanwhile; only the log lacks the delivery
		}
		err = errors.Join(err, releaseErr)
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
