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
func migrate(ctx context.Context, db *sql.DB, dialect goose.Dialect, folder string, options ...goose.ProviderOption) error {
	steps, err := fs.Sub(migrations, folder)
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(dialect, db, steps, options...)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	sources := provider.ListSources()
	version, err := provider.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("read schema version: %w", err)
	}
	if newest := sources[len(sources)-1].Version; version > newest {
		return fmt.Errorf("%w (schema %d, this version knows %d)", ErrNewerSchema, version, newest)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}
