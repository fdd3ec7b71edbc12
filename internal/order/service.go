package order

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"
)

// Service implements the rules. Its only state is who waits for events and how many
// idempotency records there are, so any number of services can work on one store.
type Service struct {
	Counts
	store   Store
	changes *Changes[Tx]
	files   Files
	waiters *waiters
	// canceled counts the orders that were canceled because of their deadline, warned the
	// events that it is near.
	canceled, warned atomic.Uint64

	now     func() time.Time
	log     *slog.Logger
	changed func(merchantID int64) // see OnChange
}

// NewService returns the service over a store and a file storage. now is the
// clock. log gets the problems of background work, which has no caller to
// return an error to.
func NewService(store Store, files Files, now func() time.Time, log *slog.Logger) *Service {
	s := &Service{
		Counts: store, store: store, changes: NewChanges(store, store.InTx, now), files: files, now: now, log: log, changed: func(int64) {},
		waiters: newWaiters(store, now),
	}
	store.OnEvents(s.notify)
	return s
}

// Services are the services of the domain.
type Services struct {
	Orders    *Service
	Merchants *Merchants
	Audit     *AuditLog
	Links     *Links
	Retention *Retention
}

// NewServices returns the services over one store; see NewService.
func NewServices(store Stores, files Files, now func() time.Time, log *slog.Logger) Services {
	orders := NewService(store, files, now, log)
	return Services{
		Orders: orders, Merchants: NewMerchants(store, now, orders.EndWaits), Audit: NewAuditLog(store),
		Links: NewLinks(store, orders), Retention: NewRetention(store, orders),
	}
}

// OnChange sets a function that is called when the store may have new events of a
// merchant, after the requests that wait for them. It must return at once. OnChange is
// called at most once, before any change.
func (s *Service) OnChange(changed func(merchantID int64)) { s.changed = changed }

// notify tells those who wait for events of a merchant that there may be some. The store
// calls it after each transaction that wrote some, so no change can forget it.
func (s *Service) notify(merchantID int64) {
	s.waiters.notify(merchantID)
	s.changed(merchantID)
}

// Now returns the time of the service's clock in whole seconds, UTC.
func (s *Service) Now() time.Time { return seconds(s.now) }

// EndWaits ends the requests that wait for events of a merchant that is suspended.
func (s *Service) EndWaits(merchantID int64) { s.waiters.end(merchantID) }

// seconds returns the time of a clock in whole seconds, UTC.
func seconds(now func() time.Time) time.Time { return now().UTC().Truncate(time.Second) }

// Get returns one whole order, or ErrNotFound.
func (s *Service) Get(ctx context.Context, merchantID int64, id Identifier) (Order, error) {
	if !id.Valid() {
		return Order{}, ErrNotFound
	}
	return s.store.Order(ctx, merchantID, id)
}

// List returns a page of orders, or ErrInvalidRange.
func (s *Service) List(ctx context.Context, merchantID int64, filter Filter) (Page, error) {
	if err := filter.Normalize(); err != nil {
		return Page{}, err
	}
	return s.store.List(ctx, merchantID, filter)
}

// Import adds a batch of orders (decision 7) and returns one result for each. A
// refused order does not affect the others.
func (s *Service) Import(ctx context.Context, caller Caller, batch []Incoming) ([]ImportResult, error) {
	return s.store.ImportOrders(ctx, batch, Cause{By: caller, At: s.Now()})
}

// Prepare is Store.Prepare.
func (s *Service) Prepare(incoming *Incoming) { s.store.Prepare(incoming) }

// ImportOne adds one order, as Import does. Errors beside those of Change:
// *ImportError.
func (s *Service) ImportOne(ctx context.Context, caller Caller, incoming Incoming, options Options[ImportResult]) (ImportResult, error) {
	return Change(ctx, s.changes, caller, options, func(tx Tx) (ImportResult, error) {
		result, err := tx.ImportOrder(ctx, incoming, Cause{By: caller, At: s.Now()})
		if err == nil && (result.Status == Conflict || result.Status == Invalid) {
			err = &ImportError{result}
		}
		return result, err
	})
}

// Refuse returns the error of a request that is refused because of its form; see
// Changes.Refuse.
func (s *Service) Refuse(ctx context.Context, caller Caller, key Key, refusal error) error {
	return s.changes.Refuse(ctx, caller, key, refusal)
}
