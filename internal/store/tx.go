package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"merchantorders/internal/order"
)

// mostTries is how often a transaction is begun before its error is given up
// to the caller, where the database asks for it to be run again.
const mostTries = 10

// tx is one writing transaction. It implements order.Tx.
type tx struct {
	sql     *sql.Tx
	db      *DB
	missing []string // texts that the pool has not prepared yet
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
	begun, err := db.write.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	t := &tx{sql: begun, db: db}
	defer func() {
		// After a commit this does nothing; after an error or a panic it undoes all.
		_ = begun.Rollback()
		t.prepareMissing(ctx)
	}()
	if err := fn(t); err != nil {
		return err
	}
	if err := begun.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// statement returns the statement of a text in this transaction. One that the
// pool does not have yet is prepared for this transaction alone: the pool
// cannot prepare it now, since its only connection may be the one in use.
func (t *tx) statement(ctx context.Context, text string) (*sql.Stmt, error) {
	if statement, ok := t.db.write.statements.Load(text); ok {
		return t.sql.StmtContext(ctx, statement.(*sql.Stmt)), nil
	}
	t.missing = append(t.missing, text)
	return t.sql.PrepareContext(ctx, text)
}

// prepareMissing gives the pool, after the transaction, what it had not. An
// error is of no consequence: the next transaction tries again.
func (t *tx) prepareMissing(ctx context.Context) {
	for _, text := range t.missing {
		_, _ = t.db.write.prepared(ctx, text)
	}
}

func (t *tx) exec(ctx context.Context, text string, args ...any) (sql.Result, error) {
	statement, err := t.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return statement.ExecContext(ctx, args...)
}

func (t *tx) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	statement, err := t.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return statement.QueryContext(ctx, args...)
}

func (t *tx) row(ctx context.Context, text string, args []any, into ...any) error {
	statement, err := t.statement(ctx, text)
	if err != nil {
		return err
	}
	return statement.QueryRowContext(ctx, args...).Scan(into...)
}

// must turns a statement that has to change one row, and did not, into an
// error: the data is not what the code takes it for.
func must(did bool, err error) error {
	if err == nil && !did {
		return errors.New("a row that was there is not")
	}
	return err
}

// plainTx runs statements in a transaction without keeping them prepared.
type plainTx struct{ *sql.Tx }

func (t plainTx) exec(ctx context.Context, text string, args ...any) (sql.Result, error) {
	return t.ExecContext(ctx, text, args...)
}

func (t plainTx) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	return t.QueryContext(ctx, text, args...)
}

func (t plainTx) row(ctx context.Context, text string, args []any, into ...any) error {
	return t.QueryRowContext(ctx, text, args...).Scan(into...)
}
