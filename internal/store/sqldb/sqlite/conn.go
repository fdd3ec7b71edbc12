package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"

	"merchantorders/internal/store/sqldb"
)

// conn is one connection. One goroutine uses it at a time. It caches every
// statement that it has prepared: their texts are constants or made of a few of
// them, so their number is bounded.
//
// It uses SQLite's own interface. database/sql doubles the time of small
// statements: a list of 10 orders takes 34 µs instead of 13, one order 5.7
// instead of 2.9.
type conn struct {
	sqlite *sqlite.Conn
	// wrote is set by statements that may have written, also if they failed: by all except
	// a SELECT, and an INSERT, UPDATE or DELETE that Exec has run on no rows.
	wrote bool
}

// openConn opens a connection to an existing file.
func openConn(path string, busyTimeout time.Duration, pragmas ...string) (*conn, error) {
	opened, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	opened.SetBusyTimeout(busyTimeout)
	c := &conn{sqlite: opened}
	for _, pragma := range pragmas {
		if _, err := c.Exec(context.Background(), "PRAGMA "+pragma); err != nil {
			return nil, errors.Join(err, opened.Close())
		}
	}
	return c, nil
}

// prepare prepares a statement and binds its arguments.
func (c *conn) prepare(ctx context.Context, text string, args []any) (*sqlite.Stmt, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	stmt, err := c.sqlite.Prepare(text)
	if err != nil {
		return nil, err
	}
	c.wrote = c.wrote || !strings.HasPrefix(text, "SELECT")
	if n := stmt.BindParamCount(); n != len(args) {
		return nil, fmt.Errorf("statement takes %d arguments, not %d", n, len(args))
	}
	for i, arg := range args {
		if err := bind(stmt, i+1, arg); err != nil {
			return nil, err
		}
	}
	return stmt, nil
}

// Exec implements sqldb.Querier.
func (c *conn) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	before := c.wrote
	stmt, err := c.prepare(ctx, text, args)
	if err != nil {
		return 0, err
	}
	for more := true; more; {
		if more, err = stmt.Step(); err != nil {
			return 0, stepError(ctx, err)
		}
	}
	n := c.sqlite.Changes()
	if n == 0 && countsRows(text) {
		c.wrote = before
	}
	return int64(n), stmt.Reset()
}

// countsRows reports whether Changes counts all that a statement changes.
func countsRows(text string) bool {
	return strings.HasPrefix(text, "INSERT") || strings.HasPrefix(text, "UPDATE") || strings.HasPrefix(text, "DELETE")
}

// QueryRow implements sqldb.Querier.
func (c *conn) QueryRow(ctx context.Context, text string, args []any, dest ...any) error {
	stmt, err := c.prepare(ctx, text, args)
	if err != nil {
		return err
	}
	found, err := stmt.Step()
	if err != nil {
		return stepError(ctx, err)
	}
	if !found {
		err = sql.ErrNoRows
	} else {
		err = rows{stmt}.Scan(dest...)
	}
	return errors.Join(err, stmt.Reset())
}

// QueryMany implements sqldb.Querier.
func (c *conn) QueryMany(ctx context.Context, queries iter.Seq2[string, []any], scan func(int, sqldb.Rows) error) error {
	return sqldb.OneByOne(ctx, c, queries, scan)
}

// ctxCheckInterval is after how many rows Query checks the context.
const ctxCheckInterval = 256

// Query implements sqldb.Querier.
func (c *conn) Query(ctx context.Context, text string, args []any, scan func(sqldb.Rows) error) error {
	stmt, err := c.prepare(ctx, text, args)
	if err != nil {
		return err
	}
	defer func() { _ = stmt.Reset() }() // it would keep the transaction from ending; the error is that of Step
	for n := 1; ; n++ {
		if n%ctxCheckInterval == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		found, err := stmt.Step()
		if err != nil || !found {
			return stepError(ctx, err)
		}
		if err := scan(rows{stmt}); err != nil {
			return err
		}
	}
}

// Later implements sqldb.Querier.
func (c *conn) Later(ctx context.Context, noRow error, text string, args ...any) error {
	return sqldb.Now(ctx, c, noRow, text, args...)
}

// WithoutTimeout implements sqldb.Querier. There are no time limits.
func (c *conn) WithoutTimeout() sqldb.Querier { return c }

// stepError replaces the error of a statement that the end of the context
// interrupted by the context's error.
func stepError(ctx context.Context, err error) error {
	if sqlite.ErrCode(err).ToPrimary() == sqlite.ResultInterrupt && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
