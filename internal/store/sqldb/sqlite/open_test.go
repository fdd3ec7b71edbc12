package sqlite

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// TestOpenOtherFiles opens files that are not databases of this program.
func TestOpenOtherFiles(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(path string) error{
		"damaged": func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte("text "), 1000), 0o600) },
		"belongs to another program": func(path string) error {
			db := testenv.Of(openSQL(path)).Must(t)
			_, err := db.ExecContext(t.Context(), `CREATE TABLE orders (n INT)`)
			return errors.Join(err, db.Close())
		},
	} {
		path := filepath.Join(t.TempDir(), "orders.db")
		testenv.NoError(t, make(path))
		if _, err := Open(t.Context(), path, migrations.Options{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
