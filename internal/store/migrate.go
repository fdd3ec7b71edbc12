package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

//go:embed migration
var migrations embed.FS

// ErrNewerSchema says that a newer version of the service has been at work on
// the database.
var ErrNewerSchema = errors.New("the database was made by a newer version of merchant-orders")

// migrate brings the schema up to date, one transaction a step. The caller
// sees to it that nobody else does so at the same time.
func migrate(ctx context.Context, db *sql.DB, dialect goose.Dialect, folder string) error {
	steps, err := fs.Sub(migrations, folder)
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(dialect, db, steps)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	newest, err := newestSchema(folder)
	if err != nil {
		return err
	}
	version, err := provider.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	if version > newest {
		return fmt.Errorf("%w (schema %d, this version knows %d)", ErrNewerSchema, version, newest)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// newestSchema returns the number of the last migration in a folder.
func newestSchema(folder string) (int64, error) {
	entries, err := fs.ReadDir(migrations, folder)
	if err != nil {
		return 0, fmt.Errorf("read migrations: %w", err)
	}
	return goose.NumericComponent(entries[len(entries)-1].Name())
}
