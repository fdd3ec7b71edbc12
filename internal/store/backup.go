package store

import (
	"context"
	"errors"
	"fmt"
)

// ErrNoBackup says that a database is backed up by its server's own tools.
var ErrNoBackup = errors.New("the database is backed up by the tools of its server")

// Backup writes one moment of a database that may be in use to a new file, or to
// an empty one, as a database of its own. The file is durable only when the
// caller has made it so. Where a server keeps the data it returns ErrNoBackup.
func (db *DB) Backup(ctx context.Context, path string) error {
	f, ok := db.conns.(*file)
	if !ok {
		return ErrNoBackup
	}
	defer db.timed("backup")()
	if err := f.backup(ctx, path); err != nil {
		return db.failure(fmt.Errorf("write the database: %w", err))
	}
	return nil
}
