// Package sqlite implements sqldb.DB on an SQLite file: a pool of connections
// that read, and one connection that writes with group commit.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"merchantorders/internal/store/migrations"
	"merchantorders/internal/store/sqldb"
)

const (
	// busyTimeout is how long a statement or transaction waits for another process
	// that writes.
	busyTimeout = 10 * time.Second
	// writerCache is the size of the writer's page cache in KiB. It holds the pages that
	// a transaction of an import changes: SQLite writes those that do not fit to the log
	// before the commit, and reads them again. Its default is 2 MB. The memory is
	// allocated as it is needed.
	writerCache = "8000"
)

// dialect has no row locks: BEGIN IMMEDIATE locks the whole database.
var dialect = sqldb.Dialect{
	// About 18 ms, and half while others write, so that 99 of 100 accepts beside an import
	// wait less than 50 ms. With halves alone an import loses a fifth of its rate. It is an
	// even multiple of the rows of a bulk insert.
	MaxImportOrders: 6 * 64,

	NextInvoiceID:    `UPDATE counters SET last = last + 1 WHERE name = 'invoice' RETURNING last`,
	LastInvoiceID:    `SELECT last FROM counters WHERE name = 'invoice'`,
	SetInvoiceID:     `UPDATE counters SET last = $1 WHERE name = 'invoice'`,
	RecursiveQueries: true,
	InList:           `IN (SELECT value FROM json_each($1))`,
	PairList:         `(SELECT $1 ->> key AS a, value AS b FROM json_each($2)) k`,
	History:          `m.history`,
	Feed:             sqldb.FeedDialect{NextPosition: `(SELECT COALESCE(MAX(position), 0) + 1 FROM events)`, End: sqldb.MaxPosition, Server: `0`},
	// The table sqlite_schema stands for the free pages too.
	CheckedTables:  `SELECT 'sqlite_schema' UNION ALL SELECT name FROM sqlite_schema WHERE type = 'table'`,
	IntegrityCheck: `SELECT integrity_check FROM pragma_integrity_check($1)`,
	QuickCheck:     `PRAGMA quick_check`,
}

// DB is an open database file. It implements sqldb.DB.
type DB struct {
	pool
	path      string
	dialect   sqldb.Dialect
	committer *committer
	commits   commits
	refused   atomic.Bool // the disk has refused a change, and has taken none that TakesChanges tried
}

var _ sqldb.DB = (*DB)(nil)

// Open opens the database in a file. It creates the file if it does not exist
// and brings its schema up to date, as far as the options allow. Several processes
// may have the database open.
//
// A database whose schema may be migrated is checked for damage first, unless it is
// large.
//
// The reasons for the settings: in WAL mode readers do not wait for the writer.
// synchronous=FULL makes a commit survive a power failure; NORMAL may lose
// acknowledged commits. Write transactions begin IMMEDIATE: a deferred one that
// has read fails, without waiting, if another connection has committed since.
func Open(ctx context.Context, path string, schema migrations.Options) (*DB, error) {
	var checked bool
	file, err := RealPath(path)
	if err == nil {
		checked, err = prepare(ctx, file, schema)
	}
	var db *DB
	if err == nil {
		db, err = open(ctx, file)
	}
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, notLocal(damaged(diskFull(denied(file, err)))))
	}
	db.committer.files[path] = db.committer.files[file] // a link on the way may be changed
	if checked {
		db.dialect.QuickCheck = ""
	}
	return db, nil
}

// RealPath returns the full path of a database file without symbolic links, also
// of one that does not exist yet. SQLite's own files are beside it, and so are the
// lock files: two names of one database share them.
func RealPath(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		if target, linkErr := os.Readlink(path); linkErr == nil {
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(path), target)
			}
			return RealPath(target)
		}
		real, err = filepath.EvalSymlinks(filepath.Dir(path))
		real = filepath.Join(real, filepath.Base(path))
	}
	if err != nil {
		return "", err
	}
	return filepath.Abs(real)
}

// open opens the connections to an existing file with a schema.
func open(ctx context.Context, path string) (_ *DB, err error) {
	size := max(4, 2*runtime.GOMAXPROCS(0))
	db := &DB{pool: newPool(size), path: path, dialect: dialect}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	pragmas := []string{"foreign_keys=1", "synchronous=FULL"}
	for range size {
		reader, err := openConn(path, busyTimeout, append(pragmas, "query_only=1")...)
		if err != nil {
			return nil, err
		}
		db.put(reader)
	}
	// The committer repeats BEGIN, so there is no busy timeout.
	writer, err := openConn(path, 0, append(pragmas, "cache_size=-"+writerCache)...)
	if err != nil {
		return nil, err
	}
	db.committer = newCommitter(writer, path, db.content)
	var n int64
	if err := db.QueryRow(ctx, `SELECT COUNT(*) FROM sqlite_schema`, nil, &n); err != nil {
		return nil, err
	}
	db.committer.files, err = statFiles(path)
	return db, err
}

