package webhook

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"sync/atomic"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/order"
)

// Store holds endpoints and their deliveries. Every method may return
// order.ErrUnavailable in addition to the errors that it names.
type Store interface {
	delivery.Store
	order.Reader
	order.KeyStore
	// Webhooks returns the endpoints of a merchant or of the marketplace, by id.
	Webhooks(ctx context.Context, merchantID int64) ([]Endpoint, error)
	// WebhookPage returns up to limit endpoints of all merchants and of the marketplace
	// with ids above after, by id, in a state, or in any state if it is 0.
	WebhookPage(ctx context.Context, state delivery.State, after int64, limit int) ([]Endpoint, error)
	// Webhook returns an endpoint, or delivery.ErrNotFound.
	Webhook(ctx context.Context, key delivery.Key) (Endpoint, error)
	// WebhookDeliveries returns up to limit deliveries to an endpoint with ids below
	// before, the newest first.
	WebhookDeliveries(ctx context.Context, key delivery.Key, before int64, limit int) ([]delivery.Attempt, error)
	// OrderDeliveries returns up to limit deliveries of the events of an order, to any
	// endpoint of its merchant, the newest first.
	OrderDeliveries(ctx context.Context, merchantID, legacyID int64, limit int) ([]delivery.Attempt, error)
	// DeleteWebhookDeliveries deletes the deliveries to an endpoint from before a time
	// and returns how many it deleted.
	DeleteWebhookDeliveries(ctx context.Context, key delivery.Key, before time.Time) (int, error)
	// InWebhookTx runs fn in one transaction; see order.Store.InTx.
	InWebhookTx(ctx context.Context, fn func(Tx) error) error
	// MarketEnd is that of order.Store.
	MarketEnd(ctx context.Context) (order.MarketFeed, error)
}

// Tx is one transaction that changes endpoints.
type Tx = delivery.Tx[Endpoint]

// Service manages endpoints, and is the sender of their kind. All that it holds of its own are
// counts, so any number of services can work on one store.
type Service struct {
	Options
	changes  delivery.Changes[Endpoint, Tx]
	inFlight atomic.Int64 // requests
	results  *delivery.Counts
}

// Options are what a Service works with.
type Options struct {
	Store   Store
	Poster  Poster
	Encoder Encoder
	Now     func() time.Time
	Log     *slog.Logger
	// AllowPrivate allows endpoints that are not public; see URLProblem.
	AllowPrivate bool
	// Changed is called after a change of a merchant's endpoints; nil: not called.
	Changed func(merchantID int64)

	// The others have defaults.
	Attempt time.Duration // limit of one request
	Slots   [2]int        // see maxHealthy and maxSlow
}

const (
	// attemptTimeout bounds one request to an endpoint.
	attemptTimeout = 10 * time.Second
	// maxHealthy is to how many endpoints the service delivers at once, and maxSlow to how many
	// of those that were slow or have failed.
	maxHealthy = 128
	maxSlow    = 32
	// PageEvents is how many events an endpoint gets at most until others follow. Those of a
	// batch are less apart.
	PageEvents = 100
)

// acknowledged is the result of a delivery without an error.
const acknowledged = "acknowledged"

// NewService returns a Service.
func NewService(o Options) *Service {
	o.Attempt = cmp.Or(o.Attempt, attemptTimeout)
	o.Slots[0], o.Slots[1] = cmp.Or(o.Slots[0], maxHealthy), cmp.Or(o.Slots[1], maxSlow)
	if o.Changed == nil {
		o.Changed = func(int64) {}
	}
	return &Service{Options: o, changes: delivery.NewChanges(o.Store, o.Store.InWebhookTx, o.Now, o.Changed), results: delivery.NewCounts(append(Errors, acknowledged)...)}
}

// URLProblem is the function URLProblem with the settings of the service.
func (s *Service) URLProblem(text string) string { return URLProblem(text, s.AllowPrivate) }

// DescriptionProblem returns what is wrong with a description, as a phrase that
// follows the name of the field. It returns "" for a valid one, which may be empty.
func DescriptionProblem(text string) string {
	return order.LineProblem(text, MaxDescription, order.Bytes)
}

// List returns the webhooks of a merchant or of the marketplace, by id, or delivery.ErrNoMerchant.
func (s *Service) List(ctx context.Context, merchantID int64) ([]Endpoint, error) {
	endpoints, err := s.Store.Webhooks(ctx, merchantID)
	if err != nil || len(endpoints) > 0 || merchantID == delivery.Marketplace {
		return endpoints, err
	}
	feed, err := s.Store.Events(ctx, merchantID, math.MaxInt64, 1)
	if err == nil && feed.History == "" { // the feed of every merchant has one
		err = delivery.ErrNoMerchant
	}
	return nil, err
}

// Page returns up to limit webhooks of all merchants and of the marketplace with ids
// above after, by id, in a state, or in any state if it is 0.
func (s *Service) Page(ctx context.Context, state delivery.State, after int64, limit int) ([]Endpoint, error) {
	return s.Store.WebhookPage(ctx, state, after, limit)
}

// Get returns an endpoint, or delivery.ErrNotFound.
func (s *Service) Get(ctx context.Context, key delivery.Key) (Endpoint, error) {
	return s.Store.Webhook(ctx, key)
}

// Deliveries returns up to limit deliveries to an endpoint with ids below before, the
// newest first, or delivery.ErrNotFound.
func (s *Service) Deliveries(ctx context.Context, key delivery.Key, before int64, limit int) ([]delivery.Attempt, error) {
	if _, err := s.Store.Webhook(ctx, key); err != nil {
		return nil, err
	}
	return s.Store.WebhookDeliveries(ctx, key, before, limit)
}

// OrderDeliveries returns the newest MaxOrderDeliveries deliveries of the events of an
// order, the newest first. There are none if the order does not exist.
func (s *Service) OrderDeliveries(ctx context.Context, merchantID, legacyID int64) ([]delivery.Attempt, error) {
	return s.Store.OrderDeliveries(ctx, merchantID, legacyID, MaxOrderDeliveries)
}

// DeleteOldDeliveries deletes the deliveries older than DeliveryRetention and returns
// how many it deleted.
func (s *Service) DeleteOldDeliveries(ctx context.Context) (int, error) {
	endpoints, err := s.Store.WebhookPage(ctx, 0, 0, math.MaxInt32)
	total := 0
	for _, e := range endpoints {
		if err != nil {
			break
		}
		var n int
		n, err = s.Store.DeleteWebhookDeliveries(ctx, e.Key, s.Now().Add(-DeliveryRetention))
		total += n
	}
	return total, err
}
