package app

import (
	"context"
	"errors"

	"merchantorders/internal/config"
	"merchantorders/internal/maintenance/citus"
	"merchantorders/internal/store"
)

type distributeCommand struct{}

// Help is what --help adds.
func (*distributeCommand) Help() string {
	return `The database must be the coordinator of a Citus cluster whose nodes are registered. All rows of a merchant are placed on one node, so that each request of a merchant needs that node only. References and ids of orders, which are unique in the whole service, are distributed by themselves. Existing rows are moved; requests that write wait until that is done.

Run it again after an upgrade that adds tables. Tables that are distributed already do not change.

Example:

    merchant-orders distribute --database postgres://orders:secret@coordinator/orders`
}

func (*distributeCommand) check() error { return nil }

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
