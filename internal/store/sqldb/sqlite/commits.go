package sqlite

import (
	"context"
	"errors"
	"os"
	"sync/atomic"

	"merchantorders/internal/store/sqldb"
)

// commits reads the commit version of the database: the first copy of the header
// of the index of the write-ahead log, in the file with the suffix -shm. SQLite
// documents its form (https://sqlite.org/walformat.html#walidxfmt). A commit
// writes it last, of whatever process, and SQLite's own readers compare it to
// find out whether their page cache is valid.
//
// `PRAGMA data_version` tells the same, but takes a read lock: it costs a third
// of the processor time of a request that the response cache serves.
//
// The file may be another one than SQLite uses, for example if a link has been
// replaced. So watch checks it against a commit, and version is not ok before
// that.
type commits struct {
	file     *os.File
	verified atomic.Bool // a commit has changed the file
}

// errUnnoticed is the error of a database whose commits cannot be watched.
var errUnnoticed = errors.New("a commit does not change the shared-memory file of the database")

// watch begins to watch the commits of the database in a file. commit must commit
// something.
func (c *commits) watch(file *os.File, commit func() error) error {
	c.file = file
	before, okBefore := c.read()
	if err := commit(); err != nil {
		return err
	}
	after, okAfter := c.read()
	if !okBefore || !okAfter || after == before {
		return errUnnoticed
	}
	c.verified.Store(true)
	return nil
}

// version returns the commit version. ok is false if it is not known.
func (c *commits) version() (version sqldb.CommitVersion, ok bool) {
	if !c.verified.Load() {
		return version, false
	}
	return c.read()
}

// read returns the header. ok is false if it cannot be read or was never written.
func (c *commits) read() (version sqldb.CommitVersion, ok bool) {
	n, err := c.file.ReadAt(version[:], 0)
	return version, err == nil && n == len(version) && version != sqldb.CommitVersion{}
}

// WatchCommits implements sqldb.DB. From then on check compares the content of the files too.
func (db *DB) WatchCommits(ctx context.Context) error {
	if err := db.content.open(db.path); err != nil {
		return err
	}
	err := db.commits.watch(db.content.files[2], func() error {
		// Writes a page even if the value is the same.
		return db.InTx(ctx, func(q sqldb.Querier) error {
			_, err := q.Exec(ctx, `PRAGMA user_version = 0`)
			return err
		})
	})
	if err != nil {
		return err
	}
	// After a crash the index does not tell how far checkpoints are before the next one.
	if err := db.checkpoint(ctx, "PASSIVE"); err != nil {
		return err
	}
	return db.content.watch()
}

// CommitVersion implements sqldb.DB.
func (db *DB) CommitVersion() (sqldb.CommitVersion, bool) { return db.commits.version() }
