package store

import (
	"context"
	"database/sql"
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
		if err = db.tryTx(ctx, fn); err == nil || !db.dialect.again(err) {
			break
		}
	}
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		// database/sql itself ends a transaction with its context, and what fails
		// after that says only that the transaction is over.
		err = fmt.Errorf("%w: %w", err, ctx.Err())
	}
	return db.failure(err)
}

func (db *DB) tryTx(ctx context.Context, fn func(*tx) error) error {
	begun, err := db.begin(ctx)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	statements, ended := db.write.in(begun)
	defer func() {
		// After a commit this does nothing; after an error or a panic it undoes all.
		_ = begun.Rollback()
		ended(ctx)
	}()
	if err := fn(&tx{run: statements, db: db}); err != nil {
		return err
	}
	if err := begun.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// begin begins a transaction. Where somebody else is writing it tries again,
// until ctx ends or patience is over.
func (db *DB) begin(ctx context.Context) (*sql.Tx, error) {
	begun, err := db.write.db.BeginTx(ctx, nil)
	if err == nil || !db.dialect.locked(err) {
		return begun, err
	}
	waiting, cancel := context.WithTimeout(ctx, db.dialect.patience)
	defer cancel()
	for err != nil && db.dialect.locked(err) && waiting.Err() == nil {
		begun, err = db.write.db.BeginTx(ctx, nil)
	}
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return begun, err
}

// must turns a statement that has to change one row, and did not, into an
// error: the data is not what the code takes it for.
func must(did bool, err error) error {
	if err == nil && !did {
		return errors.New("a row that was there is not")
	}
	return err
}
