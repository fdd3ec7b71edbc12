// Package postgres implements sqldb.DB on a PostgreSQL server.
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"merchantorders/internal/store/sqldb"
)

// Time limits. A server that hangs or is cut off costs a request no more than
// these.
const (
	// connectTimeout limits a connection attempt to one address.
	connectTimeout = 3 * time.Second
	// statementTimeout limits a statement, including the wait for a connection.
	statementTimeout = 4 * time.Second
	// txTimeout limits a transaction that writes, from the wait for a connection to
	// the commit. An import adds txTimeoutPerOrder for each order.
	txTimeout         = 8 * time.Second
	txTimeoutPerOrder = time.Second / 2
	// longTimeout limits a statement of WithoutTimeout, for which no request waits.
	longTimeout = time.Hour

	// A connection that was idle for pingAfter is pinged before its next use, which
	// may take pingTimeout.
	pingAfter   = time.Second
	pingTimeout = time.Second / 2
	// maxConnLifetime lets instances spread over the servers again after a
	// failover.
	maxConnLifetime = 30 * time.Minute
	maxConnIdleTime = 5 * time.Minute
)

// dialect has row locks. The ids of invoices come from a sequence: the row of a
// counter would stay locked until the commit, so that all uploads of the service
// would wait for each other, and on a cluster it would be on another node than
// the merchant's orders.
var dialect = sqldb.Dialect{
	RowLock:           ` FOR UPDATE`,
	NumberedParams:    true,
	NextInvoiceID:     `SELECT nextval('invoice_ids')`,
	LastInvoiceID:     `SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM invoice_ids`,
	SetInvoiceID:      `SELECT setval('invoice_ids', GREATEST(CAST($1 AS BIGINT), 1), CAST($1 AS BIGINT) > 0)`,
	Clustered:         true,
	StatementTimeout:  statementTimeout,
	TxTimeout:         txTimeout,
	TxTimeoutPerOrder: txTimeoutPerOrder,
}

// DB is a database on a server. It implements sqldb.DB.
type DB struct {
	querier
	pool  *pgxpool.Pool
	admin *sql.DB // for Conn; it holds no connection
}

var _ sqldb.DB = (*DB)(nil)

// Open opens a database by its URL and brings its schema up to date. Any number
// of instances may have it open. Beside the parameters of PostgreSQL's own tools
// the URL may have pool_max_conns, the most connections of this instance. Errors
// never contain the password.
func Open(ctx context.Context, url string) (*DB, error) {
	config, maxConns, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	admin := stdlib.OpenDB(*config)
	if err = prepare(ctx, admin); err == nil {
		admin.SetMaxIdleConns(0)
		var pool *pgxpool.Pool
		if pool, err = openPool(ctx, url, config, maxConns); err == nil {
			return &DB{querier: querier{on: pool, timeout: statementTimeout}, pool: pool, admin: admin}, nil
		}
	}
	// The error of Close would only repeat that the server cannot be reached.
	_ = admin.Close()
	return nil, fmt.Errorf("open database %s on %s: %w", config.Database, addresses(config), shortError(err))
}

// openPool returns a pool without connections.
func openPool(ctx context.Context, url string, config *pgx.ConnConfig, maxConns int) (*pgxpool.Pool, error) {
	pool, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	pool.ConnConfig = config
	pool.MaxConns = int32(min(maxConns, math.MaxInt32))
	pool.MaxConnLifetime = maxConnLifetime
	pool.MaxConnLifetimeJitter = maxConnLifetime / 10 // so that not all are replaced at once
	pool.MaxConnIdleTime = maxConnIdleTime
	// After a failover to another machine a connection that was idle may never
	// respond. Without a timeout a request would spend all its time on it.
	pool.PingTimeout = pingTimeout
	pool.ShouldPing = func(_ context.Context, idle pgxpool.ShouldPingParams) bool { return idle.IdleDuration >= pingAfter }
	return pgxpool.NewWithConfig(ctx, pool)
}

// InTx implements sqldb.DB.
func (db *DB) InTx(ctx context.Context, fn func(sqldb.Querier) error) error {
	tx, err := db.begin(ctx, pgx.TxOptions{})
	if err != nil {
		return err
	}
	// After a commit this does nothing.
	defer db.rollback(ctx, tx)
	if err := fn(querier{on: tx, timeout: db.timeout}); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// Snapshot implements sqldb.DB.
func (db *DB) Snapshot(ctx context.Context, fn func(sqldb.Querier) error) error {
	tx, err := db.begin(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return err
	}
	defer db.rollback(ctx, tx)
	// The caller may do other work between two statements.
	if _, err := tx.Exec(ctx, "SET LOCAL "+idleTxParameter+" = 0"); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	return fn(querier{on: tx, timeout: db.timeout})
}

func (db *DB) begin(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error) {
	tx, err := retryUnsent(ctx, func() (pgx.Tx, error) { return db.pool.BeginTx(ctx, options) })
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	return tx, nil
}

// rollback rolls back what was not committed, even if ctx has ended.
func (db *DB) rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), db.timeout)
	defer cancel()
	_ = tx.Rollback(ctx)
}

// CommitVersion implements sqldb.DB. The server tells nothing without a query.
func (db *DB) CommitVersion() (version sqldb.CommitVersion, ok bool) { return version, false }

// WatchCommits implements sqldb.DB. There is nothing to watch.
func (db *DB) WatchCommits(context.Context) error { return nil }

// Conn implements sqldb.DB.
func (db *DB) Conn(ctx context.Context) (*sql.Conn, error) { return db.admin.Conn(ctx) }

// Dialect implements sqldb.DB.
func (db *DB) Dialect() *sqldb.Dialect { return &dialect }

// Ping implements sqldb.DB.
func (db *DB) Ping(ctx context.Context) error { return db.pool.Ping(ctx) }

// Close implements sqldb.DB.
func (db *DB) Close() error {
	db.pool.Close()
	return db.admin.Close()
}

// Backup implements sqldb.DB.
func (db *DB) Backup(context.Context, string) error { return sqldb.ErrNoBackup }

// copyLock is the number of the advisory lock of LockForCopy: any number that
// nothing else on the database uses.
const copyLock = 0x636f7079 // "copy"

// lockWait is how long LockForCopy waits for a lock that may belong to a process
// that was killed: the server notices that after a moment.
const lockWait = 3 * time.Second

// LockForCopy implements sqldb.DB with an advisory lock, held by a connection.
func (db *DB) LockForCopy(ctx context.Context, shared bool) (io.Closer, error) {
	conn, err := db.admin.Conn(ctx)
	if err != nil {
		return nil, err
	}
	held := connLock{conn}
	text := `SELECT pg_try_advisory_lock($1)`
	if shared {
		text = `SELECT pg_try_advisory_lock_shared($1)`
	}
	ticker := time.NewTicker(lockWait / 30)
	defer ticker.Stop()
	for range 30 {
		var locked bool
		err = conn.QueryRowContext(ctx, text, int64(copyLock)).Scan(&locked)
		if err != nil {
			return nil, errors.Join(err, held.Close())
		}
		if locked {
			return held, nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), held.Close())
		}
	}
	return nil, errors.Join(sqldb.ErrLocked, held.Close())
}

// connLock is a connection that holds an advisory lock.
type connLock struct{ *sql.Conn }

// Close releases the lock and closes the connection. Closing alone would release
// it a little later.
func (l connLock) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	_, _ = l.ExecContext(ctx, `SELECT pg_advisory_unlock_all()`)
	discard(l.Conn)
	return nil
}
