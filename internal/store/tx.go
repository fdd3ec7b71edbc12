package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// tx is a transaction that writes. It implements order.Tx.
type tx struct {
	sqldb.Querier
	db          *DB
	limit       *txLimit
	lockedOrder int64                          // legacy id of the last order that was locked; 0: none
	ahead       map[orderKey]order.LockedOrder // locked by LockOrders and not asked for yet
	records     []*merchantRecords
	// changed collects the merchants whose events were written, at every attempt.
	changed *[]int64
}

// InTx implements order.Store.
func (db *DB) InTx(ctx context.Context, fn func(order.Tx) error) error {
	return db.inTx(ctx, "change", func(t *tx) error { return fn(t) })
}

// inTx runs fn in a transaction, writes the records of its changes, and retries both if
// the database asks for that. A limit that grows with the orders of the transaction is
// that of the whole: the wait for a connection and for locks, all statements and the
// commit. A commit that the limit interrupts may have happened or not; its error is
// order.ErrUnavailable, never nil.
func (db *DB) inTx(ctx context.Context, operation string, fn func(*tx) error) (err error) {
	defer db.observe(&ctx, operation)(&err)
	ctx, limit := limitTx(ctx, db.dialect)
	defer limit.stop()
	var changed []int64
	err = sqldb.RetryTx(ctx, db.sql, func(q sqldb.Querier) error {
		t := &tx{Querier: q, db: db, limit: limit, changed: &changed}
		if err := fn(t); err != nil {
			return err
		}
		return t.writeRecords(ctx)
	})
	db.onEvents.notify(changed)
	if err != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		// The error of a statement need not say that it failed for this reason.
		err = fmt.Errorf("%w: %w", err, context.Cause(ctx))
	}
	return db.wrap(err)
}

// txLimit is the time limit of a transaction.
type txLimit struct {
	timer    *time.Timer // nil: there is no limit
	ends     time.Time
	perOrder time.Duration
	stop     func()
}

// limitTx returns a context with the limit of a transaction without orders.
func limitTx(ctx context.Context, d *sqldb.Dialect) (context.Context, *txLimit) {
	if d.TxTimeout == 0 {
		return ctx, &txLimit{stop: func() {}}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(d.TxTimeout, func() { cancel(context.DeadlineExceeded) })
	return ctx, &txLimit{
		timer: timer, ends: time.Now().Add(d.TxTimeout), perOrder: d.TxTimeoutPerOrder,
		stop: func() { timer.Stop(); cancel(nil) },
	}
}

// extend adds the time for more orders.
func (l *txLimit) extend(orders int) {
	if l.timer != nil && l.timer.Stop() {
		l.ends = l.ends.Add(time.Duration(orders) * l.perOrder)
		l.timer.Reset(time.Until(l.ends))
	}
}

// OnEvents implements order.Store.
func (db *DB) OnEvents(notify func(merchantID int64)) { db.onEvents.add(notify) }

// subscribers are the functions of OnEvents.
type subscribers struct {
	mu  sync.RWMutex
	all []func(merchantID int64)
}

func (s *subscribers) add(notify func(merchantID int64)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, notify)
}

// notify calls the functions for merchants, of which some may occur more than once.
func (s *subscribers) notify(merchants []int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(merchants) > 1 {
		slices.Sort(merchants)
		merchants = slices.Compact(merchants)
	}
	for _, id := range merchants {
		for _, notify := range s.all {
			notify(id)
		}
	}
}

// errNoRow means that a row is missing that a statement should have changed.
var errNoRow = errors.New("no row was changed where one should have been")

// update runs a statement that must change a row, and whose error says how the caller goes
// on. It returns noRow if it changes none.
func (t *tx) update(ctx context.Context, noRow error, text string, args ...any) error {
	return sqldb.Now(ctx, t, noRow, text, args...)
}

// insert writes rows, whose values are given row by row.
func (t *tx) insert(ctx context.Context, into sqldb.BulkInsert, values []any) error {
	return into.Insert(ctx, t, t.db.dialect, values)
}
