package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// ErrCopying says that another copy is at work on a database, or that source and
// target of a copy are one database.
var ErrCopying = errors.New("source and target are the same database, or another copy is at work on one of them")

// Exclude keeps every other copy away from the database until what it returns is
// closed, or, when shared, only those that would write to it. It returns
// ErrCopying when another one is at work.
func (db *DB) Exclude(ctx context.Context, shared bool) (io.Closer, error) {
	held, err := db.dialect.exclude(ctx, db, shared)
	if err == nil && held == nil {
		err = ErrCopying
	}
	return held, db.failure(err)
}

// copyLock is the number of the advisory lock of who copies: any that nothing
// else on the database uses.
const copyLock = 0x636f7079 // "copy"

// excludePostgres takes an advisory lock on a connection of its own.
func excludePostgres(ctx context.Context, db *DB, shared bool) (io.Closer, error) {
	connection, err := db.conns.(*server).seldom.Conn(ctx)
	if err != nil {
		return nil, err
	}
	text := `SELECT pg_try_advisory_lock($1)`
	if shared {
		text = `SELECT pg_try_advisory_lock_shared($1)`
	}
	held := lockedConnection{connection}
	// The server takes a moment to notice that a copy was killed.
	pause := time.NewTicker(goneAfter / 30)
	defer pause.Stop()
	for range 30 {
		var taken bool
		err = connection.QueryRowContext(ctx, text, int64(copyLock)).Scan(&taken)
		if err != nil {
			return nil, errors.Join(err, held.Close())
		}
		if taken {
			return held, nil
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), held.Close())
		}
	}
	return nil, held.Close()
}

// goneAfter is how long a lock is waited for that a process may hold which is
// gone.
const goneAfter = 3 * time.Second

// lockedConnection is a connection that holds a lock as long as it is open.
type lockedConnection struct{ *sql.Conn }

// Close lets go of the lock and ends the connection, which would let go of it a
// little later.
func (c lockedConnection) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), goneAfter)
	defer cancel()
	_, _ = c.ExecContext(ctx, `SELECT pg_advisory_unlock_all()`)
	_ = c.Raw(func(any) error { return driver.ErrBadConn })
	return nil
}

// excludeSQLite locks a file beside that of the database.
func excludeSQLite(ctx context.Context, db *DB, shared bool) (io.Closer, error) {
	var path string
	if err := db.conns.row(ctx, `SELECT file FROM pragma_database_list WHERE name = 'main'`, nil, &path); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path+".copy.lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	how := syscall.LOCK_EX
	if shared {
		how = syscall.LOCK_SH
	}
	for {
		err = syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
		switch {
		case err == nil:
			return file, nil
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return nil, file.Close()
		default:
			return nil, errors.Join(err, file.Close())
		}
	}
}
