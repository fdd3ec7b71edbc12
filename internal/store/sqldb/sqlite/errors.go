package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
	zombiezen "zombiezen.com/go/sqlite"

	"merchantorders/internal/store/sqldb"
)

// Unavailable implements sqldb.DB. The database is unavailable while it is locked,
// while its disk is full, read-only or fails, and when its file is gone.
func (db *DB) Unavailable(err error) bool {
	if _, replaced := errors.AsType[*ReplacedError](err); replaced {
		return true
	}
	code := resultCode(err)
	return code == sqlite3.SQLITE_BUSY || code == sqlite3.SQLITE_LOCKED || refused(err)
}

// refused reports whether err means that the disk takes no changes.
func refused(err error) bool {
	switch resultCode(err) {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		return true
	}
	return false
}

// refusal adds what the system says to the error of a disk that refuses changes, which SQLite
// does not tell: it writes beside the database, as far from the start of the file as the log is long.
func refusal(path string, err error) error {
	if !refused(err) {
		return err
	}
	var length int64
	if info, statErr := os.Stat(path + suffixes[1]); statErr == nil {
		length = info.Size()
	}
	file, osErr := os.OpenFile(path+".probe", os.O_CREATE|os.O_RDWR, 0o600)
	if osErr == nil {
		_, osErr = file.WriteAt(make([]byte, 1<<16), length)
		osErr = errors.Join(osErr, file.Sync(), file.Close(), os.Remove(file.Name()))
	}
	if osErr == nil {
		return err
	}
	return fmt.Errorf("%s: %w", strings.ReplaceAll(osErr.Error(), "\n", ", "), err)
}

// resultCode returns SQLite's primary result code of an error, SQLITE_OK for an
// error that does not come from SQLite.
func resultCode(err error) int { return extendedCode(err) & 0xff }

func extendedCode(err error) int {
	if code := zombiezen.ErrCode(err); code.ToPrimary() != zombiezen.ResultOK && code.ToPrimary() != zombiezen.ResultError {
		return int(code)
	}
	// Migrations use database/sql.
	var sqliteError *sqlite.Error
	if !errors.As(err, &sqliteError) {
		return sqlite3.SQLITE_OK
	}
	return sqliteError.Code()
}

// diskFull adds syscall.ENOSPC to the error of a full disk, so that a caller can
// tell without knowing SQLite. Without room for the file with the suffix -shm, the
// error is an I/O error.
func diskFull(err error) error {
	if code := extendedCode(err); code == sqlite3.SQLITE_FULL || code == sqlite3.SQLITE_IOERR_SHMSIZE {
		return fmt.Errorf("%w: %w", syscall.ENOSPC, err)
	}
	return err
}

// denied adds what the system says to the error of a file that cannot be opened for writing, which
// has the same code as that of a file that is not there.
func denied(path string, err error) error {
	switch resultCode(err) {
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		for _, suffix := range suffixes {
			// Not opened before: closing it releases no lock.
			file, openErr := os.OpenFile(path+suffix, os.O_RDWR, 0)
			if openErr == nil {
				_ = file.Close()
			} else if !errors.Is(openErr, fs.ErrNotExist) {
				return fmt.Errorf("%w: %w", openErr, err)
			}
		}
	}
	return err
}

// ErrNoSharedMemory is the error of a file system whose files cannot be mapped into memory, as
// that of FUSE with direct_io.
var ErrNoSharedMemory = errors.New("the file system lacks shared memory, which a write-ahead log needs; move the data to a local disk")

// errCut is the error of a database that a process uses, and whose log was deleted or cut.
var errCut = errors.New("a file of the database was deleted, cut or replaced while it was in use; stop the service, put the database back, from a backup if need be, and start it")

// notLocal adds ErrNoSharedMemory or errCut to an error that it causes.
func notLocal(err error) error {
	switch extendedCode(err) {
	case sqlite3.SQLITE_IOERR_SHMMAP, sqlite3.SQLITE_IOERR_SHMOPEN, sqlite3.SQLITE_IOERR_SHMLOCK:
		return fmt.Errorf("%w: %w", ErrNoSharedMemory, err)
	case sqlite3.SQLITE_IOERR_SHORT_READ:
		return fmt.Errorf("%w: %w", errCut, err)
	}
	return err
}

// Damaged reports whether an error means that the file is damaged, or no database.
func Damaged(err error) bool {
	return resultCode(err) == sqlite3.SQLITE_CORRUPT || resultCode(err) == sqlite3.SQLITE_NOTADB
}

// damaged adds what to do to the error of a damaged file, which SQLite may find before
// QuickCheck runs.
func damaged(err error) error {
	if Damaged(err) {
		return sqldb.CheckResult(err.Error())
	}
	return err
}
