package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"merchantorders/internal/store/sqldb"
)

// querier implements sqldb.Querier on a pool or a transaction. The driver caches
// prepared statements for each connection.
type querier struct {
	pool    *pgxpool.Pool // nil in a transaction
	timeout time.Duration // of each statement, including the wait for a connection
	tx      *tx           // nil: statements have connections of their own
}

// WithoutTimeout implements sqldb.Querier.
func (q querier) WithoutTimeout() sqldb.Querier {
	q.timeout = longTimeout
	return q
}

// send sends statements of which read reads the results. It takes one round trip, also with
// those that wait in the transaction, and no longer than the time limits of all together.
func (q querier) send(ctx context.Context, statements []statement, read func(pgx.BatchResults) error) error {
	n := len(statements)
	for _, s := range statements {
		if err := checkArgs(s.args); err != nil {
			return err
		}
	}
	if q.tx != nil {
		n += len(q.tx.waiting)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(n)*q.timeout)
	defer cancel()
	return retryUnsent(ctx, func() error {
		if q.tx != nil {
			return q.tx.send(ctx, statements, read)
		}
		return sendBatch(ctx, q.pool, statements, read)
	})
}

// Query implements sqldb.Querier. With nothing to send before the query, a batch would take a
// sixth longer.
func (q querier) Query(ctx context.Context, text string, args []any, scan func(sqldb.Rows) error) error {
	var on interface {
		Query(ctx context.Context, text string, args ...any) (pgx.Rows, error)
	}
	switch {
	case q.tx == nil:
		on = q.pool
	case q.tx.conn != nil && len(q.tx.waiting) == 0:
		on = q.tx.conn
	default:
		query := func(yield func(string, []any) bool) { yield(text, args) }
		return q.QueryMany(ctx, query, func(_ int, rows sqldb.Rows) error { return scan(rows) })
	}
	if err := checkArgs(args); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, q.timeout)
	defer cancel()
	return retryUnsent(ctx, func() error {
		found, err := on.Query(ctx, text, args...)
		if err != nil {
			return err
		}
		return scanRows(found, scan)
	})
}

// scanned is an error after the server has sent rows. It has no Unwrap: whatever the error says,
// the statement is not sent again.
type scanned struct{ error }

// scanRows calls scan for each row, and closes the rows.
func scanRows(found pgx.Rows, scan func(sqldb.Rows) error) (err error) {
	n := 0
	defer func() {
		found.Close()
		if err = cmp.Or(err, found.Err()); err != nil && n > 0 {
			err = scanned{err}
		}
	}()
	for r := sqldb.Rows(rows{found}); err == nil && found.Next(); n++ {
		err = scan(r)
	}
	return err
}

