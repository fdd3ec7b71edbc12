package store

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

func TestSQLiteOpenAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orders.db")
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			db, err := OpenSQLite(t.Context(), path, Options{})
			if err != nil {
				t.Errorf("open: %v", err)
				return
			}
			testenv.Equal(t, "add merchant", nil, addTestMerchant(t.Context(), db, int64(1+i)))
			testenv.Equal(t, "close", nil, db.Close())
		})
	}
	for range 4 {
		group.Go(func() {
			testenv.Equal(t, "another process", nil, child(t, "open", path).Run())
		})
	}
	group.Wait()
	db := openTest(t, path)
	testenv.Equal(t, "merchants", 8, len(testenv.Of(db.Merchants(t.Context(), order.MerchantFilter{})).Must(t)))
	var migrated int64
	if err := db.sql.QueryRow(t.Context(), "SELECT COUNT(*) FROM goose_db_version WHERE version_id = 1", nil, &migrated); err != nil || migrated != 1 {
		t.Errorf("migrated %d times, error %v, want once", migrated, err)
	}
}

func TestSQLitePaths(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"with space.db", "a?mode=memory.db", "b#c.db", "100%.db", "%41.db", "ΣΦ.db", "it's;.db", "file:d.db", "&_pragma=x.db", "+.db", "a\\b.db",
	} {
		folder := t.TempDir()
		path := filepath.Join(folder, "sub #?%20 folder", name)
		testenv.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
		db := openTest(t, path)
		testenv.Equal(t, name, nil, addTestMerchant(t.Context(), db, 1))
		testenv.Equal(t, name+": merchants on opening again", 1, len(testenv.Of(openTest(t, path).Merchants(t.Context(), order.MerchantFilter{})).Must(t)))
		var files []string
		testenv.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if !entry.IsDir() {
				files = append(files, entry.Name())
			}
			return err
		}))
		testenv.Equal(t, fmt.Sprintf("%s: files", name), []string{name, name + "-shm", name + "-wal", name + ".lock", name + ".turn.lock"}, files)
	}
}

func TestSQLiteCannotOpen(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	text := filepath.Join(folder, "text.db")
	testenv.NoError(t, os.WriteFile(text, []byte(strings.Repeat("this is no database\n", 1000)), 0o600))
	for path, says := range map[string]string{
		filepath.Join(folder, "no", "orders.db"): "no such file or directory",
		filepath.Join(text, "orders.db"):         "not a directory",
		folder:                                   "unable to open database file",
		text:                                     "not a database",
		filepath.Join(folder, strings.Repeat("x", 300)): "file name too long",
	} {
		db, err := OpenSQLite(t.Context(), path, Options{})
		if err == nil {
			_ = db.Close()
			t.Errorf("%s: no error, want one that says %q", path, says)
			continue
		}
		testenv.Contains(t, path, err.Error(), says, path)
	}
}
