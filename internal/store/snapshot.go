package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// longRead bounds a statement of a snapshot. It may go through everything that
// a merchant has, and nobody waits for it with a request.
const longRead = time.Hour

// Snapshot is one moment of a database, for reading all that is there.
type Snapshot struct {
	run
	db *DB
}

// Snapshot runs fn on one moment of the database. What is changed meanwhile it
// does not see, and it keeps nobody from changing it. The snapshot is good until
// fn returns.
func (db *DB) Snapshot(ctx context.Context, fn func(*Snapshot) error) error {
	defer db.timed("snapshot")()
	begun, err := db.read.db.BeginTx(ctx, &sql.TxOptions{Isolation: db.dialect.snapshot, ReadOnly: true})
	if err != nil {
		return db.failure(fmt.Errorf("begin: %w", err))
	}
	statements, ended := db.read.in(begun)
	defer func() {
		_ = begun.Rollback()
		ended(ctx)
	}()
	if text := db.dialect.unhurried; text != "" {
		if _, err := statements.exec(ctx, text); err != nil {
			return db.failure(fmt.Errorf("begin: %w", err))
		}
	}
	return db.failure(fn(&Snapshot{run: patient(statements), db: db}))
}

// patient returns statements without the limit that is set for requests.
func patient(r run) run {
	if bare, ok := r.(plain); ok {
		bare.limit = longRead
		return bare
	}
	return r
}

// all reads rows, each turned into a value.
func all[T any](ctx context.Context, r run, text string, args []any, scan func(*sql.Rows) (T, error)) ([]T, error) {
	var found []T
	err := each(ctx, r, text, args, func(rows *sql.Rows) error {
		value, err := scan(rows)
		found = append(found, value)
		return err
	})
	return found, err
}
