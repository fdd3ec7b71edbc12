package store

import (
	"context"
	"merchantorders/internal/token"
	"reflect"
)

// run is what statements are run on: the connections of a database, or one
// transaction.
type run interface {
	// exec returns how many rows it changed.
	exec(ctx context.Context, text string, args ...any) (int64, error)
	query(ctx context.Context, text string, args ...any) (result, error)
	// row reads one row into variables; sql.ErrNoRows when there is none.
	row(ctx context.Context, text string, args []any, into ...any) error
	// bounded returns the context of a query, which ends when the database has
	// had its time to answer. The others see to that by themselves.
	bounded(ctx context.Context) (context.Context, context.CancelFunc)
	// patient returns the same without the limit that is set for requests, for
	// statements that may go through everything a merchant has.
	patient() run
}

// result is what a query found, as *sql.Rows has it. Text and bytes that Scan
// gives to sql.RawBytes are good until the next call.
type result interface {
	Next() bool
	Scan(into ...any) error
	Err() error
	Close() error
}

// connections are the connections to a database.
type connections interface {
	run // outside of transactions
	// change runs fn in one transaction that writes. It is committed, and
	// durable, when fn and change return nil, and undone otherwise.
	change(ctx context.Context, fn func(run) error) error
	// snapshot runs fn in a transaction that reads one moment and sees no
	// change of others.
	snapshot(ctx context.Context, fn func(run) error) error
	// known returns what a token grants now where that needs no statement.
	known(hash token.Hash) (token.Grant, bool)
	// grant returns what a token grants now, or sql.ErrNoRows.
	grant(ctx context.Context, hash token.Hash) (token.Grant, error)
	// ping returns an error when the database cannot be read or written to.
	ping(ctx context.Context) error
	close() error
}

// each calls scan for every row of a query.
func each(ctx context.Context, r run, text string, args []any, scan func(result) error) error {
	ctx, cancel := r.bounded(ctx)
	defer cancel()
	found, err := r.query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() { _ = found.Close() }()
	for found.Next() {
		if err := scan(found); err != nil {
			return err
		}
	}
	return found.Err()
}

// all reads rows, each turned into a value.
func all[T any](ctx context.Context, r run, text string, args []any, scan func(result) (T, error)) ([]T, error) {
	var found []T
	err := each(ctx, r, text, args, func(rows result) error {
		value, err := scan(rows)
		found = append(found, value)
		return err
	})
	return found, err
}

// changed turns how many rows a statement changed into whether it did.
func changed(n int64, err error) (bool, error) { return n > 0, err }

// setNumber puts a number into a variable of a type of the domain; false where
// it cannot be.
func setNumber(pointer reflect.Value, n int64) bool {
	if pointer.Kind() != reflect.Pointer {
		return false
	}
	variable := pointer.Elem()
	switch {
	case variable.CanInt() && !variable.OverflowInt(n):
		variable.SetInt(n)
	case variable.CanUint() && n >= 0 && !variable.OverflowUint(uint64(n)):
		variable.SetUint(uint64(n))
	default:
		return false
	}
	return true
}
