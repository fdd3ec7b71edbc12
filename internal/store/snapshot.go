package store

import "context"

// Snapshot is one moment of a database, for reading all that is there.
type Snapshot struct {
	run
	db *DB
}

// Snapshot runs fn on one moment of the database. What is changed meanwhile it
// does not see, and it keeps nobody from changing it. The snapshot is good until
// fn returns.
func (db *DB) Snapshot(ctx context.Context, fn func(*Snapshot) error) error {
	defer db.timed("snapshot")()
	return db.failure(db.conns.snapshot(ctx, func(r run) error {
		return fn(&Snapshot{run: r.patient(), db: db})
	}))
}
