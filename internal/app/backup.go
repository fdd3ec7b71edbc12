package app

import (
	"context"
	"errors"

	"merchantorders/internal/maintenance/backup"
)

type backupCommand struct {
	To string `arg:"" name:"file|dir" help:"Path of the backup: a tar file if it ends in .tar, .tar.gz or .tgz, else a folder. It must not exist."`
}

func (c *backupCommand) check() error {
	if c.To == "" {
		return errors.New("the path of the backup is empty")
	}
	return nil
}

func (c *backupCommand) run(ctx context.Context, p *process) error {
	if err := p.settings.Embedded(); err != nil {
		return &usageError{err: err}
	}
	if err := p.expectInstallation(); err != nil {
		return err
	}
	return p.withBackend(ctx, func(b *backend) error {
		progress := &stages{p: p, into: p.stderr}
		result, err := backup.Create(ctx, b.installation(), c.To, p.now(), version(), progress.reporter())
		progress.clear()
		if err != nil {
			return err
		}
		err = p.print("backed up to %s: database %d bytes, invoice files %d with %d bytes", c.To, result.Database.Size, result.Files, result.FileBytes)
		if result.Findings > 0 {
			return errors.New("the backup is complete, but the installation has " + count(result.Findings, "missing or damaged file", "missing or damaged files"))
		}
		return err
	})
}
