package sqlite

import (
	"context"
	"errors"
	"os"
	"time"
)

const (
	// maxLog is the size of the longest write-ahead log that TruncateLog leaves, in
	// bytes. SQLite overwrites a log that no transaction needs, but never makes the file
	// shorter.
	maxLog = 16 << 20
	// truncateTimeout is how long those who write may wait for readers to leave the log.
	truncateTimeout = 50 * time.Millisecond
)

// LogSize implements sqldb.DB.
func (db *DB) LogSize() int64 {
	info, err := os.Stat(db.path + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}

// TruncateLog implements sqldb.DB. It first writes the log into the database while others
// write to the log, so that they wait for what is left only.
func (db *DB) TruncateLog(ctx context.Context) error {
	if db.LogSize() <= maxLog {
		return nil
	}
	return db.checkpoint(ctx, "PASSIVE", "TRUNCATE")
}

// checkpoint writes the log into the database, as far as others let it: the next run tries again.
func (db *DB) checkpoint(ctx context.Context, modes ...string) error {
	if err := db.Replaced(); err != nil {
		return err
	}
	c, err := openConn(db.path, truncateTimeout)
	if err != nil {
		return err
	}
	c.sqlite.SetInterrupt(ctx.Done())
	for _, mode := range modes {
		var busy, length, written int64
		err = errors.Join(err, c.QueryRow(ctx, `PRAGMA wal_checkpoint(`+mode+`)`, nil, &busy, &length, &written))
	}
	return errors.Join(err, c.sqlite.Close())
}
