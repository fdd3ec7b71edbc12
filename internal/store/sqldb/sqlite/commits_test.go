package sqlite

import (
	"os"
	"path/filepath"
	"testing"

	"merchantorders/internal/testenv"
)

// TestCommitsBehindLink opens a database through a symbolic link that has a
// shared-memory file of its own beside it, and notices the commit of another
// connection.
func TestCommitsBehindLink(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "data", "orders.db")
	testenv.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
	other := openTest(t, path)
	link := filepath.Join(folder, "link.db")
	testenv.NoError(t, os.Symlink(path, link))
	testenv.NoError(t, os.WriteFile(link+"-shm", make([]byte, 32<<10), 0o600))
	db := openTest(t, link)
	testenv.NoError(t, db.WatchCommits(t.Context()))
	before, ok := db.CommitVersion()
	if !ok {
		t.Fatal("no commit version")
	}
	testenv.NoError(t, count(t, other, 1))
	if after, ok := db.CommitVersion(); after == before || !ok {
		t.Errorf("the commit version is %x, %v after a commit, as before", after, ok)
	}
}

// TestCommitsFailClosed watches a file that is not the one that SQLite uses:
// there is no commit version.
func TestCommitsFailClosed(t *testing.T) {
	t.Parallel()
	db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
	real := db.path
	db.path = filepath.Join(t.TempDir(), "orders.db")
	testenv.Equal(t, "without a file", os.ErrNotExist, db.WatchCommits(t.Context()))
	header := testenv.Of(os.ReadFile(real + "-shm")).Must(t)
	for _, suffix := range suffixes {
		testenv.NoError(t, os.WriteFile(db.path+suffix, header, 0o600))
	}
	testenv.Equal(t, "with a copy of the file", errUnnoticed, db.WatchCommits(t.Context()))
	if _, ok := db.CommitVersion(); ok {
		t.Error("there is a commit version without a watched file")
	}
}
