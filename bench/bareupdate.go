package main

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	_ "modernc.org/sqlite"             // the driver "sqlite"
)

// bareRows is the number of rows of bareTable.
const bareRows = 10_000

// bareTable is a table for bare updates: one connection, one commit each.
type bareTable struct {
	db     *sql.DB
	update *sql.Stmt
}

// openBareTable creates the table: for SQLite in a file with the settings of
// the service's database, for PostgreSQL in the service's database.
func (i *installation) openBareTable(ctx context.Context) (*bareTable, error) {
	driver, source := "pgx", i.postgresURL
	if source == "" {
		driver = "sqlite"
		source = (&url.URL{Scheme: "file", Opaque: url.PathEscape(filepath.Join(i.dataDir, "bare.db")), RawQuery: url.Values{
			"_pragma": {"busy_timeout(10000)", "page_size(8192)", "journal_mode(WAL)", "synchronous(FULL)"}, "_txlock": {"immediate"},
		}.Encode()}).String()
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	t := &bareTable{db: db}
	if err := t.fill(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return t, nil
}

func (t *bareTable) fill(ctx context.Context) error {
	tx, err := t.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, `CREATE TABLE bare (id BIGINT NOT NULL PRIMARY KEY, state BIGINT NOT NULL, content TEXT NOT NULL)`); err != nil {
		return err
	}
	insert, err := tx.PrepareContext(ctx, `INSERT INTO bare (id, state, content) VALUES ($1, 0, 'a text about as long as a list entry')`)
	if err != nil {
		return err
	}
	defer func() { _ = insert.Close() }()
	for id := range bareRows {
		if _, err := insert.ExecContext(ctx, id); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	t.update, err = t.db.PrepareContext(ctx, `UPDATE bare SET state = state + 1 WHERE id = $1`)
	return err
}

// updateRate updates rows one after the other and returns the updates a second.
func (t *bareTable) updateRate(ctx context.Context, count int) (float64, error) {
	start := time.Now()
	for range count {
		if _, err := t.update.ExecContext(ctx, rand.IntN(bareRows)); err != nil {
			return 0, err
		}
	}
	return perSecond(count, time.Since(start)), nil
}

func (t *bareTable) close() error { return errors.Join(t.update.Close(), t.db.Close()) }