// InTx implements sqldb.DB.
func (db *DB) InTx(ctx context.Context, fn func(sqldb.Querier) error) error {
	err := db.committer.inTx(ctx, fn)
	if refused(err) {
		db.refused.Store(true)
	}
	return err
}

// Snapshot implements sqldb.DB.
func (db *DB) Snapshot(ctx context.Context, fn func(sqldb.Querier) error) error {
	readers := db.pool
	readers.interruptible = true
	return readers.with(ctx, func(c *conn) error {
		if _, err := c.Exec(ctx, "BEGIN"); err != nil {
			return fmt.Errorf("begin: %w", err)
		}
		defer func() {
			// An interrupted connection runs no statement, not even ROLLBACK.
			c.sqlite.SetInterrupt(nil)
			_, _ = c.Exec(context.WithoutCancel(ctx), "ROLLBACK")
		}()
		return fn(c)
	})
}

// Retryable implements sqldb.DB. SQLite has no deadlocks: there is one writer.
func (db *DB) Retryable(error) bool { return false }

// Conn implements sqldb.DB.
func (db *DB) Conn(context.Context) (*sql.Conn, error) { return nil, sqldb.ErrNotPostgres }

// Pool implements sqldb.DB.
func (db *DB) Pool() sqldb.PoolUse {
	idle, size := len(db.free), cap(db.free)
	return sqldb.PoolUse{InUse: size - idle, Idle: idle, Max: size, Waits: db.idle.waits.Load()}
}

// Dialect implements sqldb.DB.
func (db *DB) Dialect() *sqldb.Dialect { return &db.dialect }

// Replaced returns a ReplacedError if a file of the database is not the one that is open.
func (db *DB) Replaced() error { return db.committer.checkFiles() }

// TakesChanges implements sqldb.DB.
func (db *DB) TakesChanges(ctx context.Context) error {
	if err := db.Replaced(); err != nil || !db.refused.Load() {
		return err
	}
	err := db.InTx(ctx, func(q sqldb.Querier) error { return tryChange(ctx, q) })
	if err == nil {
		db.refused.Store(false)
	}
	return refusal(db.path, err)
}

// tryChange writes, and changes nothing. An UPDATE to the same values would not write.
func tryChange(ctx context.Context, q sqldb.Querier) error {
	_, err := q.Exec(ctx, `REPLACE INTO counters (name, last) SELECT name, last FROM counters WHERE name = 'invoice'`)
	return err
}

// Close implements sqldb.DB. The connections to files that another program has written into stay
// open: closing the last one would write the log into them.
func (db *DB) Close() error {
	if found := db.content.found.Load(); found != nil {
		return found
	}
	err := db.pool.close()
	if db.committer != nil {
		err = errors.Join(err, db.committer.close())
	}
	db.commits.verified.Store(false)
	return errors.Join(err, db.content.close())
}

// Backup implements sqldb.DB. SQLite would sync the new file once, at its end, and commits
// would wait for all of it. So Backup syncs it again and again meanwhile.
func (db *DB) Backup(ctx context.Context, path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	written, synced := make(chan struct{}), make(chan error, 1)
	go func() { synced <- syncUntil(written, file.Sync) }()
	err = db.vacuumInto(ctx, path)
	close(written)
	return errors.Join(diskFull(err), <-synced, file.Close())
}

// syncInterval is how often a file is synced that grows.
const syncInterval = 10 * time.Millisecond

// syncUntil syncs a file until it is written, and then once more.
func syncUntil(written <-chan struct{}, sync func() error) error {
	for {
		select {
		case <-written:
			return sync()
		case <-time.After(syncInterval):
			if err := sync(); err != nil {
				return err
			}
		}
	}
}

func (db *DB) vacuumInto(ctx context.Context, path string) error {
	c, err := openConn(db.path, busyTimeout, "synchronous=OFF")
	if err != nil {
		return err
	}
	c.sqlite.SetInterrupt(ctx.Done())
	_, err = c.Exec(ctx, `VACUUM INTO $1`, path)
	return errors.Join(err, c.sqlite.Close())
}

// Copy is an open copy of a database, by Backup. One goroutine may use it at a time.
type Copy struct{ *conn }

// OpenCopy opens a copy to read it. It needs no shared memory, which a share of backups may lack.
func OpenCopy(path string) (Copy, error) {
	c, err := openConn(path, 0, "query_only=1")
	return Copy{c}, err
}

// Close closes the copy.
func (c Copy) Close() error { return c.sqlite.Close() }
