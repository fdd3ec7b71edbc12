package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/store/migrations"
	"merchantorders/internal/testenv"
)

// TestCheckFile checks an intact database file, and one with overwritten pages.
func TestCheckFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orders.db")
	open := func() *DB {
		// Opening does not check a file whose schema stays.
		db := testenv.Of(OpenSQLite(t.Context(), path, Options{Schema: migrations.Options{NoMigrate: true}})).Must(t)
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	db := openTest(t, path)
	testenv.NoError(t, addTestMerchant(t.Context(), db, 7))
	testenv.Of(db.ImportOrders(t.Context(), testBatch(7, "R", 100), order.Cause{At: testTime})).Must(t)
	testenv.Equal(t, "checks after the opening", "", db.dialect.QuickCheck)
	intact := open()
	testenv.NoError(t, intact.CheckFile(t.Context()))
	// Between two tables nobody reads, so the log can begin anew.
	countdown, free := 3, false
	between := func() {
		var busy, length, written int64
		err := intact.sql.QueryRow(t.Context(), `PRAGMA wal_checkpoint(RESTART)`, nil, &busy, &length, &written)
		free = err == nil && busy == 0 && length == written
	}
	if err := New(interrupted{intact.sql, &countdown, between}, Options{}).CheckFile(t.Context()); err != nil || !free {
		t.Errorf("error %v, the log is free between two tables: %v", err, free)
	}
	// The last to close writes the orders from the log into the file.
	testenv.NoError(t, errors.Join(db.Close(), intact.Close()))
	content := testenv.Of(os.ReadFile(path)).Must(t)
	for i := len(content) - 4*8192; i < len(content); i++ {
		content[i] = 0xff
	}
	testenv.NoError(t, os.WriteFile(path, content, 0o600))
	if err := open().CheckFile(t.Context()); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("error %v of a damaged file", err)
	}
}
