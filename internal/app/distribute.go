package app

import (
	"context"
	"errors"

	"merchantorders/internal/config"
	"merchantorders/internal/maintenance/citus"
	"merchantorders/internal/store"
)

type distributeCommand struct{ alwaysValid }

func (*distributeCommand) run(ctx context.Context, p *process) error {
	if _, ok := p.settings.PostgresURL(); !ok {
		return &usageError{err: config.Invalid("database", "must be a PostgreSQL address: "+citus.ErrNotPostgres.Error())}
	}
	db, err := p.openDatabase(ctx, store.Options{Now: p.now})
	if err != nil {
		return p.cannotOpen(ctx, "database", p.settings.Database, err)
	}
	result, err := citus.Distribute(ctx, db.SQL())
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	for _, table := range result.Tables {
		state := "distributed by"
		if table.AlreadyDistributed {
			state = "already distributed by"
		}
		if err := p.print("%s: %s %s", table.Name, state, table.Column); err != nil {
			return err
		}
	}
	return p.print("nodes with data: %d", result.Nodes)
}
