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

// Help is what --help adds.
func (*copyCommand) Help() string {
	return `The settings name the source, the flags with to- the target; what they do not name stays where it is. Any combination works in any direction. The source may be in use, the target must not be, and must be empty or an earlier copy of the same source.

All is copied as it is: numbers, references, tokens, times, events. What is there and equal is kept, so that a copy that was stopped is simply run again, and another run brings what has changed since. In the end the rows of every table are counted in source and target, and every file in the target is read and compared with its SHA-256. With a difference the exit code is 1.

To switch over: copy while the service runs; stop servers and imports; copy once more, which takes no longer than reading everything; start servers on the target.

Examples:

    merchant-orders copy --to-database postgres://orders:secret@db/orders --to-storage s3://invoices?region=eu-central-1
    merchant-orders copy --database postgres://orders:secret@db/orders --storage s3://invoices?region=eu-central-1 --to-data /var/lib/merchant-orders`
}

func (c *copyCommand) check() error { return config.Target(c.Target).Validate() }

func (c *copyCommand) run(ctx context.Context, p *process) error {
	if err := p.mustBeThere(); err != nil {
		return err
	}
	return p.withBackend(ctx, func(b *backend) error {
		t := &copyTarget{process: *p, flags: config.Target(c.Target)}
		err := t.open(ctx, p.settings.Data)
		if err == nil {
			err = p.copy(ctx, maintenance.Installation{DB: b.db, Files: b.files}, t)
		}
		return errors.Join(err, t.close())
	})
}

// copy copies, and says what was done and what to do next.
func (p *process) copy(ctx context.Context, from maintenance.Installation, t *copyTarget) error {
	shown, to := &stages{p: p, into: p.stderr}, t.place
	done, err := copier.Copy(ctx, from, to, shown.options())
	shown.clear()
	switch {
	case ctx.Err() != nil:
		return errors.New("stopped before the end; run it again to copy the rest")
	case errors.Is(err, store.ErrForeign):
		return t.cannotOpen(ctx, "to-database", t.flags.Database, err)
	case err != nil:
		return err
	case done.Faults > 0:
		return fmt.Errorf("%s between source and target; see whether check finds them in the source too", count(done.Faults, "difference", "differences"))
	}
	if err := p.print("copied: rows %d, files %d; all else was there", done.Rows, done.Files); err != nil {
		return err
	}
	if to.DB != nil {
		err = p.print("verified: merchants %d, orders %d, day counts %d, invoices %d, events %d, order keys %d, tokens %d",
			done.Merchants, done.Counts.Orders, done.Counts.Days, done.Counts.Invoices, done.Counts.Events, done.Keys, done.Tokens)
	}
	if to.Files != nil && err == nil {
		err = p.print("verified: SHA-256 of %s", count(done.Compared, "file", "files"))
	}
	if err != nil {
		return err
	}
	if done.Restless {
		if err := p.print("The source kept changing: what came in last is not in the copy."); err != nil {
			return err
		}
	}
	return p.print("To switch over, stop servers and imports on the source, run this once more, and start servers on the target.")
}

// copyTarget is where a copy goes.
type copyTarget struct {
	process // with the target's settings
	flags   config.Target
	place   maintenance.Installation
	close   func() error
}

// open opens what is copied to. source is the data folder of what is copied.
func (t *copyTarget) open(ctx context.Context, source string) error {
	var closers []func() error
	t.close = func() error {
		var err error
		for _, closer := range closers {
			err = errors.Join(err, closer())
		}
		return err
	}
	t.settings = t.flags.Config()
	if t.settings.Data == "" {
		// Only for what is on its way to a bucket. What a copy that was killed leaves
		// there is cleared away when a server starts.
		t.settings.Data = source
	} else if _, err := t.createDataFolder(); err != nil {
		return err
	}
	if t.flags.MovesDatabase() {
		db, err := t.openDatabase(ctx, store.Options{Now: t.now})
		if err != nil {
			return t.cannotOpen(ctx, "to-database", t.flags.Database, err)
		}
		t.place.DB = db
		closers = append([]func() error{db.Close}, closers...)
	}
	if t.flags.MovesFiles() {
		files, err := t.openFiles(ctx)
		if err != nil {
			return t.cannotOpen(ctx, "to-storage", t.flags.Storage, err)
		}
		t.place.Files = files
		closers = append([]func() error{files.Close}, closers...)
	}
	return nil
}

// cannotOpen blames a flag, or the folder where it has no value.
func (t *copyTarget) cannotOpen(ctx context.Context, flag, value string, err error) error {
	if ctx.Err() != nil {
		return err
	}
	if value == "" {
		flag = "to-data"
	}
	return &usageError{err: config.About(flag, oneLine(err.Error()))}
}
