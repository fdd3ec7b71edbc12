package order

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// RetentionStore finds what is to be erased or deleted. Every method may return
// ErrUnavailable.
type RetentionStore interface {
	Transactor
	// Order and OrderEvents are those of Store.
	Order(ctx context.Context, merchantID int64, id Identifier) (Order, error)
	OrderEvents(ctx context.Context, merchantID int64, id Identifier, after int64, limit int) ([]EventRecord, error)
	// CustomerOrders returns merchant, legacy id, reference and number of files of the
	// orders whose customer has an e-mail address, whatever its letter case.
	CustomerOrders(ctx context.Context, email string) ([]LockedOrder, error)
	// OrdersBefore returns merchant, legacy id and reference of up to limit orders in a final
	// state that were created before a time.
	OrdersBefore(ctx context.Context, before time.Time, limit int) ([]LockedOrder, error)
	// CountOrdersBefore returns how many orders in a final state were created before a time.
	CountOrdersBefore(ctx context.Context, before time.Time) (int64, error)
	// RetentionPeriod returns the period that all instances share.
	RetentionPeriod(ctx context.Context) (RetentionPeriod, error)
	// ChangeRetention reads the period that all instances share, calls fn, and writes it if fn
	// has changed it.
	ChangeRetention(ctx context.Context, fn func(*RetentionPeriod)) error
	// FilesToRemove returns the files of an order that are deleted or expired and
	// still stored.
	FilesToRemove(ctx context.Context, merchantID, legacyID int64) ([]StoredInvoice, error)
	// EraseFileNames replaces the names of the files of an order whose bytes are
	// removed.
	EraseFileNames(ctx context.Context, merchantID, legacyID int64) error
}

// Retention deletes old orders, and erases and exports the personal data of customers. It
// has no state.
type Retention struct {
	store   RetentionStore
	changes *Changes[Tx]
	orders  *Service // removes files
}

// NewRetention returns the retention of a store with orders.
func NewRetention(store RetentionStore, orders *Service) *Retention {
	return &Retention{store: store, changes: NewChanges(store, store.InTx, orders.now), orders: orders}
}

// RetentionPeriod is the age after which orders are deleted, and the clock of the jobs whose work
// nobody can undo.
type RetentionPeriod struct {
	Begun       time.Duration // deletes; 0: none does
	Announced   time.Duration // is shorter, and will delete; 0: none
	AnnouncedAt time.Time     // zero: none is announced
	RanAt       time.Time     // latest time of such a job, or of the newest event before the first; zero: none
	WaitUntil   time.Time     // such jobs wait until then, because the clock was far ahead of RanAt; zero: they run
}

// RetentionNotice is how long a shorter period is announced before it deletes, and how long jobs
// wait whose clock is farAhead of RanAt.
const (
	RetentionNotice = 24 * time.Hour
	farAhead        = 30 * 24 * time.Hour
)

// At returns the period as it is at a time. A clock that is far ahead of RanAt may be wrong; or the
// service was stopped or restored, and merchants had no time to answer. A wait that nobody has seen
// end begins again, because the clock may have changed once more.
func (p RetentionPeriod) At(now time.Time) RetentionPeriod {
	seen := !p.WaitUntil.IsZero() && now.Sub(p.WaitUntil).Abs() <= RetentionNotice
	switch ahead := now.Sub(p.RanAt); {
	case p.RanAt.IsZero(), ahead <= farAhead, seen && !now.Before(p.WaitUntil):
		p.WaitUntil = time.Time{}
		if ahead > time.Hour { // is written, and never set back
			p.RanAt = now
		}
	case !seen:
		p.WaitUntil = now.Add(RetentionNotice)
	}
	return p
}

