package webhook

import (
	"context"
	"math"
	"time"

	"merchantorders/internal/order"
)

// Service manages endpoints. It has no state, so any number of services can work on
// one store.
type Service struct {
	store        Store
	changes      *order.Changes[Tx]
	encoder      Encoder
	attempter    attempter
	now          func() time.Time
	allowPrivate bool
	mailer       Mailer
	texts        MailTexts
	added        func(merchantID int64)
}

// ServiceOptions are what a Service works with.
type ServiceOptions struct {
	Store   Store
	Poster  Poster
	Encoder Encoder
	Now     func() time.Time
	Mailer  Mailer // nil: there are no e-mails
	Texts   MailTexts
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
		store: o.Store, changes: order.NewChanges(o.Store, o.Store.InWebhookTx, o.Now), encoder: o.Encoder, attempter: attempter{o.Poster, o.Now, attemptTimeout}, now: o.Now,
		allowPrivate: o.AllowPrivate, mailer: o.Mailer, texts: o.Texts, added: o.Added,
	}
}

// URLProblem is the function URLProblem with the settings of the service.
func (s *Service) URLProblem(text string) string { return URLProblem(text, s.allowPrivate) }

// DescriptionProblem returns what is wrong with a description, as a phrase that
// follows the name of the field. It returns "" for a valid one, which may be empty.
func DescriptionProblem(text string) string {
	return order.LineProblem(text, MaxDescription, order.Bytes)
}

// List returns the webhooks of a merchant or of the marketplace, by id, or ErrNoMerchant.
func (s *Service) List(ctx context.Context, merchantID int64) ([]Endpoint, error) {
	endpoints, err := s.store.Webhooks(ctx, merchantID, false)
	if err != nil || len(endpoints) > 0 || merchantID == Marketplace {
		return endpoints, err
	}
	feed, err := s.store.Events(ctx, merchantID, math.MaxInt64, 1)
	if err == nil && feed.History == "" { // the feed of every merchant has one
		err = ErrNoMerchant
	}
	return nil, err
}

// Page returns up to limit webhooks of all merchants and of the marketplace with ids
// above after, by id, in a state, or in any state if it is 0.
func (s *Service) Page(ctx context.Context, state State, after int64, limit int) ([]Endpoint, error) {
	return s.store.WebhookPage(ctx, state, after, limit)
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

// OrderDeliveries returns the newest MaxOrderDeliveries deliveries of the events of an
// order, the newest first. There are none if the order does not exist.
func (s *Service) OrderDeliveries(ctx context.Context, merchantID, legacyID int64) ([]OrderDelivery, error) {
	return s.store.OrderDeliveries(ctx, merchantID, legacyID, MaxOrderDeliveries)
}

// DeleteOldDeliveries deletes the deliveries older than DeliveryRetention and returns
// how many it deleted.
func (s *Service) DeleteOldDeliveries(ctx context.Context) (int, error) {
	endpoints, err := s.store.WebhookPage(ctx, 0, 0, math.MaxInt32)
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
