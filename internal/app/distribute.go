package app

import (
	"context"
	"errors"

	"merchantorders/internal/config"
	"merchantorders/internal/store"
)

type distributeCommand struct{}

// Help is what --help adds.
func (*distributeCommand) Help() string {
	return `The database must be the coordinator of a Citus cluster that knows its nodes. All that belongs to a merchant comes to lie on one node, so that every request of a merchant is answered by that node alone; references and numbers of orders, unique in the whole service, are spread by themselves. Rows that are there are moved; requests that write wait meanwhile.

Run it again after an upgrade that brings new tables. What is in place stays as it is.

Example:

    merchant-orders distribute --database postgres://orders:secret@coordinator/orders`
}

func (*distributeCommand) check() error { return nil }

func (*distributeCommand) run(ctx context.Context, p *process) error {
	if _, ok := p.settings.PostgresURL(); !ok {
		return &usageError{err: config.About("database", "must be a PostgreSQL address: "+store.ErrNotClustered.Error())}
	}
	db, err := p.openDatabase(ctx, store.Options{Now: p.now})
	if err != nil {
		return p.cannotOpen(ctx, "database", p.settings.Database, err)
	}
	done, err := db.Distribute(ctx)
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	for _, spread := range done.Tables {
		how := "spread by"
		if spread.Before {
			how = "already spread by"
		}
		if err := p.print("%s: %s %s", spread.Table, how, spread.Column); err != nil {
			return err
		}
	}
	return p.print("nodes with data: %d", done.Nodes)
}
