package sqlite

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// TestTruncateLog makes a log long while somebody reads. It is left as it is then, and
// nobody waits for it; afterwards it is truncated.
func TestTruncateLog(t *testing.T) {
	t.Parallel()
	db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
	exec := func(text string) {
		t.Helper()
		testenv.NoError(t, db.InTx(t.Context(), func(q sqldb.Querier) error {
			_, err := q.Exec(t.Context(), text)
			return err
		}))
	}
	exec(`CREATE TABLE sample (bytes BLOB)`)
	testenv.NoError(t, db.Snapshot(t.Context(), func(q sqldb.Querier) error {
		var n int64
		testenv.NoError(t, q.QueryRow(t.Context(), `SELECT COUNT(*) FROM sample`, nil, &n))
		for db.LogSize() <= maxLog {
			exec(`INSERT INTO sample VALUES (zeroblob(9000000))`)
		}
		testenv.NoError(t, db.TruncateLog(t.Context()))
		if size := db.LogSize(); size <= maxLog {
			t.Errorf("the log was truncated to %d bytes while it was read", size)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		return db.InTx(ctx, func(q sqldb.Querier) error {
			_, err := q.Exec(ctx, `DELETE FROM sample WHERE rowid = 1`)
			return err
		})
	}))
	testenv.NoError(t, db.TruncateLog(t.Context()))
	testenv.Equal(t, "bytes of the log", 0, db.LogSize())
	exec(`INSERT INTO sample VALUES (NULL)`)
	size := db.LogSize()
	testenv.NoError(t, db.TruncateLog(t.Context()))
	testenv.Equal(t, "size of a short log", size, db.LogSize())
}
