// Package store implements order.Store, token.Store, webhook.Store and digest.Store in SQL. It
// stores orders, invoice entries, events, idempotency records, merchants, tokens and
// webhooks.
//
// One SQL text works on all databases; what differs is in package sqldb and a
// sqldb.Dialect. Statements number their parameters $1, $2, ... in the order of
// their first appearance, name every column, and name the merchant in every
// WHERE, even where another key is unique: so no mistake elsewhere can show a
// merchant another one's order, and the data can be distributed by merchant.
//
// The package knows neither HTTP nor JSON nor any rule: package order decides
// which transitions are allowed and how many files an order may have.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"merchantorders/internal/delivery/digest"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/lru"
	"merchantorders/internal/order"
	"merchantorders/internal/store/migrations"
	"merchantorders/internal/store/search"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/store/sqldb/postgres"
	"merchantorders/internal/store/sqldb/sqlite"
	"merchantorders/internal/token"
)

// Options are the optional dependencies of a store. The zero value works.
type Options struct {
	// Observe is called at the beginning of each operation with its name. It returns the
	// context that the operation goes on with, and what is called with its error at its end.
	// nil: not called.
	Observe func(ctx context.Context, operation string) (context.Context, func(error))
	// Wrap wraps the database that the store works on; nil: not called.
	Wrap func(sqldb.DB) sqldb.DB
	// Reread returns the URL of a PostgreSQL database with the password for a new
	// connection; nil: the URL stays.
	Reread func() (string, error)
	// Schema says what may be done to the schema of a database that is opened.
	Schema migrations.Options
}

// DB is a store in an open database.
type DB struct {
	sql     sqldb.DB
	dialect *sqldb.Dialect
	options Options
	// maxSkipped is how many orders the statement of a page skips. Skipping one takes 0.1 us
	// on SQLite and 0.2 us on PostgreSQL. Farther down it takes less to find the day on which
	// the page begins. It is a field for tests.
	maxSkipped int64
	// importWaited says that the last transaction of an import waited for long, so that others
	// write too. now is a field for tests.
	importWaited atomic.Bool
	now          func() time.Time
	grants       grantCache
	merchants    tokenMerchants
	feeds        feeds
	onEvents     subscribers

	// Statements that differ by database.
	selectFeed, takeEventNumbers, selectMarketEvents, selectMarketEnd, selectMarketDue string
}

var (
	_ order.Store = (*DB)(nil)
	_ token.Store = (*DB)(nil)

	_ webhook.Store = (*DB)(nil)
	_ digest.Store  = (*DB)(nil)
)

// New returns a store in a database. It owns the database: Close closes it.
func New(db sqldb.DB, options Options) *DB {
	if options.Observe == nil {
		options.Observe = func(ctx context.Context, _ string) (context.Context, func(error)) { return ctx, func(error) {} }
	}
	if options.Wrap != nil {
		db = options.Wrap(db)
	}
	dialect := db.Dialect()
	return &DB{
		sql: db, dialect: dialect, options: options, selectFeed: selectFeed(dialect), takeEventNumbers: takeEventNumbers(dialect),
		selectMarketEvents: selectMarketEvents(dialect), selectMarketEnd: selectMarketEnd(dialect), selectMarketDue: selectMarketDue(dialect),
		maxSkipped: 2000, now: time.Now, merchants: tokenMerchants{byHash: lru.New[token.Hash, int64](maxTokenMerchants)},
	}
}

// OpenSQLite opens a store in a file: see sqlite.Open. It moves words that 1.0 has staged:
// at each start, because an installation may go back to 1.0 and return.
func OpenSQLite(ctx context.Context, path string, options Options) (*DB, error) {
	db, err := sqlite.Open(ctx, path, options.Schema)
	if err != nil {
		return nil, err
	}
	// CheckFile finds damage, and everything else than the search may work.
	if err := search.MoveStaged(ctx, db); err != nil && !sqlite.Damaged(err) {
		return nil, errors.Join(fmt.Errorf("move the words of 1.0: %w", err), db.Close())
	}
	return New(db, options), nil
}

// OpenPostgres opens a store in a PostgreSQL database: see postgres.Open.
func OpenPostgres(ctx context.Context, url string, options Options) (*DB, error) {
	db, err := postgres.Open(ctx, url, options.Reread, options.Schema)
	if err != nil {
		return nil, err
	}
	return New(db, options), nil
}

