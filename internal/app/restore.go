package app

import (
	"context"
	"errors"
	"fmt"

	"merchantorders/internal/maintenance/backup"
	"merchantorders/internal/maintenance/check"
)

type restoreCommand struct {
	From       string `arg:"" name:"file|dir" help:"Backup to restore, as merchant-orders backup has made it."`
	WithFaults bool   `name:"with-faults" help:"Put in place what there is, also when invoice files are missing or damaged."`
}

// Help is what --help adds.
func (*restoreCommand) Help() string {
	return `The data folder must be empty or missing. The backup is unpacked and looked through as the command check does, with the SHA-256 of every file; only when nothing is wrong it is put in place. Otherwise each fault is one line on standard error, the data folder stays empty, and the exit code is 1.

Example:

    merchant-orders restore /backup/orders-2026-11-20.tar --data /var/lib/merchant-orders`
}

func (c *restoreCommand) check() error {
	if c.From == "" {
		return errors.New("the name of the backup is empty")
	}
	return nil
}

func (c *restoreCommand) run(ctx context.Context, p *process) error {
	if err := p.settings.Embedded(); err != nil {
		return &usageError{err: err}
	}
	if _, err := p.createDataFolder(); err != nil {
		return err
	}
	// A server that starts meanwhile waits until all is in place.
	lock, alone, err := lockFolder(ctx, p.settings.LockPath())
	if err != nil {
		return err
	}
	if !alone {
		return errors.Join(errors.New("a server is at work on the data folder"), lock.release())
	}
	result, err := c.restore(ctx, p)
	if err := errors.Join(err, lock.release()); err != nil {
		return err
	}
	return p.printChecked("restored and checked", result)
}

func (c *restoreCommand) restore(ctx context.Context, p *process) (check.Result, error) {
	home := backup.Home{Folder: p.settings.Data, Database: p.settings.DatabasePath(), Files: p.settings.FilesPath()}
	shown := &stages{p: p, into: p.stderr}
	result, err := backup.Restore(ctx, c.From, home, c.WithFaults, shown.options())
	shown.clear()
	if errors.Is(err, backup.ErrDamaged) && result.Faults > 0 {
		err = fmt.Errorf("%w, nothing was restored: %s (--with-faults restores what there is)", err, count(result.Faults, "fault", "faults"))
	}
	return result, err
}
