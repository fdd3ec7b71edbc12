package store

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/token"
)

// Options are what a database does not bring itself. The zero value works.
type Options struct {
	// Observe gets the name of each operation and the time it took; nil: nobody
	// wants to know.
	Observe func(operation string, took time.Duration)
	// Now is the clock by which operations are timed; nil: the machine's.
	Now func() time.Time
	// Log gets what is no operation's result; nil: nothing is logged.
	Log *slog.Logger
}

// DB is an open database.
type DB struct {
	conns   connections
	dialect dialect
	options Options
	counts  *countCache
	names   sync.Map // merchant's id -> string
}

var (
	_ order.Store = (*DB)(nil)
	_ token.Store = (*DB)(nil)
)

func newDB(conns connections, dialect dialect, options Options) *DB {
	if options.Observe == nil {
		options.Observe = func(string, time.Duration) {}
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	return &DB{
		conns: conns, dialect: dialect,
		options: options, counts: newCountCache(),
	}
}

// Ping returns an error when the database is out of reach.
func (db *DB) Ping(ctx context.Context) error {
	return db.failure(db.conns.ping(ctx))
}

// Close lets go of the database. Nothing may be under way.
func (db *DB) Close() error { return db.conns.close() }

// timed notes how long an operation took, from the call to that of its result.
func (db *DB) timed(operation string) func() {
	start := db.options.Now()
	return func() { db.options.Observe(operation, db.options.Now().Sub(start)) }
}

// failure adds order.ErrUnavailable to an error that means so: the database is
// out of reach, or asked too often for a transaction to be run again.
func (db *DB) failure(err error) error {
	if err != nil && (db.dialect.unavailable(err) || db.dialect.again(err)) {
		return fmt.Errorf("%w: %w", order.ErrUnavailable, err)
	}
	return err
}

// seconds is a time as it is stored; nil for the zero time.
func seconds(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Unix()
}

// timeOf is the time that is stored; the zero time for NULL.
func timeOf(s sql.NullInt64) time.Time {
	if !s.Valid {
		return time.Time{}
	}
	return time.Unix(s.Int64, 0).UTC()
}
