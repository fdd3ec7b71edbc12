package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strconv"

	_ "modernc.org/sqlite" // the driver "sqlite" of database/sql

	"merchantorders/internal/store/migrations"
	"merchantorders/internal/store/sqldb"
)

// prepare creates the file and brings its schema up to date, as far as the options
// allow. checked reports whether it has checked the file for damage. A lock file
// keeps processes that start at the same time from doing so at once.
func prepare(ctx context.Context, path string, options migrations.Options) (checked bool, err error) {
	if options.NoCreate {
		// Where there is no database, not even a lock file is made.
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return false, migrations.ErrNoSchema
		}
	}
	lock, err := lockFile(ctx, path+".lock")
	if err != nil {
		return false, err
	}
	defer func() { _ = lock.Close() }()
	if err := createFile(path); err != nil {
		return false, err
	}
	db, err := openSQL(path)
	if err != nil {
		return false, err
	}
	defer func() { _ = db.Close() }()
	if !options.NoMigrate {
		if checked, err = quickCheck(ctx, db, path); err != nil {
			return false, err
		}
	}
	return checked, migrate(ctx, db, options)
}

// migrate brings the schema of a file up to date, as far as the options allow, and
// switches the file to a write-ahead log.
func migrate(ctx context.Context, db *sql.DB, options migrations.Options) error {
	if _, err := migrations.SQLite.Check(ctx, db, options); err != nil {
		return err
	}
	var mode string
	if err := db.QueryRowContext(ctx, "PRAGMA journal_mode=WAL").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		// SQLite returns no error where the file system lacks shared memory.
		return fmt.Errorf("%w (journal mode %s)", ErrNoSharedMemory, mode)
	}
	return migrations.SQLite.Up(ctx, db, options)
}

// openSQL opens a file with one connection of database/sql.
func openSQL(path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// maxCheckedSize is the size of the largest file that is checked before it is
// opened, in bytes. That takes 0.2 seconds; a large file takes 2 seconds for each
// 100,000 orders, so a server checks it in the background.
const maxCheckedSize = 8 << 20

// quickCheck checks a file that is not large, and reports whether it has. It returns
// an error if the file is damaged.
func quickCheck(ctx context.Context, db *sql.DB, path string) (bool, error) {
	if info, err := os.Stat(path); err != nil || info.Size() > maxCheckedSize {
		return false, err
	}
	var finding string
	if err := db.QueryRowContext(ctx, dialect.QuickCheck+`(1)`).Scan(&finding); err != nil {
		return false, err
	}
	return true, sqldb.CheckResult(finding)
}

// SchemaStatus returns the migration history of a database in a file that exists.
func SchemaStatus(ctx context.Context, path string) (status migrations.Status, err error) {
	_, err = os.Stat(path) // SQLite would create the file
	var db *sql.DB
	if err == nil {
		db, err = openSQL(path)
	}
	if err == nil {
		status, err = migrations.SQLite.Status(ctx, db)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		return migrations.Status{}, fmt.Errorf("open database %s: %w", path, notLocal(damaged(denied(path, err))))
	}
	return status, nil
}

// dsn returns the data source name of a file for database/sql.
func dsn(path string) string {
	query := url.Values{
		"_txlock": {"immediate"},
		"_pragma": {
			// First, so that the other pragmas wait too.
			"busy_timeout(" + strconv.FormatInt(busyTimeout.Milliseconds(), 10) + ")",
			"foreign_keys(1)", "synchronous(FULL)",
		},
	}
	return (&url.URL{Scheme: "file", Opaque: url.PathEscape(path), RawQuery: query.Encode()}).String()
}

// createFile creates the file, readable by its owner only, if it does not exist.
// It does not open an existing file: closing it would release the POSIX locks
// that SQLite holds on it in this process, and another process could then delete
// the write-ahead log.
func createFile(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return file.Close()
}
