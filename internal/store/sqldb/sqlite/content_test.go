package sqlite

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// count changes a database n times.
func count(t *testing.T, db *DB, n int) error {
	t.Helper()
	for range n {
		if err := db.InTx(t.Context(), func(q sqldb.Querier) error {
			_, err := q.Exec(t.Context(), `UPDATE counters SET last = last + 1`)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// overwrite writes into a file, as rsync --inplace does.
func overwrite(t *testing.T, path string, content []byte) {
	t.Helper()
	file := testenv.Of(os.OpenFile(path, os.O_WRONLY, 0)).Must(t)
	testenv.Of(file.WriteAt(content, 0)).Must(t)
	testenv.NoError(t, errors.Join(file.Truncate(int64(len(content))), file.Close()))
}

// TestOverwrittenFiles writes into the files of a database that a server has open. What only looks
// like it is no fault.
func TestOverwrittenFiles(t *testing.T) {
	t.Parallel()
	read := func(t *testing.T, path string) []byte { return testenv.Of(os.ReadFile(path)).Must(t) }
	for name, c := range map[string]struct {
		suffix string // of the file that is written
		none   bool   // it is no fault
		change func(t *testing.T, db *DB)
	}{
		"another database": {change: func(t *testing.T, db *DB) {
			other := openTest(t, db.path+".other")
			testenv.NoError(t, errors.Join(count(t, other, 3), other.Close()))
			overwrite(t, db.path, read(t, other.path))
		}},
		"a backup": {change: func(t *testing.T, db *DB) {
			testenv.NoError(t, db.Backup(t.Context(), db.path+".backup"))
			overwrite(t, db.path, read(t, db.path+".backup"))
		}},
		"an older state, after a checkpoint": {change: func(t *testing.T, db *DB) {
			older := read(t, db.path)
			for range 2 {
				testenv.Of(openTest(t, db.path).committer.conn.Exec(t.Context(), `PRAGMA user_version = 0`)).Must(t)
				testenv.NoError(t, errors.Join(db.Replaced(), db.checkpoint(t.Context(), "PASSIVE")))
			}
			overwrite(t, db.path, older)
		}},
		"the database cut":      {change: func(t *testing.T, db *DB) { testenv.NoError(t, os.Truncate(db.path, 8192)) }},
		"a page too few":        {change: func(t *testing.T, db *DB) { c := read(t, db.path); overwrite(t, db.path, c[:len(c)-4096]) }},
		"the database of zeros": {change: func(t *testing.T, db *DB) { overwrite(t, db.path, make([]byte, len(read(t, db.path)))) }},
		"a text":                {change: func(t *testing.T, db *DB) { overwrite(t, db.path, []byte("orders\n")) }},
		"a cut log":             {suffix: "-wal", change: func(t *testing.T, db *DB) { testenv.NoError(t, os.Truncate(db.path+"-wal", 0)) }},
		"a log without its last frame": {suffix: "-wal", change: func(t *testing.T, db *DB) {
			c := read(t, db.path+"-wal")
			overwrite(t, db.path+"-wal", c[:len(c)-1])
		}},
		"the log of another database": {suffix: "-wal", change: func(t *testing.T, db *DB) {
			other := openTest(t, db.path+".other")
			testenv.NoError(t, count(t, other, 20))
			overwrite(t, db.path+"-wal", read(t, other.path+"-wal"))
		}},
		"an older log": {suffix: "-wal", change: func(t *testing.T, db *DB) {
			older := read(t, db.path+"-wal")
			testenv.NoError(t, count(t, db, 3))
			overwrite(t, db.path+"-wal", older)
		}},
		"an older log of the same size": {suffix: "-wal", change: func(t *testing.T, db *DB) {
			older := read(t, db.path+"-wal")
			testenv.NoError(t, count(t, db, 3))
			overwrite(t, db.path+"-wal", append(older, older[2*len(older)-len(read(t, db.path+"-wal")):]...))
		}},
		"an older index": {suffix: "-shm", change: func(t *testing.T, db *DB) {
			older := read(t, db.path+"-shm")
			testenv.NoError(t, count(t, db, 3))
			overwrite(t, db.path+"-shm", older)
		}},
		"an index of zeros": {suffix: "-shm", change: func(t *testing.T, db *DB) { overwrite(t, db.path+"-shm", make([]byte, 32<<10)) }},

		"nothing": {none: true, change: func(*testing.T, *DB) {}},
		"the same content": {none: true, change: func(t *testing.T, db *DB) {
			for _, suffix := range suffixes[:2] {
				overwrite(t, db.path+suffix, read(t, db.path+suffix))
			}
			testenv.NoError(t, os.Chmod(db.path, 0o640)) //nolint:gosec // no secret
		}},
		"checkpoints of others": {none: true, change: func(t *testing.T, db *DB) {
			other := openTest(t, db.path)
			for _, mode := range []string{"PASSIVE", "FULL", "RESTART", "TRUNCATE"} {
				testenv.NoError(t, errors.Join(count(t, other, 3), other.checkpoint(t.Context(), mode), count(t, db, 1)))
			}
			testenv.Of(other.committer.conn.Exec(t.Context(), `VACUUM`)).Must(t)
			testenv.NoError(t, errors.Join(other.checkpoint(t.Context(), "TRUNCATE"), count(t, db, 1)))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "orders.db")
			db := openTest(t, path)
			testenv.NoError(t, errors.Join(db.WatchCommits(t.Context()), count(t, db, 3)))
			c.change(t, db)
			if c.none {
				testenv.NoError(t, errors.Join(count(t, db, 3), db.Replaced(), db.Close()))
				return
			}
			after := read(t, path)
			var n int64
			for what, err := range map[string]error{"write": count(t, db, 1), "replaced": db.Replaced(), "read": db.QueryRow(t.Context(), `SELECT last FROM counters`, nil, &n), "close": db.Close()} {
				if found, ok := errors.AsType[*ReplacedError](err); !ok || found.Path != path+c.suffix || !db.Unavailable(err) {
					t.Errorf("%s: %v", what, err)
				}
			}
			if !bytes.Equal(read(t, path), after) {
				t.Error("the database has changed")
			}
			_, err := os.Stat(path + "-wal.aside")
			testenv.Equal(t, "a log set aside", c.suffix != "-shm", err == nil)
		})
	}
}

// TestContentBesideWriters looks at the files while several connections write, and checkpoint after
// most commits.
func TestContentBesideWriters(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orders.db")
	db := openTest(t, path)
	testenv.NoError(t, db.WatchCommits(t.Context()))
	testenv.Of(db.committer.conn.Exec(t.Context(), `CREATE TABLE texts (t TEXT)`)).Must(t)
	var working sync.WaitGroup
	done := make(chan struct{})
	for _, mode := range []string{"", "PASSIVE", "TRUNCATE"} {
		other := openTest(t, path)
		working.Go(func() {
			for range 50 {
				err := other.InTx(t.Context(), func(q sqldb.Querier) error {
					_, err := q.Exec(t.Context(), `INSERT INTO texts VALUES ($1)`, strings.Repeat("x", 20_000))
					return err
				})
				if mode != "" && err == nil {
					err = other.checkpoint(t.Context(), mode)
				}
				if err != nil && !db.Unavailable(err) {
					t.Error(err)
				}
			}
		})
	}
	go func() { working.Wait(); close(done) }()
	for looks := 0; ; looks++ {
		testenv.NoError(t, db.content.check())
		select {
		case <-done:
			t.Logf("%d looks", looks)
			return
		default:
		}
	}
}
