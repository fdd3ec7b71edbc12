package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// TestSQLiteLockedTooLong writes while another process holds the write lock for
// longer than the committer waits.
// Proves decision 5 (faults, 503).
func TestSQLiteLockedTooLong(t *testing.T) {
	t.Parallel()
	db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
	db.committer.timeout = 20 * time.Millisecond
	other := testenv.Of(openSQL(db.path)).Must(t)
	defer func() { _ = other.Close() }()
	lock := testenv.Of(other.BeginTx(t.Context(), nil)).Must(t)
	err := addMerchant(t.Context(), db, 1)
	if !db.Unavailable(err) {
		t.Errorf("error %v, want one that means that the database is unavailable", err)
	}
	if holder := fmt.Sprint("held by process ", os.Getpid()); runtime.GOOS == "linux" && !strings.Contains(err.Error(), holder) {
		t.Errorf("error %v, which does not say %q", err, holder)
	}
	// Readers do not wait.
	var n int64
	if err := db.QueryRow(t.Context(), `SELECT COUNT(*) FROM merchants`, nil, &n); err != nil || n != 0 {
		t.Errorf("%d merchants, error %v, want none", n, err)
	}
	testenv.NoError(t, lock.Rollback())
	db.committer.timeout = time.Hour
	testenv.NoError(t, addMerchant(t.Context(), db, 1))
}

// addMerchant adds a row in a transaction.
func addMerchant(ctx context.Context, db *DB, id int) error {
	return db.InTx(ctx, func(q sqldb.Querier) error { return insertMerchant(ctx, q, id) })
}
