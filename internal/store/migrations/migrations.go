// Package migrations holds the schema of each database, in steps with the same
// numbers, and brings a database up to date. A database that has run other steps than
// these has a foreign migration history and is refused.
package migrations

import (
	"context"
	"crypto/sha256"
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

// Options say what may be done to the schema of a database that is opened. The
// zero value allows everything.
type Options struct {
	NoCreate  bool // an empty database is ErrNoSchema
	NoMigrate bool // an older schema is an OlderSchemaError
	// NoNewer makes every newer schema a NewerSchemaError. Otherwise a schema may be
	// newer by steps that only add, and, if NoMigrate is set, that of the next release,
	// with which running programs of this one still work.
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
	Version     int64
	Name        string        // such as initial
	Adds        bool          // its file is named .adds.sql: programs that do not know it work with what it makes
	Applied     bool          // the database has run it
	Took        time.Duration // 0 if it was not run now
	First, Last bool          // of this program's steps
	fingerprint string        // of its file
}

// Schema is the schema of one kind of database.
type Schema struct {
	dialect goose.Dialect
	files   fs.FS
	folder  string // in files
	// hasTable tells whether there is a table.
	hasTable string
}

// The schemas.
var (
	SQLite   = Schema{goose.DialectSQLite3, files, "sqlite", `SELECT COUNT(*) > 0 FROM sqlite_schema WHERE type = 'table' AND name = $1`}
	Postgres = Schema{goose.DialectPostgres, files, "postgres", `SELECT to_regclass($1) IS NOT NULL`}
)

// Tables are the tables that the service reads and writes.
var Tables = []string{
	"merchants", "tokens", "counters", "order_keys", "orders", "order_words", "order_days", "invoices", "events",
	"idempotency_keys", "audit", "deleted_orders", "webhooks", "webhook_deliveries", "link_key",
	"sessions", "login_links", "event_feed", "kept",
}

// InvoiceIDs is the sequence that PostgreSQL has instead of a row in counters.
const InvoiceIDs = "invoice_ids"

// Check reports whether Up has something to do, and returns the error of a
// schema that the options do not allow. It changes nothing.
func (s Schema) Check(ctx context.Context, db *sql.DB, options Options) (bool, error) {
	status, err := s.Status(ctx, db)
	if err != nil {
		return false, err
	}
	change, err := status.check(options)
	if err == nil && status.Version == 0 && options.BeforeCreate != nil {
		err = options.BeforeCreate(ctx)
	}
	return change, err
}

// Up brings the schema of a database up to date, each step in a transaction, if
// the options allow it. The caller makes sure that only one process does so at a
// time.
func (s Schema) Up(ctx context.Context, db *sql.DB, options Options) error {
	if change, err := s.Check(ctx, db, options); err != nil || !change {
		return err
	}
	if err := s.expectOwn(ctx, db); err != nil {
		return err
	}
	provider, err := s.provider(db)
	if err != nil {
		return err
	}
	steps := provider.ListSources()
	for {
		result, err := provider.UpByOne(ctx)
		if errors.Is(err, goose.ErrNoNextVersion) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("migrate: %w", err)
		}
		if options.OnStep != nil {
			options.OnStep(Step{
				Version: result.Source.Version, Name: stepName(result.Source.Path), Applied: true, Took: result.Duration,
				First: result.Source.Version == steps[0].Version, Last: result.Source.Version == steps[len(steps)-1].Version,
			})
		}
	}
}

// expectOwn returns an error if a database without a history has a table of the service.
func (s Schema) expectOwn(ctx context.Context, db *sql.DB) error {
	applied, err := s.applied(ctx, db)
	if err != nil || len(applied) > 0 {
		return err
	}
	for _, table := range Tables {
		var exists bool
		if err := db.QueryRowContext(ctx, s.hasTable, table).Scan(&exists); err != nil {
			return err
		}
		if exists {
			return fmt.Errorf("it belongs to another program, whose table %s is in it: use another database", table)
		}
	}
	return nil
}

// Steps returns all steps in their order.
func (s Schema) Steps() ([]Step, error) {
	entries, err := fs.ReadDir(s.files, s.folder)
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	steps := make([]Step, len(entries))
	for i, entry := range entries {
		version, err := goose.NumericComponent(entry.Name())
		if err != nil {
			return nil, fmt.Errorf("read migrations: %w", err)
		}
		content, err := fs.ReadFile(s.files, path.Join(s.folder, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("read migrations: %w", err)
		}
		hash := sha256.Sum256(content)
		steps[i] = Step{Version: version, Name: stepName(entry.Name()), Adds: strings.HasSuffix(entry.Name(), addsSuffix), fingerprint: fmt.Sprintf("%x", hash[:8])}
	}
	return steps, nil
}

// addsSuffix ends the names of the files of steps that only add.
const addsSuffix = ".adds.sql"

// stepName returns the name of the step in a file such as 00001_initial.sql or
// 00101_merchant_reference.adds.sql.
func stepName(file string) string {
	_, name, _ := strings.Cut(path.Base(file), "_")
	name, _, _ = strings.Cut(name, ".")
	return name
}
