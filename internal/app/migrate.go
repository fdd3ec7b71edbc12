package app

import (
	"context"
	"log/slog"
	"strconv"

	"merchantorders/internal/store"
	"merchantorders/internal/store/migrations"
)

type migrateCommand struct {
	alwaysValid
	Status bool `help:"Change nothing: list the steps of the schema, and which of them are applied."`
}

func (c *migrateCommand) run(ctx context.Context, p *process) error {
	if c.Status {
		return p.printSchema(ctx)
	}
	_, postgres := p.settings.PostgresURL()
	db, err := p.openDatabase(ctx, store.Options{Schema: migrations.Options{
		NoCreate: !postgres, OnStep: logSteps(p.log(slog.LevelInfo)),
	}})
	if err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	version, _, err := p.schema(ctx)
	if err != nil {
		return err
	}
	return p.print("schema version %d: up to date", version)
}

// schema returns the version and the steps of the schema of the database.
func (p *process) schema(ctx context.Context) (int64, []migrations.Step, error) {
	version, address, all := store.SQLiteVersion, p.settings.DatabasePath(), migrations.SQLite
	if url, ok := p.settings.PostgresURL(); ok {
		version, address, all = store.PostgresVersion, url, migrations.Postgres
	}
	applied, err := version(ctx, address)
	if err != nil {
		return 0, nil, p.cannotOpen(ctx, "database", p.settings.Database, err)
	}
	steps, err := all.Steps()
	return applied, steps, err
}

// printSchema prints the steps of the schema.
func (p *process) printSchema(ctx context.Context) error {
	if err := p.expectInstallation(); err != nil {
		return err
	}
	version, steps, err := p.schema(ctx)
	if err != nil {
		return err
	}
	err = printTable(p, []string{"SCHEMA", "STEP", "STATUS"}, steps, func(step migrations.Step) []string {
		status := "applied"
		if step.Version > version {
			status = "pending"
		}
		return []string{strconv.FormatInt(step.Version, 10), step.Name, status}
	})
	if err != nil {
		return err
	}
	switch newest := steps[len(steps)-1].Version; {
	case version > newest:
		return p.print("schema version %d: migrated by a newer version of merchant-orders", version)
	case version < newest:
		return p.print("schema version %d: run merchant-orders migrate, or start merchant-orders serve, for version %d", version, newest)
	}
	return p.print("schema version %d: up to date", version)
}
