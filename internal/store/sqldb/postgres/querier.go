package postgres

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"merchantorders/internal/store/sqldb"
)

// querier implements sqldb.Querier on a pool or a transaction. The driver caches
// prepared statements for each connection.
type querier struct {
	on interface {
		Exec(ctx context.Context, text string, args ...any) (pgconn.CommandTag, error)
		Query(ctx context.Context, text string, args ...any) (pgx.Rows, error)
	}
	timeout time.Duration // of each statement, including the wait for a connection
}

// WithoutTimeout implements sqldb.Querier.
func (q querier) WithoutTimeout() sqldb.Querier { return querier{on: q.on, timeout: longTimeout} }

// Exec implements sqldb.Querier.
func (q querier) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	if err := checkArgs(args); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, q.timeout)
	defer cancel()
	tag, err := retryUnsent(ctx, func() (pgconn.CommandTag, error) { return q.on.Exec(ctx, text, args...) })
	return tag.RowsAffected(), err
}

// Query implements sqldb.Querier.
func (q querier) Query(ctx context.Context, text string, args ...any) (sqldb.Rows, error) {
	if err := checkArgs(args); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, q.timeout)
	found, err := retryUnsent(ctx, func() (pgx.Rows, error) { return q.on.Query(ctx, text, args...) })
	if err != nil {
		cancel()
		return nil, err
	}
	return rows{found, cancel}, nil
}

// QueryRow implements sqldb.Querier.
func (q querier) QueryRow(ctx context.Context, text string, args []any, dest ...any) error {
	found, err := q.Query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer func() { _ = found.Close() }()
	if !found.Next() {
		if err := found.Err(); err != nil {
			return err
		}
		return sql.ErrNoRows
	}
	if err := found.Scan(dest...); err != nil {
		return err
	}
	return found.Close()
}

// checkArgs returns an error for an argument that sqldb.Querier does not take.
// The driver would take more types than SQLite does.
func checkArgs(args []any) error {
	for i, arg := range args {
		switch arg.(type) {
		case nil, int64, int, string, []byte, *string, sql.NullInt64, sql.NullString:
		default:
			return fmt.Errorf("argument %d: a %T cannot be bound", i+1, arg)
		}
	}
	return nil
}

// maxSendAttempts is how many connections are tried that turn out to be broken.
const maxSendAttempts = 3

// retryUnsent calls fn again if the server cannot have received anything of it
// because the connection was broken before.
func retryUnsent[T any](ctx context.Context, fn func() (T, error)) (T, error) {
	result, err := fn()
	for n := 1; n < maxSendAttempts && err != nil && pgconn.SafeToRetry(err) && ctx.Err() == nil; n++ {
		result, err = fn()
	}
	return result, err
}
