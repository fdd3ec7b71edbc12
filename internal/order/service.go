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
	store   Store
	files   Files
	waiters *waiters
	records *recordCounts
	// canceled counts the orders that were canceled because of their deadline.
	canceled atomic.Uint64
	now      func() time.Time
	log      *slog.Logger
	changed  func(merchantID int64) // see OnChange
}

// NewService returns the service over a store and a file storage. now is the
// clock. log gets the problems of background work, which has no caller to
// return an error to.
func NewService(store Store, files Files, now func() time.Time, log *slog.Logger) *Service {
	return &Service{
		store: store, files: files, now: now, log: log, changed: func(int64) {},
		waiters: newWaiters(store, now), records: newRecordCounts(store.CountIdempotencyRecords, now),
	}
}

// OnChange sets a function that is called after each commit of this service that may
// have added events of a merchant. It must return at once. OnChange is called at most
// once, before any change.
func (s *Service) OnChange(changed func(merchantID int64)) { s.changed = changed }

// notify tells those who wait for events of a merchant that there may be some.
func (s *Service) notify(merchantID int64) {
	s.waiters.notify(merchantID)
	s.changed(merchantID)
}

// Now returns the time of the service's clock in whole seconds, UTC.
func (s *Service) Now() time.Time { return s.now().UTC().Truncate(time.Second) }

// Get returns one whole order, or ErrNotFound.
func (s *Service) Get(ctx context.Context, merchantID int64, id Identifier) (Order, error) {
	if !id.Valid() {
		return Order{}, ErrNotFound
	}
	return s.store.Order(ctx, merchantID, id)
}

// Revision returns the legacy id and the revision of an order, or ErrNotFound.
// It costs less than Get: enough to tell whether a client has the current
// version.
func (s *Service) Revision(ctx context.Context, merchantID int64, id Identifier) (legacyID, revision int64, err error) {
	if !id.Valid() {
		return 0, 0, ErrNotFound
	}
	return s.store.Revision(ctx, merchantID, id)
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
func (s *Service) Import(ctx context.Context, batch []Incoming, source Source) ([]ImportResult, error) {
	results, err := s.store.ImportOrders(ctx, batch, Cause{Actor: ActorOperator, Source: source, At: s.Now()})
	for i, result := range results {
		if result.Status == Created {
			s.notify(batch[i].Order.MerchantID)
		}
	}
	return results, err
}

// ImportOne adds one order, as Import does. Errors beside those of Change:
// *ImportError.
func (s *Service) ImportOne(ctx context.Context, incoming Incoming, options ImportOptions) (ImportResult, error) {
	cause := Cause{Actor: ActorOperator, Source: options.Source, At: s.Now()}
	inTx := func(ctx context.Context, fn func(Tx) error) error { return s.inTx(ctx, incoming.Order.MerchantID, fn) }
	return Change(ctx, inTx, options, func(tx Tx) (ImportResult, error) {
		result, err := tx.ImportOrder(ctx, incoming, cause)
		if err == nil && result.Status != Created && result.Status != Unchanged {
			err = &ImportError{result}
		}
		return result, err
	})
}

// ImportOptions are the options of the import of one order.
type ImportOptions = ChangeOptions[ImportResult]
