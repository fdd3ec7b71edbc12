package maintenancetest

import (
	"context"
	"testing"

	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// BusyDB is an SQLite database to which others write: each statement of a snapshot is followed
// by a commit of busyBytes.
type BusyDB struct {
	sqldb.DB
	MaxLog int64 // the longest log so far, in bytes

	t testing.TB
}

const busyBytes = 2 << 20

// Busy makes an installation on SQLite busy.
func (in *Installation) Busy(t testing.TB) *BusyDB {
	t.Helper()
	testenv.Of(in.SQL.ExecContext(t.Context(), `CREATE TABLE others (bytes)`)).Must(t)
	in.Exec(t, `INSERT INTO others VALUES (0)`)
	busy := &BusyDB{DB: in.DB, t: t}
	in.DB = busy
	return busy
}

// Snapshot implements sqldb.DB.
func (b *BusyDB) Snapshot(ctx context.Context, fn func(sqldb.Querier) error) error {
	return b.DB.Snapshot(ctx, func(q sqldb.Querier) error { return fn(busyQuerier{q, b}) })
}

type busyQuerier struct {
	sqldb.Querier
	db *BusyDB
}

func (q busyQuerier) write(ctx context.Context) {
	testenv.NoError(q.db.t, q.db.InTx(ctx, func(tx sqldb.Querier) error {
		_, err := tx.Exec(ctx, `UPDATE others SET bytes = randomblob($1)`, busyBytes)
		return err
	}))
	q.db.MaxLog = max(q.db.MaxLog, q.db.LogSize())
}

// Query implements sqldb.Querier.
func (q busyQuerier) Query(ctx context.Context, text string, args []any, scan func(sqldb.Rows) error) error {
	defer q.write(ctx)
	return q.Querier.Query(ctx, text, args, scan)
}

// QueryRow implements sqldb.Querier.
func (q busyQuerier) QueryRow(ctx context.Context, text string, args []any, dest ...any) error {
	defer q.write(ctx)
	return q.Querier.QueryRow(ctx, text, args, dest...)
}

// WithoutTimeout implements sqldb.Querier.
func (q busyQuerier) WithoutTimeout() sqldb.Querier {
	return busyQuerier{q.Querier.WithoutTimeout(), q.db}
}
