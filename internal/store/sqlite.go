package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
	lite "zombiezen.com/go/sqlite"
)

const (
	// busyTimeout is how long a writer waits for another process before it
	// gives up.
	busyTimeout = 10 * time.Second
	// busySlice is how long SQLite waits by itself, deaf to a context.
	busySlice = 50 * time.Millisecond
)

// sqliteDialect needs no row locks: a writing transaction is BEGIN IMMEDIATE
// and has the database to itself.
var sqliteDialect = dialect{
	nextInvoice: `UPDATE counters SET last = last + 1 WHERE name = 'invoice' RETURNING last`,
	lastInvoice: `SELECT last FROM counters WHERE name = 'invoice'`,
	setInvoice:  `UPDATE counters SET last = $1 WHERE name = 'invoice'`,
	integrity:   `PRAGMA integrity_check`,
	exclude:     excludeSQLite,
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
	opened, err := openFile(path)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	db := newDB(opened, sqliteDialect, options)
	if err := db.Ping(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", path, err), db.Close())
	}
	return db, nil
}

// sqliteSettings are the settings of every connection.
func sqliteSettings(busy time.Duration) []string {
	return []string{
		"busy_timeout(" + strconv.FormatInt(busy.Milliseconds(), 10) + ")",
		"foreign_keys(1)", "synchronous(FULL)",
	}
}

func sqliteDSN(path, txlock string, pragmas ...string) string {
	query := url.Values{"_pragma": pragmas, "_txlock": {txlock}}
	return (&url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: query.Encode()}).String()
}

// sqliteUnavailable counts a database that is locked, and a disk that is full,
// failing or gone read-only, as out of reach.
func sqliteUnavailable(err error) bool {
	switch sqliteCode(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR,
		sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		return true
	}
	return false
}

// sqliteCode is SQLite's code of an error without its details; SQLITE_OK for an
// error that is not SQLite's.
func sqliteCode(err error) int {
	if code := lite.ErrCode(err).ToPrimary(); code != lite.ResultOK && code != lite.ResultError {
		return int(code)
	}
	// What opens and migrates a database works on database/sql.
	var fault *sqlite.Error
	if !errors.As(err, &fault) {
		return sqlite3.SQLITE_OK
	}
	return fault.Code() & 0xff
}
