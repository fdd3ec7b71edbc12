package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"

	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// TestReplacedFiles moves each file of a database away while it is open, and puts it back: in
// between no transaction succeeds.
func TestReplacedFiles(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orders.db")
	db := openTest(t, path)
	testenv.NoError(t, count(t, db, 1))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		for _, replace := range []bool{false, true} {
			testenv.NoError(t, os.Rename(path+suffix, path+".away"))
			if replace {
				testenv.NoError(t, os.WriteFile(path+suffix, nil, 0o600))
			}
			for what, err := range map[string]error{"write": count(t, db, 1), "replaced": db.Replaced()} {
				if replaced, ok := errors.AsType[*ReplacedError](err); !ok || replaced.Path != path+suffix || !db.Unavailable(err) {
					t.Errorf("%s without %s: %v", what, path+suffix, err)
				}
			}
			testenv.NoError(t, os.Rename(path+".away", path+suffix))
			testenv.NoError(t, count(t, db, 1))
		}
	}
	content := testenv.Of(os.ReadFile(path)).Must(t)
	testenv.NoError(t, os.Truncate(path, 0))
	if _, ok := errors.AsType[*ReplacedError](db.Replaced()); !ok {
		t.Error("an empty file is not noticed")
	}
	testenv.NoError(t, os.WriteFile(path, content, 0))
	// In the middle of a transaction.
	err := db.InTx(t.Context(), func(q sqldb.Querier) error {
		testenv.NoError(t, os.Remove(path))
		_, err := q.Exec(t.Context(), `UPDATE counters SET last = last + 1`)
		return err
	})
	if _, ok := errors.AsType[*ReplacedError](err); !ok {
		t.Errorf("deleted during a transaction: %v", err)
	}
}

// TestChangedLink opens a database through a link, which then leads to another file. A second name
// of the file, which has its own log, is told of.
func TestChangedLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "orders.db"), filepath.Join(dir, "link.db")
	testenv.NoError(t, os.Symlink(path, link))
	db := openTest(t, link)
	testenv.NoError(t, db.Replaced())
	testenv.Equal(t, "advice", 0, len(testenv.Of(Examine(t.Context(), link)).Must(t).Advice))
	testenv.NoError(t, os.Link(path, path+".old"))
	testenv.Equal(t, "advice", 1, len(testenv.Of(Examine(t.Context(), link)).Must(t).Advice))
	testenv.NoError(t, errors.Join(os.Remove(link), os.WriteFile(path+".new", nil, 0o600), os.Symlink(path+".new", link)))
	if replaced, ok := errors.AsType[*ReplacedError](db.Replaced()); !ok || replaced.Path != link {
		t.Errorf("a link to another file: %v", db.Replaced())
	}
	testenv.NoError(t, errors.Join(os.Remove(link), os.Symlink(link, link)))
	testenv.Equal(t, "a link that cannot be followed", true, strings.Contains(db.Replaced().Error(), "symbolic links"))
}

// TestOpenCopy opens a backup: no file appears beside it, which a file system without shared memory
// could not have.
func TestOpenCopy(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orders.db")
	db := openTest(t, path)
	testenv.NoError(t, db.Backup(t.Context(), path+".backup"))
	opened := testenv.Of(OpenCopy(path + ".backup")).Must(t)
	testenv.NoError(t, opened.QueryRow(t.Context(), `SELECT COUNT(*) FROM merchants`, nil, new(int64)))
	if files := testenv.Of(filepath.Glob(path + ".backup?*")).Must(t); len(files) > 0 {
		t.Errorf("beside an open copy: %v", files)
	}
	testenv.NoError(t, opened.Close())
}

// TestNoSharedMemory names the cause of errors that a file system without shared memory has.
func TestNoSharedMemory(t *testing.T) {
	t.Parallel()
	for code, want := range map[sqlite.ResultCode]bool{sqlite.ResultIOErrSHMMap: true, sqlite.ResultIOErrSHMOpen: true, sqlite.ResultIOErrRead: false} {
		testenv.Equal(t, fmt.Sprintf("%v", code), want, errors.Is(notLocal(code.ToError()), ErrNoSharedMemory))
	}
	testenv.Equal(t, "a log that was deleted", true, errors.Is(notLocal(sqlite.ResultIOErrShortRead.ToError()), errCut))
}
