// Package postgres implements sqldb.DB on a PostgreSQL server.
package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"merchantorders/internal/store/migrations"
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
)

const (
	server   = `(SELECT system_identifier FROM pg_control_system())`
	timeline = `substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8)`
)

// historyOn combines the stored history with what a restore or a failover changes:
// the server's identity, its timeline, which a promotion and a recovery to an
// earlier moment increment, and the table's identity, which a dump does not
// contain. pg_control_checkpoint would tell the timeline of before the promotion
// until the next checkpoint. identity is an expression.
func historyOn(identity string) string {
	return `substr(md5(concat_ws('/', m.history, m.tableoid, ` + identity + `, ` + timeline + `)), 1, 16)`
}

// oldestWriter is the id of the oldest transaction in progress that may write to this
// database, or of the next one. A snapshot has those of all databases: it leaves out those
// that the server still names as another database's. One that has ended since counts.
const oldestWriter = `COALESCE((
	SELECT MIN(CAST(CAST(x AS TEXT) AS BIGINT)) FROM pg_snapshot_xip(pg_current_snapshot()) x
	WHERE CAST(CAST(x AS TEXT) AS BIGINT) & 4294967295 NOT IN (
		SELECT CAST(CAST(l.transactionid AS TEXT) AS BIGINT) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
		JOIN pg_database d ON d.oid = a.datid
		WHERE l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND l.granted AND d.datname <> current_database()
		UNION ALL SELECT CAST(CAST(transaction AS TEXT) AS BIGINT) FROM pg_prepared_xacts WHERE database <> current_database())
	), CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT))`

// newestPosition is the highest position that is given out, 0 if none is.
const newestPosition = `(SELECT COALESCE(MAX(position), 0) FROM events)`

// behind compares the newest position with the ids of transactions to come. Those of others
// that a statement sees are below the end of its snapshot, its own need not be.
const behind = newestPosition + ` >= (SELECT base FROM event_feed) + GREATEST(CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT),
	COALESCE(CAST(CAST(pg_current_xact_id_if_assigned() AS TEXT) AS BIGINT), 0) + 1)`

// feed makes positions of the ids of transactions. A transaction that waits for the
// merchant's row has an earlier id than the one that it waits for may have: so no
// position is below that of the merchant's event before.
var feed = sqldb.FeedDialect{
	NextPosition: `GREATEST(last_position, (SELECT base FROM event_feed) + CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT),
		CASE WHEN ` + behind + ` THEN ` + newestPosition + ` + 1 END)`,
	Behind:      behind,
	End:         `(SELECT base FROM event_feed) + (SELECT ` + oldestWriter + `)`,
	Server:      server,
	LockWriters: `LOCK TABLE merchants IN SHARE ROW EXCLUSIVE MODE`,
	Place: server + `, ` + timeline + ` || lpad(to_hex(CAST(pg_current_wal_flush_lsn() - '0/0' AS BIGINT)), 16, '0'),
	(SELECT history FROM event_feed)`,
}

// clusterFeed keeps the positions as they are: the transactions of a cluster have no
// common ids.
var clusterFeed = sqldb.FeedDialect{NextPosition: `last_position`}

// dialect has row locks. The ids of invoices come from a sequence: the row of a
// counter would stay locked until the commit, so that all uploads of the service
// would wait for each other, and on a cluster it would be on another node than
// the merchant's orders.
var dialect = sqldb.Dialect{
	RowLock:        ` FOR UPDATE`,
	NumberedParams: true,
	NextInvoiceID:  `SELECT nextval('invoice_ids')`,
	LastInvoiceID:  `SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM invoice_ids`,
	InList:         `= ANY ($1)`,
	InTexts:        `= ANY (string_to_array($2, chr(10)))`,
	PairList:       `unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[])) AS k (a, b)`,
	WordLists: `(SELECT block, word COLLATE "C", created_at, legacy_id, merchant_id FROM unnest(CAST($1 AS BIGINT[]), string_to_array($2, chr(10)), CAST($3 AS BIGINT[]),
		CAST($4 AS BIGINT[]), CAST($5 AS BIGINT[])) AS o (block, words, created_at, legacy_id, merchant_id), unnest(string_to_array(words, chr(9))) AS w (word)) AS l`,
	ByteOrder:         ` COLLATE "C"`,
	History:           historyOn(server),
	Feed:              feed,
	SetInvoiceID:      `SELECT setval('invoice_ids', GREATEST(CAST($1 AS BIGINT), 1), CAST($1 AS BIGINT) > 0)`,
	Clock:             `SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)`,
	StatementTimeout:  statementTimeout,
	TxTimeout:         txTimeout,
	TxTimeoutPerOrder: txTimeoutPerOrder,
}

// DB is a database on a server. It implements sqldb.DB.
type DB struct {
	querier
	admin   *sql.DB // for Conn; it holds no connection
	dialect sqldb.Dialect
}

var _ sqldb.DB = (*DB)(nil)

