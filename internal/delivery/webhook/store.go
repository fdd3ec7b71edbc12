package webhook

import (
	"context"
	"time"

	"merchantorders/internal/order"
)

// Store holds endpoints and their deliveries. Every method may return
// order.ErrUnavailable in addition to the errors that it names.
type Store interface {
	order.Reader
	order.KeyStore
	// Webhooks returns the webhooks of a merchant or of the marketplace, or the e-mail
	// addresses of a merchant, by id.
	Webhooks(ctx context.Context, merchantID int64, mail bool) ([]Endpoint, error)
	// WebhookPage returns up to limit webhooks of all merchants and of the marketplace
	// with ids above after, by id, in a state, or in any state if it is 0.
	WebhookPage(ctx context.Context, state State, after int64, limit int) ([]Endpoint, error)
	// Webhook returns an endpoint, or ErrNotFound.
	Webhook(ctx context.Context, key Key) (Endpoint, error)
	// WebhookDeliveries returns up to limit deliveries to an endpoint with ids below
	// before, the newest first.
	WebhookDeliveries(ctx context.Context, key Key, before int64, limit int) ([]Delivery, error)
	// OrderDeliveries returns up to limit deliveries of the events of an order, to any
	// endpoint of its merchant, the newest first.
	OrderDeliveries(ctx context.Context, merchantID, legacyID int64, limit int) ([]OrderDelivery, error)
	// DeleteWebhookDeliveries deletes the deliveries to an endpoint from before a time
	// and returns how many it deleted.
	DeleteWebhookDeliveries(ctx context.Context, key Key, before time.Time) (int, error)
	// InWebhookTx runs fn in one transaction; see order.Store.InTx.
	InWebhookTx(ctx context.Context, fn func(Tx) error) error

	// DueWebhooks returns the endpoints of a merchant, of the marketplace, or of all
	// merchants if the id is nil, that have events to deliver now and whose lease is free.
	DueWebhooks(ctx context.Context, merchantID *int64, now time.Time) ([]Due, error)
	// WebhookMerchants returns the merchants, and Marketplace, with endpoints to which events
	// are delivered.
	WebhookMerchants(ctx context.Context) ([]int64, error)
	// LeaseWebhook takes the lease of an endpoint until a time. It returns ErrNotDue if
	// another Sender has the lease, the endpoint gets no deliveries or has to wait, or its
	// merchant is suspended, and ErrNotFound.
	LeaseWebhook(ctx context.Context, key Key, now, until time.Time) (Lease, error)
	// BorrowWebhook is LeaseWebhook for an endpoint in any state that need not be due.
	BorrowWebhook(ctx context.Context, key Key, now, until time.Time) (Lease, error)
	// SaveProgress saves what came of a lease, with a delivery, whose id it sets, unless
	// it is nil. It returns ErrLeaseLost if no other request may follow: if the endpoint
	// was changed since the lease, it has saved only the delivery; if the endpoint was
	// removed or another Sender has the lease, nothing; and if the merchant was suspended,
	// everything.
	SaveProgress(ctx context.Context, lease Lease, progress Progress, delivery *Delivery) error
	// LastMail returns when the newest digest to any address was sent; zero: never.
	LastMail(ctx context.Context) (time.Time, error)
	// ReleaseWebhook ends a lease, unless another Sender has taken it.
	ReleaseWebhook(ctx context.Context, lease Lease) error
	// ReleaseWebhooks ends all leases, of instances that do not run any more.
	ReleaseWebhooks(ctx context.Context) error

	// The others are those of order.Store.
	Events(ctx context.Context, merchantID, after int64, limit int) (order.Feed, error)
	MarketEvents(ctx context.Context, after order.MarketCursor, limit int) (order.MarketFeed, error)
	Merchants(ctx context.Context, filter order.MerchantFilter) ([]order.Merchant, error)
	MarketEnd(ctx context.Context) (order.MarketFeed, error)
	CommitVersion() (version string, ok bool)
}

// Tx is one transaction that changes endpoints.
type Tx interface {
	order.KeyTx
	// AddWebhook adds an endpoint and returns its id. It returns ErrTooMany, or
	// ErrAddressExists for an e-mail address that the merchant has.
	AddWebhook(ctx context.Context, endpoint Endpoint) (id int64, err error)
	// LockWebhook returns an endpoint and blocks other changes of it, or ErrNotFound.
	LockWebhook(ctx context.Context, key Key) (Endpoint, error)
	// UpdateWebhook stores everything but the key and the creation time of a locked
	// endpoint. Its lease lasts until the request in flight has ended, but can save
	// nothing any more; see SaveProgress.
	UpdateWebhook(ctx context.Context, endpoint Endpoint) error
	// RemoveWebhook removes a locked endpoint with its deliveries.
	RemoveWebhook(ctx context.Context, key Key) error
	// Links returns what a merchant has sent to its e-mail addresses after a time, by the
	// audit entries: those with a detail, and all.
	Links(ctx context.Context, merchantID int64, detail string, after time.Time) (Links, error)
	// NewestEvent returns the number of the newest event of a merchant.
	NewestEvent(ctx context.Context, merchantID int64) (int64, error)
	// Audit appends an entry to the audit log of its merchant.
	Audit(ctx context.Context, entry order.AuditEntry) error
}

// Due is an endpoint that has events to deliver.
type Due struct {
	Key
	Failing bool // its last delivery has failed
}

// Lease is the right to deliver to an endpoint. At most one Sender has it.
type Lease struct {
	Endpoint
	// Number counts the leases of the endpoint. It fences a Sender that has lost its
	// lease: it cannot move the cursor any more.
	Number int64
	// Revision counts the changes of the endpoint by requests. It fences a Sender that
	// does not know the newest one.
	Revision int64
}

// Progress is what a Sender changes of an endpoint.
type Progress struct {
	Acknowledged              order.MarketCursor
	State                     State
	Reason                    string
	StateSet                  time.Time
	Failures                  int
	FailingSince, NextAttempt time.Time
	Held                      []Held
	SentAt                    time.Time
	DigestEnd                 int64
	// LeaseUntil extends the lease; the zero time ends it.
	LeaseUntil time.Time
	// Failure is set if the endpoint becomes Failed or Failing.
	Failure *Failure
}

// Failure is what is recorded of an endpoint that the service disables or is about to, in
// the transaction that changes its state.
type Failure struct {
	Event order.Event // for the feed of the merchant; zero: none
	Audit order.AuditEntry
}

// progress returns the Progress that changes nothing and ends the lease.
func (e Endpoint) progress() Progress {
	return Progress{
		Acknowledged: e.Acknowledged, State: e.State, Reason: e.Reason, StateSet: e.StateSet,
		Failures: e.Failures, FailingSince: e.FailingSince, NextAttempt: e.NextAttempt, Held: e.Held, SentAt: e.SentAt, DigestEnd: e.DigestEnd,
	}
}

// apply returns the endpoint after a Progress.
func (e Endpoint) apply(p Progress) Endpoint {
	e.Acknowledged, e.State, e.Reason, e.StateSet = p.Acknowledged, p.State, p.Reason, p.StateSet
	e.Failures, e.FailingSince, e.NextAttempt, e.Held, e.SentAt, e.DigestEnd = p.Failures, p.FailingSince, p.NextAttempt, p.Held, p.SentAt, p.DigestEnd
	return e
}