// SQL returns the database, for maintenance commands.
func (db *DB) SQL() sqldb.DB { return db.sql }

// Ping returns an error if the database cannot be read, or if its disk refuses changes:
// order.ErrUnavailable, unless its tables are wrong. It runs the statement that every request
// begins with.
func (db *DB) Ping(ctx context.Context) error {
	if err := db.sql.TakesChanges(ctx); err != nil {
		return db.wrap(err)
	}
	_, err := db.readGrant(ctx, 0, token.Hash{})
	return db.wrap(noRow(err, nil))
}

// ClockOffset returns how far the clock of the database is ahead of a clock, 0 if it is that of
// this machine. What the statement takes may hide a part of it.
func (db *DB) ClockOffset(ctx context.Context, now func() time.Time) (time.Duration, error) {
	if db.dialect.Clock == "" {
		return 0, nil
	}
	var micros int64
	before := now()
	if err := db.sql.QueryRow(ctx, db.dialect.Clock, nil, &micros); err != nil {
		return 0, db.wrap(fmt.Errorf("read the clock of the database: %w", err))
	}
	clock, after := time.UnixMicro(micros), now()
	switch {
	case clock.Before(before):
		return clock.Sub(before), nil
	case clock.After(after):
		return clock.Sub(after), nil
	}
	return 0, nil
}

// WatchCommits lets the store cache grants until the next commit, if the database
// tells of commits. It is called at most once, before the first request.
func (db *DB) WatchCommits(ctx context.Context) error { return db.wrap(db.sql.WatchCommits(ctx)) }

// CheckFile returns an error if the database file is damaged. It reads all tables,
// unless that was done when the file was opened. It returns nil if the database is not a
// file. It checks one table after the other: the log keeps what is committed meanwhile.
func (db *DB) CheckFile(ctx context.Context) error {
	if db.dialect.QuickCheck == "" {
		return nil
	}
	for _, table := range migrations.Tables {
		var finding string
		if err := db.sql.WithoutTimeout().QueryRow(ctx, db.dialect.QuickCheck+`(`+table+`)`, nil, &finding); err != nil {
			return fmt.Errorf("check the database file: %w", err)
		}
		if err := sqldb.CheckResult(finding); err != nil {
			return err
		}
	}
	return nil
}

// LogSize returns the size of the write-ahead log of a database file in bytes, else 0.
func (db *DB) LogSize() int64 { return db.sql.LogSize() }

// TruncateLog makes a long write-ahead log of a database file short, unless transactions
// need it. It is a background job.
func (db *DB) TruncateLog(ctx context.Context) error { return db.wrap(db.sql.TruncateLog(ctx)) }

// Close closes the database. No operation may be in progress.
func (db *DB) Close() error { return db.sql.Close() }

// observe begins an operation, whose context it replaces. The result ends it.
func (db *DB) observe(ctx *context.Context, operation string) func(*error) {
	observed, end := db.options.Observe(*ctx, operation)
	*ctx = observed
	return func(err *error) { end(*err) }
}

// readError returns the error of an operation that reads; nil for nil. notFound,
// unless it is nil, is the error for a missing row.
func (db *DB) readError(operation string, err, notFound error) error {
	switch {
	case err == nil:
		return nil
	case notFound != nil && errors.Is(err, sql.ErrNoRows):
		return notFound
	}
	return db.wrap(fmt.Errorf("%s: %w", operation, err))
}

// noRow returns another error in place of that of a missing row.
func noRow(err, missing error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return missing
	}
	return err
}

// wrap adds order.ErrUnavailable to an error that means that the database is
// unavailable, or so contended that a transaction failed at every attempt.
func (db *DB) wrap(err error) error {
	if err != nil && (db.sql.Unavailable(err) || db.sql.Retryable(err)) {
		return fmt.Errorf("the database is %w: %w", order.ErrUnavailable, err)
	}
	return err
}

// withTimeout is context.WithTimeout, but 0 means no limit.
func withTimeout(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, timeout)
}

// seconds returns a time as it is stored; nil for the zero time.
func seconds(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Unix()
}

// flag returns a bool as it is stored.
func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
