package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// busyTimeout is how long, in milliseconds, a writer waits for another process
// before it gives up.
const busyTimeout = "10000"

// sqlitePageSize makes the file a third smaller than the default of 4096 at
// the same speed: an order is about 2.5 KB.
const sqlitePageSize = "8192"

// sqliteDialect needs no row locks: a writing transaction is BEGIN IMMEDIATE
// and has the database to itself.
var sqliteDialect = dialect{
	unavailable: sqliteUnavailable,
	again:       func(error) bool { return false },
}

// OpenSQLite opens, and where needed makes and migrates, the database in a
// file. Several processes may have it open at once.
//
// The reasons for the settings: WAL lets readers go on beside the writer.
// synchronous FULL makes a commit survive a power cut; NORMAL loses
// acknowledged writes. busy_timeout comes first so that the others wait too.
// Transactions that write begin IMMEDIATE: a deferred one that reads first
// fails at once when another has written meanwhile, whatever the timeout.
func OpenSQLite(ctx context.Context, path string, options Options) (*DB, error) {
	if err := prepareSQLite(ctx, path); err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	settings := []string{"busy_timeout(" + busyTimeout + ")", "foreign_keys(1)", "synchronous(FULL)"}
	write, err := sql.Open("sqlite", sqliteDSN(path, settings, "immediate"))
	if err != nil {
		return nil, err
	}
	write.SetMaxOpenConns(1)
	read, err := sql.Open("sqlite", sqliteDSN(path, append(settings, "query_only(1)"), "deferred"))
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	readers := max(4, 2*runtime.GOMAXPROCS(0))
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	db := newDB(keepingPool(write), keepingPool(read), sqliteDialect, options)
	if err := db.Ping(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", path, err), db.Close())
	}
	return db, nil
}

func sqliteDSN(path string, pragmas []string, txlock string) string {
	query := url.Values{"_pragma": pragmas, "_txlock": {txlock}}
	return (&url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: query.Encode()}).String()
}

// prepareSQLite makes the file and brings its schema up to date. A lock beside
// it keeps processes that start at the same moment from doing so together.
func prepareSQLite(ctx context.Context, path string) error {
	lock, err := os.OpenFile(filepath.Clean(path)+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // and lets go of the lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", sqliteDSN(path, []string{"busy_timeout(" + busyTimeout + ")"}, "immediate"))
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	// The page size holds only if it is set before the file has a first page.
	for _, pragma := range []string{"page_size=" + sqlitePageSize, "journal_mode=WAL", "synchronous=FULL"} {
		if _, err := db.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
			return err
		}
	}
	return migrate(ctx, db, goose.DialectSQLite3, "migration/sqlite")
}

// sqliteUnavailable counts a database that is locked, and a disk that is full,
// failing or gone read-only, as out of reach.
func sqliteUnavailable(err error) bool {
	var fault *sqlite.Error
	if !errors.As(err, &fault) {
		return false
	}
	switch fault.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR,
		sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		return true
	}
	return false
}
