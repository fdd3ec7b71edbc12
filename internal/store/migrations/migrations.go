// Package migrations holds the schema of each database, in steps with the same
// numbers, and brings a database up to date.
package migrations

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

//go:embed sqlite postgres
var files embed.FS

// NewerSchemaError means that a newer version of the service has migrated the
// database.
type NewerSchemaError struct {
	Version int64 // of the database's schema
	Known   int64 // the newest version that this program knows
}

func (e *NewerSchemaError) Error() string {
	return fmt.Sprintf("the database was migrated by a newer version of merchant-orders"+
		" (schema version %d, this program knows %d); start that version", e.Version, e.Known)
}

// Schema is the schema of one kind of database.
type Schema struct {
	dialect goose.Dialect
	folder  string
}

// The schemas.
var (
	SQLite   = Schema{goose.DialectSQLite3, "sqlite"}
	Postgres = Schema{goose.DialectPostgres, "postgres"}
)

// Tables are the tables that the service reads and writes.
var Tables = []string{
	"merchants", "tokens", "counters", "order_keys", "orders", "order_days", "invoices", "events",
	"idempotency_keys",
}

// InvoiceIDs is the sequence that PostgreSQL has instead of a row in counters.
const InvoiceIDs = "invoice_ids"

// Up brings the schema of a database up to date, each step in a transaction. The
// caller makes sure that only one process does so at a time.
func (s Schema) Up(ctx context.Context, db *sql.DB) error {
	provider, err := s.Provider(db)
	if err != nil {
		return err
	}
	version, newest, err := provider.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	if version > newest {
		return &NewerSchemaError{Version: version, Known: newest}
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// Provider returns what runs the steps one by one.
func (s Schema) Provider(db *sql.DB) (*goose.Provider, error) {
	steps, err := fs.Sub(files, s.folder)
	if err != nil {
		return nil, err
	}
	provider, err := goose.NewProvider(s.dialect, db, steps)
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	return provider, nil
}

// Newest returns the number of the last step.
func (s Schema) Newest() (int64, error) {
	entries, err := fs.ReadDir(files, s.folder)
	if err != nil {
		return 0, fmt.Errorf("read migrations: %w", err)
	}
	return goose.NumericComponent(entries[len(entries)-1].Name())
}
