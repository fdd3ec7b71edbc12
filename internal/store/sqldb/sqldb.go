// Package sqldb is what package store and the maintenance commands need of a
// database. Packages sqlite and postgres implement it, each on the native
// interface of its driver; everything in which the two databases differ is in
// them or in a Dialect.
//
// Statements number their parameters $1, $2, ... in the order of their first
// appearance. Package sqldbtest tests the contract of this package.
package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"
)

var (
	// ErrClosed is the error of a database that is used after Close.
	ErrClosed = errors.New("the database is closed")
	// ErrNoBackup is returned by Backup where the database server has tools for
	// that.
	ErrNoBackup = errors.New("a PostgreSQL database is backed up with PostgreSQL's own tools")
	// ErrNotPostgres is returned by Conn where there is no server, and so no cluster.
	ErrNotPostgres = errors.New("only a PostgreSQL database can be distributed over a cluster")
	// ErrLocked is returned by LockForCopy while another process holds the lock.
	ErrLocked = errors.New("another process copies to or from the database")
	// ErrMarketWebhooks is the error of a cluster for webhooks with cursors in the feed of all
	// merchants.
	ErrMarketWebhooks = errors.New("a cluster has no feed of all merchants: remove the webhooks of all merchants first")
)

// NotReadyError is the error of a database that cannot be opened now and may be later: its
// server cannot be reached, starts, or takes no changes.
type NotReadyError struct{ error }

// Unwrap returns the error itself.
func (e NotReadyError) Unwrap() error { return e.error }

// IsNotReady reports whether a database may be opened later.
func IsNotReady(err error) bool {
	_, ok := errors.AsType[NotReadyError](err)
	return ok
}

// NotReady returns an error as a NotReadyError.
func NotReady(err error) error { return NotReadyError{err} }

// Querier runs statements: on any connection of a pool, or in one transaction.
//
// Arguments are nil (NULL), int64, int, string, []byte and *string. A nil []byte or
// *string is NULL. The argument of Dialect.InList is an []int64 or a []string, and those of
// Dialect.PairList and of Dialect.WordLists except its texts are []int64.
type Querier interface {
	// Exec returns the number of rows that the statement changed.
	Exec(ctx context.Context, text string, args ...any) (int64, error)
	// Query calls scan for each row, until it returns an error.
	Query(ctx context.Context, text string, args []any, scan func(Rows) error) error
	// QueryRow scans the first row. It returns sql.ErrNoRows if there is none.
	QueryRow(ctx context.Context, text string, args []any, dest ...any) error
	// QueryMany is Query for several queries in one round trip. It calls scan with the index
	// of the query. Where there is no network, a query is asked for when the one before has
	// been read.
	QueryMany(ctx context.Context, queries iter.Seq2[string, []any], scan func(n int, rows Rows) error) error
	// Later runs a statement at the latest with the next one of its transaction whose
	// result is needed, or with the commit: together they take one round trip to a server.
	// The statement must change a row, or noRow is returned, by Later or by the call that
	// sends it, as its error is; noRow may be nil. The caller must not change the arguments
	// before. Outside of a transaction, and without a network, it runs at once.
	Later(ctx context.Context, noRow error, text string, args ...any) error
	// WithoutTimeout returns a Querier for statements that may read everything a
	// merchant has. It lacks the time limit of request statements, and its
	// statements end with their context even while the database works on them.
	WithoutTimeout() Querier
}

// Rows are the rows of a query, at one of them.
//
// Scan takes *int64, *bool, *string, **string, *[]byte, *[32]byte, *sql.RawBytes,
// *sql.NullInt64, *any and the destinations of this package, one for
// each column. All take NULL, as empty, but *int64, *bool, *string and Int. RawBytes are
// valid until the next row.
type Rows interface {
	Scan(dest ...any) error
}

