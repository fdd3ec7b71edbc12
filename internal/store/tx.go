package store

import (
	"context"
	"errors"
	"fmt"

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

// inTx runs fn in a transaction, again if the database asks for it.
func (db *DB) inTx(ctx context.Context, operation string, fn func(*tx) error) error {
	defer db.timed(operation)()
	var err error
	for range mostTries {
		if err = db.tryTx(ctx, fn); err == nil || !db.dialect.again(err) {
			break
		}
	}
	return db.failure(err)
}

func (db *DB) tryTx(ctx context.Context, fn func(*tx) error) error {
	begun, err := db.write.db.BeginTx(ctx, nil)
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

// must turns a statement that has to change one row, and did not, into an
// error: the data is not what the code takes it for.
func must(did bool, err error) error {
	if err == nil && !did {
		return errors.New("a row that was there is not")
	}
	return err
}
