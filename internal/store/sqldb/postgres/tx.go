package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// tx is a transaction. Its BEGIN, and the statements of sqldb.Querier.Later, wait for the
// next statement whose result is needed, or for COMMIT, and go with it in one batch: each
// round trip to a server in another room takes longer than the statements.
type tx struct {
	pool    *pgxpool.Pool
	begin   string
	conn    *pgxpool.Conn // nil before the first batch
	waiting []statement
}

// statement is one to send. If one that waits changes no row, noRow is the error of its batch.
type statement struct {
	text  string
	args  []any
	noRow error
}

// sender is a pool or a connection.
type sender interface {
	SendBatch(ctx context.Context, batch *pgx.Batch) pgx.BatchResults
}

// sendBatch sends statements of which read reads the results.
func sendBatch(ctx context.Context, on sender, statements []statement, read func(pgx.BatchResults) error) (err error) {
	var batch pgx.Batch
	for _, s := range statements {
		batch.Queue(s.text, s.args...)
	}
	results := on.SendBatch(ctx, &batch)
	defer func() { err = cmp.Or(err, results.Close()) }() // which repeats an error of the server
	return read(results)
}

// send sends BEGIN if it was not sent before, the statements that wait, and those of which
// read reads the results. If the connection was broken before, the transaction has not
// begun, and send can be called again.
func (t *tx) send(ctx context.Context, now []statement, read func(pgx.BatchResults) error) (err error) {
	waiting := t.waiting
	if t.conn == nil {
		if t.conn, err = t.pool.Acquire(ctx); err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		waiting = append([]statement{{text: t.begin}}, waiting...)
		defer func() {
			if err != nil && pgconn.SafeToRetry(err) {
				t.conn.Release()
				t.conn = nil
			}
		}()
	}
	return sendBatch(ctx, t.conn, slices.Concat(waiting, now), func(results pgx.BatchResults) error {
		for _, s := range waiting {
			tag, err := results.Exec()
			if err == nil && s.noRow != nil && tag.RowsAffected() == 0 {
				err = s.noRow
			}
			if err != nil {
				return err
			}
		}
		t.waiting = nil
		return read(results)
	})
}

// commit commits what was sent and what waits. A transaction of which nothing was ever
// asked never begins.
func (t *tx) commit(ctx context.Context) error {
	if slices.ContainsFunc(t.waiting, func(s statement) bool { return s.noRow != nil }) {
		// COMMIT must not go before its error is known.
		if err := t.send(ctx, nil, func(pgx.BatchResults) error { return nil }); err != nil {
			return err
		}
	}
	if t.conn == nil && len(t.waiting) == 0 {
		return nil
	}
	var tag pgconn.CommandTag
	err := t.send(ctx, []statement{{text: "commit"}}, func(results pgx.BatchResults) (err error) {
		tag, err = results.Exec()
		return err
	})
	if err == nil && tag.String() == "ROLLBACK" {
		err = pgx.ErrTxCommitRollback
	}
	return err
}

// end gives the connection back, and rolls back what was not committed.
func (t *tx) end(ctx context.Context) {
	if t.conn == nil {
		return
	}
	if !t.conn.Conn().IsClosed() && t.conn.Conn().PgConn().TxStatus() != 'I' {
		_, _ = t.conn.Exec(ctx, "rollback") // a connection that is still in a transaction is closed
	}
	t.conn.Release()
}
