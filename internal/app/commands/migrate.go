package commands

import (
	"cmp"
	"context"
	"log/slog"
	"strconv"

	"merchantorders/internal/app"
	"merchantorders/internal/config"
	"merchantorders/internal/store"
	"merchantorders/internal/store/migrations"
)

type migrateCommand struct {
	Status bool `help:"Change nothing: list the steps of the schema, and which of them are applied."`
	JSON   bool `name:"json" help:"With --status: print one JSON document."`
}

func (c *migrateCommand) check() error {
	if c.JSON && !c.Status {
		return config.Invalid("json", "must be given together with --status")
	}
	return nil
}

func (c *migrateCommand) run(ctx context.Context, p *process) error {
	if c.Status {
		return p.printSchema(ctx, c.JSON)
	}
	schema := migrations.Options{NoCreate: true, BeforeCreate: p.OpenEmptyBucket, OnStep: app.LogSteps(p.log(slog.LevelInfo))}
	if p.Settings.DatabaseLocation().File() == "" {
		if err := p.AllowNew(&schema); err != nil {
			return err
		}
	}
	db, err := p.OpenDatabase(ctx, store.Options{Schema: schema})
	if err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	status, err := p.schema(ctx)
	if err != nil {
		return err
	}
	return p.print("schema version %d: up to date", status.Version)
}

// schema returns the migration history of the database. The error is as in OpenDatabase.
func (p *process) schema(ctx context.Context) (migrations.Status, error) {
	engine, address := p.Engine()
	status, err := engine.Schema(ctx, address)
	if err = cmp.Or(err, status.Foreign); err != nil {
		return status, p.CannotOpen(ctx, "database", p.Settings.Database, err)
	}
	return status, nil
}

// schemaStatus is the JSON output of migrate --status.
type schemaStatus struct {
	Version int64        `json:"version"` // of the database
	Newest  int64        `json:"newest"`  // that this program knows
	Steps   []stepStatus `json:"steps"`
}

type stepStatus struct {
	Version int64  `json:"version"`
	Step    string `json:"step"`
	Status  string `json:"status"` // applied or pending
}

// printSchema prints the steps of the schema.
func (p *process) printSchema(ctx context.Context, asJSON bool) error {
	if err := p.ExpectInstallation(); err != nil {
		return err
	}
	schema, err := p.schema(ctx)
	if err != nil {
		return err
	}
	status := schemaStatus{Version: schema.Version, Newest: schema.Newest}
	for _, step := range schema.Steps {
		word := "pending"
		if step.Applied {
			word = "applied"
		}
		status.Steps = append(status.Steps, stepStatus{Version: step.Version, Step: step.Name, Status: word})
	}
	if asJSON {
		return p.printJSON(status)
	}
	err = printTable(p, []string{"SCHEMA", "STEP", "STATUS"}, status.Steps, func(step stepStatus) []string {
		return []string{strconv.FormatInt(step.Version, 10), step.Step, step.Status}
	})
	if err != nil {
		return err
	}
	switch version, newest := status.Version, status.Newest; {
	case version > newest:
		return p.print("schema version %d: migrated by a newer version of merchant-orders", version)
	case version < newest:
		return p.print("schema version %d: run merchant-orders migrate, or start merchant-orders serve, for version %d", version, newest)
	}
	return p.print("schema version %d: up to date", status.Version)
}
