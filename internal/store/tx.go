package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"merchantorders/internal/order"
)

// mostTries is how often a transaction is begun before its error is given up
// to the caller, where the database asks for it to be run again.
const mostTries = 10

// tx is one writing transaction. It implements order.Tx.
type tx struct {
	run
	db *DB
}

// InTx implements order.Store.
func (db *DB) InTx(ctx context.Context, fn func(order.Tx) error) error {
	return db.inTx(ctx, "change", func(t *tx) error { return fn(t) })
}

// inTx runs fn in a transaction, again if the database asks for it, within the
// time that one change may take.
func (db *DB) inTx(ctx context.Context, operation string, fn func(*tx) error) error {
	return db.inTxWithin(ctx, db.dialect.changeLimit, operation, fn)
}

// inTxWithin is inTx with a limit, 0 for none, for all of it: waiting for a
// connection and for locks, every statement, the commit. A commit that is cut
// off may have happened or not; its error is order.ErrUnavailable, never nil.
func (db *DB) inTxWithin(ctx context.Context, limit time.Duration, operation string, fn func(*tx) error) error {
	defer db.timed(operation)()
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	var err error
	for range mostTries {
		err = db.conns.change(ctx, func(r run) error { return fn(&tx{run: r, db: db}) })
		if err == nil || !db.dialect.again(err) {
			break
		}
	}
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		// What fails once the time is over need not say that it is for that.
		err = fmt.Errorf("%w: %w", err, ctx.Err())
	}
	return db.failure(err)
}

// must turns a statement that has to change one row, and did not, into an
// error: the data is not what the code takes it for.
func must(did bool, err error) error {
	if err == nil && !did {
		return errors.New("a row that was there is not")
	}
	return err
}