// DB is an open database.
type DB interface {
	Querier // runs each statement outside of a transaction

	// InTx runs fn in one transaction that may write. It commits, durably, if fn
	// returns nil, and rolls back otherwise. It does not retry; see Retryable.
	InTx(ctx context.Context, fn func(Querier) error) error
	// Snapshot runs fn in a read-only transaction whose statements all see the
	// same state of the database.
	Snapshot(ctx context.Context, fn func(Querier) error) error

	// Retryable reports whether a transaction that failed with err, such as a
	// deadlock, should be run again.
	Retryable(err error) bool
	// Unavailable reports whether err means that the database cannot be reached or
	// used for now, as opposed to an error in the statement.
	Unavailable(err error) bool

	// TakesChanges returns an error if a file of the database is not the one that is open, or if
	// its disk refuses changes: after one that was refused it tries another. It returns nil for
	// a database that is not a file.
	TakesChanges(ctx context.Context) error

	// CommitVersion returns a value that changes with every commit, of this and of
	// other processes. ok is false if the database cannot tell without a statement,
	// and before WatchCommits: then something may have been committed.
	CommitVersion() (version CommitVersion, ok bool)
	// WatchCommits makes CommitVersion work, if the database has it. It commits once
	// and returns an error if that does not change the commit version. It must be
	// called at most once, before any call of CommitVersion.
	WatchCommits(ctx context.Context) error

	// Conn opens a connection to a server outside of the pool, without any time limit, for
	// administration. Closing it closes it for good. The error is ErrNotPostgres if the
	// database is a file.
	Conn(ctx context.Context) (*sql.Conn, error)
	// LockForCopy takes the lock that copy commands hold on the database, shared
	// among those that only read, until the result is closed. It returns ErrLocked
	// if another process holds the lock.
	LockForCopy(ctx context.Context, shared bool) (io.Closer, error)
	// Backup writes a snapshot of the database to a new or empty file, durably but for the
	// file's name. Backup returns ErrNoBackup if the database is not a file.
	Backup(ctx context.Context, path string) error

	// LogSize returns the size of the write-ahead log in bytes, 0 if the database is not
	// a file. The log holds what was committed since the oldest transaction in progress
	// began.
	LogSize() int64
	// TruncateLog makes a long log short, unless transactions need it.
	TruncateLog(ctx context.Context) error
	// Pool returns the use of the connections at the moment. It does not wait.
	Pool() PoolUse
	// Dialect returns what statements must know of the database.
	Dialect() *Dialect
	// Close closes all connections. No call may be in progress. A second call does
	// nothing.
	Close() error
}

// PoolUse is the use of the connections for statements outside of transactions
// that write. On PostgreSQL those transactions use them too.
type PoolUse struct {
	InUse, Idle int
	Max         int
	Waits       uint64 // how often a statement has found no idle connection
}

// CommitVersion identifies a state of the database, as long as the DB is open.
// Only equality has a meaning.
type CommitVersion [48]byte

// Dialect is what statements must know of the database that runs them.
type Dialect struct {
	// RowLock ends a SELECT that locks its rows until the end of the transaction.
	// It is empty where a transaction that writes has the database for itself.
	RowLock string
	// NumberedParams is true if generated statements should write their parameters
	// $1, $2, ... and false for ?.
	NumberedParams bool
	// NextInvoiceID takes the next id of an invoice. LastInvoiceID reads the
	// highest id taken, 0 if none, and SetInvoiceID sets it.
	NextInvoiceID, LastInvoiceID, SetInvoiceID string
	// InList is the condition that the number or text before it is in the list $1.
	InList string
	// InTexts is the condition that the text before it is in the list $2, whose texts are
	// separated by line feeds. It is empty where one row is locked as fast as many.
	InTexts string
	// PairList is a table k with the columns a and b: the numbers of the lists $1 and $2,
	// which are equally long.
	PairList string
	// WordLists is a table with the columns of order_words: of the lists $1 to $5, which have
	// an item for each order. $2 is as in InTexts, with tabs between the words of an order. It is
	// empty where rows are written as fast, and on a cluster, where rows go to the nodes at once.
	WordLists string
	// RecursiveQueries reports whether tables of several merchants can be read by a
	// recursive query, which a Citus cluster cannot do.
	RecursiveQueries bool
	// ByteOrder follows a text that is compared and sorted by its bytes. It is empty
	// where that is the default.
	ByteOrder string
	// History is the history of a row m of merchants (see order.Feed). It differs
	// from the stored one where the database itself tells that commits may be lost:
	// another server, a standby that was promoted, or a table that was restored.
	History string
	// Feed is what the feed of all merchants takes.
	Feed FeedDialect
	// CheckedTables returns the tables of a database file, and IntegrityCheck checks the one
	// that its argument names, with its indexes. It returns a row for each problem. Both are
	// empty if the database is not a file.
	CheckedTables  string
	IntegrityCheck string
	// MaxImportOrders is how many orders a transaction of an import may have, where
	// no other transaction can write meanwhile; half as many while others write. 0 means no
	// limit.
	MaxImportOrders int
	// QuickCheck finds most damage of a table, whose name in parentheses follows it, in
	// less time. Its first row is as CheckResult takes it. It is empty if the database is
	// not a file, and if the file was checked when it was opened.
	QuickCheck string
	// Clock reads the clock of the server in microseconds since 1970. It is empty if the
	// database is on this machine.
	Clock string
	// StatementTimeout limits each statement of a request, TxTimeout a transaction
	// that writes. An import adds TxTimeoutPerOrder for each of its orders. 0 means
	// no limit.
	StatementTimeout, TxTimeout, TxTimeoutPerOrder time.Duration
}

