package delivery

import (
	"context"
	"time"

	"merchantorders/internal/order"
)

// Store holds endpoints. Every method may return order.ErrUnavailable in addition to the
// errors that it names.
type Store interface {
	// DueEndpoints returns the endpoints of a merchant, of the marketplace, or of all
	// merchants if the id is nil, that have events to deliver now and whose lease is free.
	DueEndpoints(ctx context.Context, merchantID *int64, now time.Time) ([]Due, error)
	// EndpointMerchants returns the merchants, and Marketplace, with endpoints to which events
	// are delivered.
	EndpointMerchants(ctx context.Context) ([]int64, error)
	// LeaseEndpoint takes the lease of an endpoint until a time. It returns ErrNotDue if
	// another Worker has the lease, the endpoint gets no deliveries or has to wait, or its
	// merchant is suspended, and ErrNotFound.
	LeaseEndpoint(ctx context.Context, key Key, now, until time.Time) (Lease, error)
	// BorrowEndpoint is LeaseEndpoint for an endpoint in any state that need not be due.
	BorrowEndpoint(ctx context.Context, key Key, now, until time.Time) (Lease, error)
	// SaveProgress saves what came of a lease, and sets the id of its attempt. It returns
	// ErrLeaseLost if no other request may follow: if the endpoint was changed since the
	// lease, it has saved only the attempt; if the endpoint was removed or another Worker has
	// the lease, nothing; and if the merchant was suspended, everything.
	SaveProgress(ctx context.Context, lease Lease, progress Progress) error
	// ReleaseEndpoint ends a lease, unless another Worker has taken it.
	ReleaseEndpoint(ctx context.Context, lease Lease) error
	// ReleaseEndpoints ends all leases, of instances that do not run any more.
	ReleaseEndpoints(ctx context.Context) error

	// The others are those of order.Store.
	Events(ctx context.Context, merchantID, after int64, limit int) (order.Feed, error)
	MarketEvents(ctx context.Context, after order.MarketCursor, limit int) (order.MarketFeed, error)
	CommitVersion() (version string, ok bool)
}

// Due is an endpoint that has events to deliver.
type Due struct {
	Key
	Failing bool // its last delivery has failed
}

// Lease is the right to deliver to an endpoint. At most one Worker has it.
type Lease struct {
	Cursor
	// To is the endpoint as its sender has it, for example a webhook.Endpoint, as of when the
	// lease was taken.
	To any
	// Number counts the leases of the endpoint. It fences a Worker that has lost its
	// lease: it cannot move the cursor any more.
	Number int64
	// Revision counts the changes of the endpoint by requests. It fences a Worker that
	// does not know the newest one.
	Revision int64
}

// Progress is what a Worker changes of an endpoint: of the cursor, everything but the key,
// the types and the creation time.
type Progress struct {
	Cursor
	// LeaseUntil extends the lease; the zero time ends it.
	LeaseUntil time.Time
	// Attempt is for the log of deliveries; nil: none.
	Attempt *Attempt
	// Failure is set if the endpoint becomes Failed or Failing.
	Failure *Failure
}

// Failure is what is recorded of an endpoint that the service disables or is about to, in
// the transaction that changes its state.
type Failure struct {
	Word  string      // for the reason, in the audit log
	Event order.Event // for the feed of the merchant; zero: none
	Audit order.AuditEntry
}
