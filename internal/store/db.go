package store

import (
	"context"
	"database/sql"
	"errors"
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
	write   *pool
	read    *pool
	dialect dialect
	options Options
	counts  *countCache
}

var (
	_ order.Store = (*DB)(nil)
	_ token.Store = (*DB)(nil)
)

func newDB(write, read *sql.DB, dialect dialect, options Options) *DB {
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
		write: &pool{DB: write}, read: &pool{DB: read},
		dialect: dialect, options: options, counts: newCountCache(),
	}
}

// Ping returns an error when the database is out of reach.
func (db *DB) Ping(ctx context.Context) error {
	return db.failure(errors.Join(db.read.PingContext(ctx), db.write.PingContext(ctx)))
}

// Close lets go of the database. Nothing may be under way.
func (db *DB) Close() error { return errors.Join(db.read.Close(), db.write.Close()) }

// timed notes how long an operation took, from the call to that of its result.
func (db *DB) timed(operation string) func() {
	start := db.options.Now()
	return func() { db.options.Observe(operation, db.options.Now().Sub(start)) }
}

// failure adds order.ErrUnavailable to an error that means so.
func (db *DB) failure(err error) error {
	if err != nil && db.dialect.unavailable(err) {
		return fmt.Errorf("%w: %w", order.ErrUnavailable, err)
	}
	return err
}

// pool is a set of connections with the statements prepared on them. The texts
// are constants, or made of a few of them, so that their number is bounded.
type pool struct {
	*sql.DB
	statements sync.Map // text -> *sql.Stmt
}

// prepared returns the statement of a text.
func (p *pool) prepared(ctx context.Context, text string) (*sql.Stmt, error) {
	if statement, ok := p.statements.Load(text); ok {
		return statement.(*sql.Stmt), nil
	}
	statement, err := p.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	if kept, raced := p.statements.LoadOrStore(text, statement); raced {
		_ = statement.Close()
		return kept.(*sql.Stmt), nil
	}
	return statement, nil
}

// run is what statements are run on: the connections for reading, or one
// transaction.
type run interface {
	exec(ctx context.Context, text string, args ...any) (sql.Result, error)
	query(ctx context.Context, text string, args ...any) (*sql.Rows, error)
	row(ctx context.Context, text string, args []any, into ...any) error
}

func (p *pool) exec(ctx context.Context, text string, args ...any) (sql.Result, error) {
	statement, err := p.prepared(ctx, text)
	if err != nil {
		return nil, err
	}
	return statement.ExecContext(ctx, args...)
}

func (p *pool) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	statement, err := p.prepared(ctx, text)
	if err != nil {
		return nil, err
	}
	return statement.QueryContext(ctx, args...)
}

// row reads one row into variables; sql.ErrNoRows when there is none.
func (p *pool) row(ctx context.Context, text string, args []any, into ...any) error {
	statement, err := p.prepared(ctx, text)
	if err != nil {
		return err
	}
	return statement.QueryRowContext(ctx, args...).Scan(into...)
}

// each calls scan for every row of a query.
func each(ctx context.Context, r run, text string, args []any, scan func(*sql.Rows) error) error {
	rows, err := r.query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// changed turns a statement's result into whether it changed a row.
func changed(result sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n > 0, err
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
