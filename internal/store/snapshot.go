package store

import (
	"context"

	"merchantorders/internal/store/sqldb"
)

// Snapshot is one moment of a database, for reading all that is there.
type Snapshot struct {
	sqldb.Querier
	db *DB
}

// Snapshot runs fn on one moment of the database. What is changed meanwhile it
// does not see, and it keeps nobody from changing it. The snapshot is good until
// fn returns.
func (db *DB) Snapshot(ctx context.Context, fn func(*Snapshot) error) error {
	defer db.timed("snapshot")()
	return db.wrap(db.sql.Snapshot(ctx, func(r sqldb.Querier) error {
		return fn(&Snapshot{Querier: r.WithoutTimeout(), db: db})
	}))
}