// CheckClock returns the period as it is now, before a job whose work nobody can undo.
func (r *Retention) CheckClock(ctx context.Context) (RetentionPeriod, error) {
	stored, err := r.store.RetentionPeriod(ctx)
	now := stored.At(r.orders.Now())
	if err == nil && now != stored {
		err = r.store.ChangeRetention(ctx, func(p *RetentionPeriod) { p.RanAt, p.WaitUntil = now.RanAt, now.WaitUntil })
	}
	return now, err
}

// BeginRetention returns when a period begins to delete, which may be in the past: at once if it
// is not shorter than the one before or is confirmed, and otherwise after RetentionNotice. A
// period of another length meanwhile begins the notice again.
func (r *Retention) BeginRetention(ctx context.Context, period time.Duration, confirmed bool) (begins time.Time, err error) {
	now := r.orders.Now()
	err = r.store.ChangeRetention(ctx, func(p *RetentionPeriod) {
		begins = now
		if p.Begun == 0 || period < p.Begun {
			if p.Announced != period {
				p.Announced, p.AnnouncedAt = period, now
			}
			if !confirmed {
				begins = p.AnnouncedAt.Add(RetentionNotice)
			}
		}
		if !begins.After(now) {
			p.Begun, p.Announced, p.AnnouncedAt = period, 0, time.Time{}
		}
	})
	return begins, err
}

// Period returns the period that all instances share.
func (r *Retention) Period(ctx context.Context) (RetentionPeriod, error) {
	return r.store.RetentionPeriod(ctx)
}

// CountOldOrders returns how many orders DeleteOldOrders would delete.
func (r *Retention) CountOldOrders(ctx context.Context, before time.Time) (int64, error) {
	return r.store.CountOrdersBefore(ctx, before)
}

// DeleteOldOrders deletes the orders in a final state that were created before a time, with
// their files. Their events stay, so that the numbers of events have no
// gaps, and their references and legacy ids are not used again. It returns how many
// orders it deleted. It may be interrupted, and be run by several instances at a time.
func (r *Retention) DeleteOldOrders(ctx context.Context, before time.Time) (int, error) {
	deleted := 0
	for {
		batch, err := r.store.OrdersBefore(ctx, before, retentionBatch)
		if err != nil {
			return deleted, err
		}
		progress := 0
		var failures error
		for _, o := range batch {
			if err := ctx.Err(); err != nil {
				return deleted, err
			}
			done, err := r.deleteOrder(ctx, o)
			if err != nil {
				failures = errors.Join(failures, fmt.Errorf("order %s: %w", o.Reference, err))
			}
			if done {
				progress++
			}
		}
		deleted += progress
		// Without progress the next batch would be the same.
		if failures != nil || len(batch) < retentionBatch || progress == 0 {
			return deleted, failures
		}
	}
}

// retentionBatch is how many old orders are read at a time.
const retentionBatch = 100

// deleteOrder deletes an order: its files first, because nothing finds them without the
// order. It returns false if another instance was faster, or while a file is uploaded.
func (r *Retention) deleteOrder(ctx context.Context, o LockedOrder) (bool, error) {
	cause := Cause{By: System(), At: r.orders.Now()}
	_, err := Change(ctx, r.changes, cause.By, Options[int]{}, func(tx Tx) (int, error) {
		locked, err := tx.LockOrder(ctx, o.MerchantID, ByLegacyID(o.LegacyID))
		if err != nil || locked.ActiveInvoices == 0 {
			return 0, err
		}
		return deleteAll(ctx, tx, locked, cause)
	})
	if err == nil {
		_, err = r.removeFiles(ctx, o)
	}
	deleted := false
	if err == nil {
		deleted, err = Change(ctx, r.changes, cause.By, Options[bool]{}, func(tx Tx) (bool, error) {
			locked, err := tx.LockOrder(ctx, o.MerchantID, ByLegacyID(o.LegacyID))
			if err != nil || !locked.State.Final() {
				return false, err
			}
			return tx.DeleteOrder(ctx, locked, cause)
		})
	}
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return deleted, err
}