// Open opens a database by its URL and brings its schema up to date as far as the
// options allow. Any number of instances may have it open. Beside the parameters of
// PostgreSQL's own tools the URL may have pool_max_conns, the most connections of this
// instance. Errors never contain the password. reread returns the URL with the password
// for new connections; nil: the URL stays.
func Open(ctx context.Context, url string, reread func() (string, error), schema migrations.Options) (*DB, error) {
	config, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	rotate(config, url, reread)
	admin := stdlib.OpenDB(*config.ConnConfig, stdlib.OptionBeforeConnect(config.BeforeConnect))
	cluster, err := prepare(ctx, admin, schema)
	var coordinator string
	if err == nil && cluster {
		err = admin.QueryRowContext(ctx, `SELECT CAST(`+server+` AS TEXT)`).Scan(&coordinator)
	}
	if err == nil {
		admin.SetMaxIdleConns(0)
		made := keepWritable(config)
		var pool *pgxpool.Pool
		if pool, err = pgxpool.NewWithConfig(ctx, config); err == nil {
			made(pool)
			db := &DB{querier: querier{pool: pool, timeout: statementTimeout}, admin: admin, dialect: dialect}
			if cluster {
				db.dialect.RecursiveQueries, db.dialect.Feed, db.dialect.WordLists = false, clusterFeed, ""
				// 1.0.0 reads it from the coordinator, and this statement is a worker's.
				db.dialect.History = historyOn(`'` + coordinator + `'`)
			}
			return db, nil
		}
	}
	// The error of Close would only repeat that the server cannot be reached.
	_ = admin.Close()
	return nil, openError(config.ConnConfig, err)
}

// InTx implements sqldb.DB. The isolation level is named: the statements lock what they read
// before they change it, and any other level would let simultaneous changes fail.
func (db *DB) InTx(ctx context.Context, fn func(sqldb.Querier) error) error {
	return db.inTx(ctx, "begin isolation level read committed", fn)
}

// Snapshot implements sqldb.DB.
func (db *DB) Snapshot(ctx context.Context, fn func(sqldb.Querier) error) error {
	return db.inTx(ctx, "begin isolation level repeatable read read only", func(q sqldb.Querier) error {
		// The caller may do other work between two statements.
		if err := q.Later(ctx, nil, "SET LOCAL "+idleTxParameter+" = 0"); err != nil {
			return err
		}
		return fn(q)
	})
}

func (db *DB) inTx(ctx context.Context, begin string, fn func(sqldb.Querier) error) error {
	tx := &tx{pool: db.pool, begin: begin}
	defer func() {
		// Even if ctx has ended.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), db.timeout)
		defer cancel()
		tx.end(ctx)
	}()
	if err := fn(querier{timeout: db.timeout, tx: tx}); err != nil {
		return err
	}
	if err := tx.commit(ctx); err != nil {
		return fmt.Errorf("commit: %w", explain(err))
	}
	return nil
}

// CommitVersion implements sqldb.DB. The server tells nothing without a query.
func (db *DB) CommitVersion() (version sqldb.CommitVersion, ok bool) { return version, false }

// WatchCommits implements sqldb.DB. There is nothing to watch.
func (db *DB) WatchCommits(context.Context) error { return nil }

// Conn implements sqldb.DB.
func (db *DB) Conn(ctx context.Context) (*sql.Conn, error) { return db.admin.Conn(ctx) }

// LogSize implements sqldb.DB. The log is the server's.
func (db *DB) LogSize() int64 { return 0 }

// TruncateLog implements sqldb.DB.
func (db *DB) TruncateLog(context.Context) error { return nil }

// Pool implements sqldb.DB.
func (db *DB) Pool() sqldb.PoolUse {
	use := db.pool.Stat()
	return sqldb.PoolUse{
		InUse: int(use.AcquiredConns()), Idle: int(use.IdleConns()), Max: int(use.MaxConns()),
		Waits: uint64(use.EmptyAcquireCount()),
	}
}

// Dialect implements sqldb.DB.
func (db *DB) Dialect() *sqldb.Dialect { return &db.dialect }

// TakesChanges implements sqldb.DB.
func (db *DB) TakesChanges(context.Context) error { return nil }

// Close implements sqldb.DB.
func (db *DB) Close() error {
	db.pool.Close()
	return db.admin.Close()
}

// Backup implements sqldb.DB.
func (db *DB) Backup(context.Context, string) error { return sqldb.ErrNoBackup }

// LockForCopy implements sqldb.DB with an advisory lock.
func (db *DB) LockForCopy(ctx context.Context, shared bool) (io.Closer, error) {
	function := "pg_try_advisory_lock"
	if shared {
		function = "pg_try_advisory_lock_shared"
	}
	lock, err := advisoryLock(ctx, db.admin, function, copyLock, copyLockTimeout)
	if errors.Is(err, errLockTaken) {
		return nil, sqldb.ErrLocked
	}
	return lock, err
}

// SchemaStatus returns the migration history of a database.
func SchemaStatus(ctx context.Context, url string) (status migrations.Status, err error) {
	err = look(ctx, url, func(ctx context.Context, db *sql.DB, _ *pgxpool.Config) error {
		status, err = migrations.Postgres.Status(ctx, db)
		return err
	})
	return status, err
}

// openError returns the error of a database that cannot be opened.
func openError(config *pgx.ConnConfig, err error) error {
	shown := fmt.Errorf("open database %s on %s: %w", config.Database, addresses(config), shortError(err))
	if isNotReady(err) {
		return sqldb.NotReady(shown)
	}
	return shown
}
