package app

import (
	"context"
	"errors"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/backup"
)

type backupCommand struct {
	To string `arg:"" name:"file|dir" help:"Where to: a tar file when the name ends in .tar, .tar.gz or .tgz, else a folder. Nothing may be there yet."`
}

// Help is what --help adds.
func (*backupCommand) Help() string {
	return `The copy is of one moment, taken while servers go on: first the database, by SQLite's own means, then every file that its invoices name. Under its name it appears only when it is complete and durable; one that was killed half-way leaves nothing but a hidden folder .NAME.partial-... beside it. It needs room for the database twice.

Missing or damaged files do not stop it: each is one line on standard error, and the exit code is then 1.

For PostgreSQL and S3 their own tools are better: see docs/operations.md.

Examples:

    merchant-orders backup /backup/orders-2026-11-20.tar
    merchant-orders backup /backup/orders-2026-11-20`
}

func (c *backupCommand) check() error {
	if c.To == "" {
		return errors.New("the name of the backup is empty")
	}
	return nil
}

func (c *backupCommand) run(ctx context.Context, p *process) error {
	if err := p.settings.Embedded(); err != nil {
		return &usageError{err: err}
	}
	if err := p.mustBeThere(); err != nil {
		return err
	}
	return p.withBackend(ctx, func(b *backend) error {
		shown := &stages{p: p, into: p.stderr}
		made, err := backup.Create(ctx, maintenance.Installation{DB: b.db, Files: b.files}, c.To, p.now(), version(), shown.options())
		shown.clear()
		if err != nil {
			return err
		}
		err = p.print("backed up to %s: database %d bytes, invoice files %d with %d bytes", c.To, made.Database.Size, made.Files, made.Bytes)
		if made.Faults > 0 {
			return errors.New("the backup is made, but in what was backed up there is wrong: " + count(made.Faults, "file", "files"))
		}
		return err
	})
}
