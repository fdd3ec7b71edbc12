package postgres

import (
	"cmp"
	"context"
	"fmt"

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
	last    lastRows
}

// statement is one that waits. If it changes no row, noRow is the error of its batch.
type statement struct {
	text  string
	args  []any
	noRow error
}

// queue adds statements to a batch.
func queue(batch *pgx.Batch, statements []statement) {
	for _, s := range statements {
		batch.Queue(s.text, s.args...)
	}
}

// connections sends each statement on any connection.
type connections struct{ *pgxpool.Pool }

// send sends statements of which read reads the results.
func (c connections) send(ctx context.Context, statements []statement, read func(pgx.BatchResults) error) error {
	var batch pgx.Batch
	queue(&batch, statements)
	results := c.SendBatch(ctx, &batch)
	err := read(results)
	return cmp.Or(err, results.Close())
}

// Exec sends a statement, after those that wait.
func (t *tx) Exec(ctx context.Context, text string, args ...any) (tag pgconn.CommandTag, err error) {
	if t.conn != nil && len(t.waiting) == 0 {
		return t.conn.Exec(ctx, text, args...)
	}
	err = t.send(ctx, []statement{{text: text, args: args}}, func(batch pgx.BatchResults) (err error) {
		tag, err = batch.Exec()
		return cmp.Or(err, batch.Close()) // which repeats it
	})
	return tag, err
}

// Query sends a query, after the statements that wait.
func (t *tx) Query(ctx context.Context, text string, args ...any) (found pgx.Rows, err error) {
	if t.conn != nil && len(t.waiting) == 0 {
		return t.conn.Query(ctx, text, args...)
	}
	err = t.send(ctx, []statement{{text: text, args: args}}, func(batch pgx.BatchResults) error {
		rows, err := batch.Query()
		found = &batchRows{Rows: rows, batch: batch}
		return err
	})
	return found, err
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
	var batch pgx.Batch
	queue(&batch, waiting)
	queue(&batch, now)
	results := t.conn.SendBatch(ctx, &batch)
	for _, s := range waiting {
		tag, err := results.Exec()
		if err == nil && s.noRow != nil && tag.RowsAffected() == 0 {
			err = s.noRow
		}
		if err != nil {
			_ = results.Close()
			return err
		}
	}
	t.waiting = nil
	if err := read(results); err != nil {
		_ = results.Close()
		return err
	}
	return nil
}

// commit commits what was sent and what waits. A transaction of which nothing was ever
// asked never begins.
func (t *tx) commit(ctx context.Context) error {
	for _, s := range t.waiting {
		if s.noRow != nil {
			// COMMIT must not go before its error is known.
			if _, err := t.Exec(ctx, "SELECT 1"); err != nil {
				return err
			}
			break
		}
	}
	if t.conn == nil && len(t.waiting) == 0 {
		return nil
	}
	tag, err := t.Exec(ctx, "commit")
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

// batchRows are the rows of the last query of a batch.
type batchRows struct {
	pgx.Rows
	batch pgx.BatchResults
	err   error // of the end of the batch
}

// Close implements pgx.Rows.
func (r *batchRows) Close() {
	r.Rows.Close()
	r.err = r.batch.Close()
}

// Err implements pgx.Rows.
func (r *batchRows) Err() error { return cmp.Or(r.Rows.Err(), r.err) }
