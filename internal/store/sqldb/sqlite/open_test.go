package sqlite

import (
	"context"
	"errors"
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
	lock, err := lockFile(t.Context(), path+".lock")
	testenv.NoError(t, err)
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
	if err := <-opened; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the database was made without the lock: %v", err)
	}
	testenv.NoError(t, lock.Close())
	openTest(t, path)
}
