package sqlite

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"merchantorders/internal/store/migrations"
	"merchantorders/internal/testenv"
)

// TestSQLiteOpenWaits opens while another process is at the schema, and stops
// waiting when its context ends.
func TestSQLiteOpenWaits(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orders.db")
	lock := testenv.Of(lockFile(t.Context(), path+".lock")).Must(t)
	ctx, cancel := context.WithCancel(t.Context())
	opened := make(chan error)
	go func() {
		db, err := Open(ctx, path, migrations.Options{})
		if err == nil {
			err = db.Close()
		}
		opened <- err
	}()
	cancel()
	testenv.Equal(t, "error", context.Canceled, <-opened)
	testenv.Of(os.Stat(path)).WantError(t, "the database was made without the lock", fs.ErrNotExist)
	testenv.NoError(t, lock.Close())
	openTest(t, path)
}
