package delivery

import (
	"context"
	"time"

	"merchantorders/internal/order"
)

// Tx is one transaction that changes the endpoints of a kind, of the type E.
type Tx[E any] interface {
	order.KeyTx
	// Add adds an endpoint and returns its id, or ErrTooMany.
	Add(ctx context.Context, endpoint E) (id int64, err error)
	// Lock returns an endpoint and blocks other changes of it, or ErrNotFound.
	Lock(ctx context.Context, key Key) (E, error)
	// Update stores a locked endpoint. Its lease lasts until the request in flight has ended,
	// but can save nothing any more; see Store.SaveProgress.
	Update(ctx context.Context, endpoint E) error
	// Remove removes a locked endpoint with its deliveries.
	Remove(ctx context.Context, key Key) error
	// NewestEvent returns the number of the newest event of a merchant, or ErrNoMerchant.
	NewestEvent(ctx context.Context, merchantID int64) (int64, error)
	// AppendAudit appends an entry to the audit log of its merchant.
	AppendAudit(ctx context.Context, entry order.AuditEntry) error
}

// Changes makes the changes of the endpoints of a kind. Errors of its methods beside those of
// the function that they call are those of order.Change.
type Changes[E any, T Tx[E]] struct {
	*order.Changes[T]
	changed func(merchantID int64)
}

// NewChanges returns Changes that begin their transactions with a function, and call another
// one after each.
func NewChanges[E any, T Tx[E]](store order.KeyStore, begin func(context.Context, func(T) error) error, now func() time.Time, changed func(merchantID int64)) Changes[E, T] {
	return Changes[E, T]{order.NewChanges(store, begin, now), changed}
}

// Make makes a change in a transaction.
func (c Changes[E, T]) Make(ctx context.Context, caller order.Caller, merchantID int64, options order.Options[E], fn func(T) (E, error)) (E, error) {
	e, err := order.Change(ctx, c.Changes, caller, options, fn)
	if err == nil {
		c.changed(merchantID)
	}
	return e, err
}

// Update changes a locked endpoint with a function that returns the entry of the audit log.
// It may return ErrNotFound.
func (c Changes[E, T]) Update(ctx context.Context, caller order.Caller, key Key, options order.Options[E], fn func(T, *E) (order.AuditEntry, error)) (E, error) {
	return c.locked(ctx, caller, key, options, fn, func(tx T, e E) error { return tx.Update(ctx, e) })
}

// Remove removes a locked endpoint with its deliveries, unless a function, which returns the
// entry of the audit log, refuses it. It may return ErrNotFound.
func (c Changes[E, T]) Remove(ctx context.Context, caller order.Caller, key Key, options order.Options[E], fn func(E) (order.AuditEntry, error)) (E, error) {
	return c.locked(ctx, caller, key, options, func(_ T, e *E) (order.AuditEntry, error) { return fn(*e) }, func(tx T, _ E) error { return tx.Remove(ctx, key) })
}

func (c Changes[E, T]) locked(ctx context.Context, caller order.Caller, key Key, options order.Options[E], fn func(T, *E) (order.AuditEntry, error), save func(T, E) error) (E, error) {
	return c.Make(ctx, caller, key.MerchantID, options, func(tx T) (E, error) {
		e, err := tx.Lock(ctx, key)
		if err != nil {
			return e, err
		}
		entry, err := fn(tx, &e)
		if err == nil {
			err = save(tx, e)
		}
		if err == nil {
			err = tx.AppendAudit(ctx, entry)
		}
		return e, err
	})
}