// QueryMany implements sqldb.Querier.
func (q querier) QueryMany(ctx context.Context, queries iter.Seq2[string, []any], scan func(int, sqldb.Rows) error) error {
	var all []statement
	for text, args := range queries {
		all = append(all, statement{text: text, args: args})
	}
	if len(all) == 0 {
		return nil
	}
	return q.send(ctx, all, func(results pgx.BatchResults) error {
		for n := range all {
			found, err := results.Query()
			if err == nil {
				err = scanRows(found, func(r sqldb.Rows) error { return scan(n, r) })
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Later implements sqldb.Querier.
func (q querier) Later(ctx context.Context, noRow error, text string, args ...any) error {
	if q.tx == nil {
		return sqldb.Now(ctx, q, noRow, text, args...)
	}
	err := checkArgs(args)
	if err == nil {
		q.tx.waiting = append(q.tx.waiting, statement{text, args, noRow})
	}
	return err
}

// Exec implements sqldb.Querier.
func (q querier) Exec(ctx context.Context, text string, args ...any) (n int64, err error) {
	err = q.send(ctx, []statement{{text: text, args: args}}, func(results pgx.BatchResults) error {
		tag, err := results.Exec()
		n = tag.RowsAffected()
		return err
	})
	return n, err
}

// QueryRow implements sqldb.Querier.
func (q querier) QueryRow(ctx context.Context, text string, args []any, dest ...any) error {
	found := false
	err := q.Query(ctx, text, args, func(rows sqldb.Rows) error {
		if found {
			return nil
		}
		found = true
		return rows.Scan(dest...)
	})
	if err == nil && !found {
		err = sql.ErrNoRows
	}
	return err
}

// checkArgs returns an error for an argument that sqldb.Querier does not take.
// The driver would take more types than SQLite does.
func checkArgs(args []any) error {
	for i, arg := range args {
		switch arg.(type) {
		case nil, int64, int, string, []byte, *string, []int64, []string:
		default:
			return fmt.Errorf("argument %d: a %T cannot be bound", i+1, arg)
		}
	}
	return nil
}

const (
	// maxSendAttempts is how many connections are tried that turn out to be broken.
	maxSendAttempts = 3
	// connectionsWait is how long a statement waits for a connection of the pool if the
	// server has no more, and connectionsInterval how often it asks.
	connectionsWait     = 2 * time.Second
	connectionsInterval = 20 * time.Millisecond
)

// retryUnsent calls fn again if the server cannot have received anything of it: because the
// connection was broken before, or because the server has no more connections, of which the pool
// may have one soon.
func retryUnsent(ctx context.Context, fn func() error) error {
	err := fn()
	began := time.Now()
	for n := 1; err != nil && ctx.Err() == nil; n++ {
		full := hasCode(err, tooManyConnections)
		if full && time.Since(began) < connectionsWait {
			select {
			case <-time.After(connectionsInterval):
			case <-ctx.Done():
			}
		} else if full || n >= maxSendAttempts || !pgconn.SafeToRetry(err) {
			break
		}
		err = fn()
	}
	var after scanned
	if errors.As(err, &after) {
		err = after.error
	}
	return explain(err)
}

// rows implements sqldb.Rows.
type rows struct{ pgx.Rows }

// Scan implements sqldb.Rows. It decodes the common column types itself: the
// driver chooses a decoder anew for each column of each query.
func (r rows) Scan(dest ...any) error {
	values, columns := r.RawValues(), r.FieldDescriptions()
	if len(columns) != len(dest) {
		return fmt.Errorf("the row has %d columns, not %d", len(columns), len(dest))
	}
	for i, variable := range dest {
		if err := scan(r.Conn().TypeMap(), &columns[i], values[i], variable); err != nil {
			return fmt.Errorf("column %s: %w", columns[i].Name, err)
		}
	}
	return nil
}

// scan scans a column's value, nil for NULL.
func scan(types *pgtype.Map, column *pgconn.FieldDescription, value []byte, dest any) error {
	switch variable := dest.(type) {
	case *int64:
		if n, ok := integer(column, value); ok {
			*variable = n
			return nil
		}
	case sqldb.IntScanner:
		n, ok := integer(column, value)
		if !ok && value != nil {
			return errors.New("the value is not an integer")
		}
		return variable.ScanInt(n, value == nil)
	case *string:
		if value != nil && isText(column) {
			*variable = string(value)
			return nil
		}
	case **string:
		if *variable = nil; value == nil {
			return nil
		}
		if isText(column) {
			*variable = new(string(value))
			return nil
		}
	case *sqldb.TextOrEmpty:
		if value == nil || isText(column) {
			*variable = sqldb.TextOrEmpty(value)
			return nil
		}
	case *[32]byte:
		if value == nil || isBytes(column) {
			*variable = [32]byte{}
			copy(variable[:], value)
			return nil
		}
	case *sql.RawBytes:
		if value == nil || isBytes(column) {
			*variable = append((*variable)[:0], value...)
			return nil
		}
	case *sql.NullInt64:
		var ok bool
		variable.Int64, ok = integer(column, value)
		if variable.Valid = ok; ok || value == nil {
			return nil
		}
	case *any:
		if n, ok := integer(column, value); ok {
			*variable = n
			return nil
		}
	case *bool, *[]byte:
	default:
		return fmt.Errorf("a column cannot be scanned into a %T", dest)
	}
	return types.Scan(column.DataTypeOID, column.Format, value, dest)
}

// integer decodes the value of an integer column. ok is false for NULL and for
// other columns.
func integer(column *pgconn.FieldDescription, value []byte) (n int64, ok bool) {
	if column.Format != pgtype.BinaryFormatCode {
		return 0, false
	}
	switch {
	case column.DataTypeOID == pgtype.Int8OID && len(value) == 8:
		return int64(binary.BigEndian.Uint64(value)), true
	case column.DataTypeOID == pgtype.Int4OID && len(value) == 4:
		return int64(int32(binary.BigEndian.Uint32(value))), true
	case column.DataTypeOID == pgtype.Int2OID && len(value) == 2:
		return int64(int16(binary.BigEndian.Uint16(value))), true
	}
	return 0, false
}

// isBytes reports whether the encoded values of a column are its bytes.
func isBytes(column *pgconn.FieldDescription) bool {
	return column.DataTypeOID == pgtype.ByteaOID && column.Format == pgtype.BinaryFormatCode
}

// isText reports whether the encoded values of a column are its text.
func isText(column *pgconn.FieldDescription) bool {
	return column.DataTypeOID == pgtype.TextOID || column.DataTypeOID == pgtype.VarcharOID
}