// MaxPosition is above every position in the feed of all merchants.
const MaxPosition = `9223372036854775807`

// FeedDialect is what statements for the feed of all merchants must know of the database
// (see the table event_feed).
type FeedDialect struct {
	// NextPosition is the position of the next event of a row of merchants, in the UPDATE
	// of this row.
	NextPosition string
	// End is above the positions of all events that are committed, and not above that of
	// any event that is yet to be committed. It is empty if there is no such order of the
	// events: on a cluster each server has its own transactions.
	End string
	// Behind is the condition that the positions to come are not above those of all events:
	// a dump was restored on a server that had counted on from an earlier state, such as an
	// old copy of its files or a standby that lagged. It is empty if that cannot be.
	Behind string
	// Server identifies who gives out positions.
	Server string
	// LockWriters waits for the transactions that write events and lets no other begin to
	// write, or to take this lock, until this one ends. It is empty if Server never changes.
	LockWriters string
	// Place are three columns: Server, a text that sorts as the moments of the server follow
	// each other until an older copy of its files is put back, and event_feed.history. It is
	// empty where the database tells nothing of that.
	Place string
}

// CheckResult returns the error of the first row of Dialect.QuickCheck, nil for "ok".
func CheckResult(finding string) error {
	if finding == "ok" {
		return nil
	}
	return fmt.Errorf("the database is damaged: %s; merchant-orders check finds the rest, and a backup can be restored into another folder", finding)
}

// MaxTxAttempts is how often a transaction with a retryable error is tried.
const MaxTxAttempts = 10

// All returns one value for each row of a query.
func All[T any](ctx context.Context, q Querier, text string, args []any, scan func(Rows) (T, error)) ([]T, error) {
	var values []T
	err := q.Query(ctx, text, args, func(rows Rows) error {
		value, err := scan(rows)
		values = append(values, value)
		return err
	})
	return values, err
}

// Column returns the values of a query for one column.
func Column[T any](ctx context.Context, q Querier, text string, args ...any) ([]T, error) {
	return All(ctx, q, text, args, func(rows Rows) (T, error) {
		var value T
		err := rows.Scan(&value)
		return value, err
	})
}

// Now implements Querier.Later where a statement runs at once.
func Now(ctx context.Context, q Querier, noRow error, text string, args ...any) error {
	n, err := q.Exec(ctx, text, args...)
	if err == nil && n == 0 {
		return noRow
	}
	return err
}

// OneByOne implements Querier.QueryMany where a query takes no round trip.
func OneByOne(ctx context.Context, q Querier, queries iter.Seq2[string, []any], scan func(int, Rows) error) error {
	n := 0
	for text, args := range queries {
		if err := q.Query(ctx, text, args, func(rows Rows) error { return scan(n, rows) }); err != nil {
			return err
		}
		n++
	}
	return nil
}

// RetryTx runs fn in a transaction like DB.InTx, and again if the transaction
// fails with an error that is Retryable.
func RetryTx(ctx context.Context, db DB, fn func(Querier) error) error {
	var err error
	for range MaxTxAttempts {
		err = db.InTx(ctx, fn)
		if err == nil || !db.Retryable(err) {
			break
		}
	}
	return err
}

// Params returns a list of n parameters for a statement, beginning with number
// first: Params(2, 3) is "$2, $3, $4".
func Params(first, n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = "$" + strconv.Itoa(first+i)
	}
	return strings.Join(names, ", ")
}

// Literal returns a number as it is written into a statement: a statement for each
// value, with the plan and the partial index that suit it.
func Literal[T integer](n T) string { return fmt.Sprint(int64(n)) }

// integer is any integer type.
type integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}
