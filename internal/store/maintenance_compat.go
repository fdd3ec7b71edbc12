package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"merchantorders/internal/store/migrations"
	"merchantorders/internal/store/sqldb"
)

// ErrNewerSchema: see migrations.
var ErrNewerSchema = migrations.ErrNewerSchema

// ErrCopying says that another copy is at work on a database, or that source and
// target of a copy are one database.
var ErrCopying = errors.New("source and target are the same database, or another copy is at work on one of them")

// ErrNoBackup: see sqldb.
var ErrNoBackup = sqldb.ErrNoBackup

// Exclude is sqldb.DB.LockForCopy.
func (db *DB) Exclude(ctx context.Context, shared bool) (io.Closer, error) {
	lock, err := db.sql.LockForCopy(ctx, shared)
	if errors.Is(err, sqldb.ErrLocked) {
		return nil, ErrCopying
	}
	return lock, db.wrap(err)
}

// Backup is sqldb.DB.Backup.
func (db *DB) Backup(ctx context.Context, path string) error {
	err := db.sql.Backup(ctx, path)
	if err == nil || errors.Is(err, ErrNoBackup) {
		return err
	}
	return db.wrap(fmt.Errorf("write the database: %w", err))
}

// maintenanceTimeout limits a transaction of a maintenance command.
const maintenanceTimeout = time.Hour
