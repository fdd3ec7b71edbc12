// Package migrations holds the schema of each database, in steps with the same
// numbers, and brings a database up to date.
package migrations

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
)

//go:embed sqlite postgres
var files embed.FS

// ErrNoSchema means that a database has no schema, so no installation is in it.
var ErrNoSchema = errors.New("the database is empty; merchant-orders serve or merchant-orders merchant add makes a new installation")

// OlderSchemaError means that the database has yet to be migrated for this program.
type OlderSchemaError struct {
	Version int64 // of the database's schema
	Known   int64 // the newest version that this program knows
}

func (e *OlderSchemaError) Error() string {
	return fmt.Sprintf("the database has schema version %d and this program needs %d; make a backup with the program of that version,"+
		" then run merchant-orders migrate, or start merchant-orders serve", e.Version, e.Known)
}

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

// Options say what may be done to the schema of a database that is opened. The
// zero value allows everything.
type Options struct {
	NoCreate  bool // an empty database is ErrNoSchema
	NoMigrate bool // an older schema is an OlderSchemaError
	// NoNewer makes every newer schema a NewerSchemaError. Otherwise, if NoMigrate is
	// set, it may be the schema of the next release, with which programs of this one
	// still work.
	NoNewer bool
	// BeforeCreate is called before an empty database gets its schema; nil: not
	// called. After its error the database stays empty.
	BeforeCreate func(context.Context) error
	// OnStep is called after each step; nil: not called.
	OnStep func(Step)
}

// stepsPerRelease tells releases by the numbers of their steps: those of the first
// one are below it, those of the next one below twice as much.
const stepsPerRelease = 100

// Step is a step of a schema.
type Step struct {
	Version int64
	Name    string        // such as initial
	Took    time.Duration // 0 if it was not run
}

// Schema is the schema of one kind of database.
type Schema struct {
	dialect goose.Dialect
	folder  string
	// hasVersions tells whether there is the table of applied steps.
	hasVersions string
}

// The schemas.
var (
	SQLite = Schema{goose.DialectSQLite3, "sqlite",
		`SELECT COUNT(*) > 0 FROM sqlite_schema WHERE type = 'table' AND name = 'goose_db_version'`}
	Postgres = Schema{goose.DialectPostgres, "postgres",
		`SELECT to_regclass('goose_db_version') IS NOT NULL`}
)

// Tables are the tables that the service reads and writes.
var Tables = []string{
	"merchants", "tokens", "counters", "order_keys", "orders", "order_words", "order_days", "invoices", "events",
	"idempotency_keys", "audit", "deleted_orders", "webhooks", "webhook_deliveries", "link_key",
	"sessions", "login_links",
}

// InvoiceIDs is the sequence that PostgreSQL has instead of a row in counters.
const InvoiceIDs = "invoice_ids"

// Check reports whether Up has something to do, and returns the error of a
// schema that the options do not allow. It changes nothing.
func (s Schema) Check(ctx context.Context, db *sql.DB, options Options) (bool, error) {
	version, err := s.Version(ctx, db)
	if err != nil {
		return false, err
	}
	steps, err := s.Steps()
	if err != nil {
		return false, err
	}
	newest := steps[len(steps)-1].Version
	neighbor := version/stepsPerRelease <= newest/stepsPerRelease+1 && options.NoMigrate && !options.NoNewer
	switch {
	case version > newest && !neighbor:
		return false, &NewerSchemaError{Version: version, Known: newest}
	case version >= newest:
		return false, nil
	case version == 0 && options.NoCreate:
		return false, ErrNoSchema
	case version == 0 && options.BeforeCreate != nil:
		return true, options.BeforeCreate(ctx)
	case version > 0 && options.NoMigrate:
		return false, &OlderSchemaError{Version: version, Known: newest}
	}
	return true, nil
}

// Up brings the schema of a database up to date, each step in a transaction, if
// the options allow it. The caller makes sure that only one process does so at a
// time.
func (s Schema) Up(ctx context.Context, db *sql.DB, options Options) error {
	if change, err := s.Check(ctx, db, options); err != nil || !change {
		return err
	}
	provider, err := s.Provider(db)
	if err != nil {
		return err
	}
	for {
		result, err := provider.UpByOne(ctx)
		if errors.Is(err, goose.ErrNoNextVersion) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("migrate: %w", err)
		}
		if options.OnStep != nil {
			step := stepOf(result.Source.Path, result.Source.Version)
			step.Took = result.Duration
			options.OnStep(step)
		}
	}
}

// Version returns the version of the schema of a database; 0 if it has none.
func (s Schema) Version(ctx context.Context, db *sql.DB) (int64, error) {
	var exists bool
	var version int64
	err := db.QueryRowContext(ctx, s.hasVersions).Scan(&exists)
	if err == nil && exists {
		err = db.QueryRowContext(ctx, `SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version WHERE is_applied`).Scan(&version)
	}
	if err != nil {
		return 0, fmt.Errorf("read schema version: %w", err)
	}
	return version, nil
}

// Steps returns all steps in their order.
func (s Schema) Steps() ([]Step, error) {
	entries, err := fs.ReadDir(files, s.folder)
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	steps := make([]Step, len(entries))
	for i, entry := range entries {
		version, err := goose.NumericComponent(entry.Name())
		if err != nil {
			return nil, fmt.Errorf("read migrations: %w", err)
		}
		steps[i] = stepOf(entry.Name(), version)
	}
	return steps, nil
}

// stepOf returns the step of a file such as 00001_initial.sql.
func stepOf(file string, version int64) Step {
	_, name, _ := strings.Cut(strings.TrimSuffix(path.Base(file), ".sql"), "_")
	return Step{Version: version, Name: name}
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
