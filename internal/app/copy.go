package app

import (
	"context"
	"errors"
	"fmt"

	"merchantorders/internal/config"
	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/copier"
	"merchantorders/internal/store"
)

type copyCommand struct {
	Target targetFlags `embed:""`
}

func (c *copyCommand) check() error { return config.Target(c.Target).Validate() }

func (c *copyCommand) run(ctx context.Context, p *process) error {
	if err := p.expectInstallation(); err != nil {
		return err
	}
	return p.withBackend(ctx, func(b *backend) error {
		target := &copyTarget{process: *p, flags: config.Target(c.Target)}
		err := target.open(ctx, p.settings.Data)
		if err == nil {
			err = p.copy(ctx, b.installation(), target)
		}
		return errors.Join(err, target.close())
	})
}

// copy copies the source to the target and prints what it did.
func (p *process) copy(ctx context.Context, source maintenance.Installation, target *copyTarget) error {
	progress := &stages{p: p, into: p.stderr}
	result, err := copier.Copy(ctx, source, target.installation, progress.reporter())
	progress.clear()
	switch {
	case ctx.Err() != nil:
		return errors.New("the copy was stopped; run it again to resume it")
	case errors.Is(err, copier.ErrForeignTarget):
		return target.cannotOpen(ctx, "to-database", target.flags.Database, err)
	case err != nil:
		return err
	case result.Findings > 0:
		return fmt.Errorf("%s between source and target; run check to see whether the source has them too",
			count(result.Findings, "difference", "differences"))
	}
	return p.printCopyResult(result, target.installation)
}

// printCopyResult prints what was copied and verified, and what to do next.
func (p *process) printCopyResult(r copier.Result, target maintenance.Installation) error {
	err := p.print("copied: rows %d, files %d; all else was there", r.RowsChanged, r.FilesCopied)
	if target.DB != nil && err == nil {
		err = p.print("verified: merchants %d, orders %d, day counts %d, invoices %d, events %d, order keys %d, tokens %d",
			r.Merchants, r.Rows.Orders, r.Rows.Days, r.Rows.Invoices, r.Rows.Events, r.OrderKeys, r.Tokens)
	}
	if target.Files != nil && err == nil {
		err = p.print("verified: SHA-256 of %s", count(r.FilesVerified, "file", "files"))
	}
	if r.SourceChanging && err == nil {
		err = p.print("The source kept changing: its last changes are not in the copy.")
	}
	if err != nil {
		return err
	}
	return p.print("To switch over, stop servers and imports on the source, run this command again, and start servers on the target.")
}

// copyTarget is the target of a copy.
type copyTarget struct {
	process      // with the settings of the target
	flags        config.Target
	installation maintenance.Installation
	closers      []func() error
}

// open opens the target. sourceData is the data folder of the source.
func (t *copyTarget) open(ctx context.Context, sourceData string) error {
	t.settings = t.flags.Config()
	if t.settings.Data == "" {
		// For staged files of S3 only. A server that starts on the folder removes
		// what a killed copy left there.
		t.settings.Data = sourceData
	} else if _, err := t.createDataFolder(); err != nil {
		return err
	}
	if t.flags.MovesDatabase() {
		db, err := t.openDatabase(ctx, store.Options{Now: t.now})
		if err != nil {
			return t.cannotOpen(ctx, "to-database", t.flags.Database, err)
		}
		t.installation.DB = db.SQL()
		t.closers = append(t.closers, db.Close)
	}
	if t.flags.MovesFiles() {
		files, err := t.openFiles(ctx)
		if err != nil {
			return t.cannotOpen(ctx, "to-storage", t.flags.Storage, err)
		}
		t.installation.Files = files
		t.closers = append(t.closers, files.Close)
	}
	return nil
}

// close closes what open has opened.
func (t *copyTarget) close() error {
	var err error
	for _, closer := range t.closers {
		err = errors.Join(err, closer())
	}
	return err
}

// cannotOpen returns a usage error about a flag, or about --to-data if the flag
// has no value.
func (t *copyTarget) cannotOpen(ctx context.Context, flag, value string, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if value == "" {
		flag = "to-data"
	}
	return &usageError{err: config.Invalid(flag, oneLine(err.Error()))}
}
