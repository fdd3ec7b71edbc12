package commands

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"

	"merchantorders/internal/app"
	"merchantorders/internal/config"
	"merchantorders/internal/maintenance/backup"
	"merchantorders/internal/maintenance/check"
	"merchantorders/internal/store"
)

type backupCommand struct {
	jsonFlag
	To string `arg:"" name:"file|dir" help:"Path of the backup: a tar file if it ends in .tar, .tar.gz or .tgz, else a folder; or s3://BUCKET/PATH?region=REGION&endpoint=URL for a tar file in a bucket, with credentials where --storage finds them. It must not exist."`
}

func (c *backupCommand) check() error { return checkPlace(c.To) }

// checkPlace checks the place of a backup.
func checkPlace(text string) error {
	switch text {
	case "":
		return errors.New("the path of the backup is empty")
	case "-":
		return errors.New("the path of the backup is that of a file or folder: - is not standard output or input; ./- is a folder")
	}
	if !config.IsObject(text) {
		return nil
	}
	_, _, err := config.ParseObject(text)
	return err
}

func (c *backupCommand) run(ctx context.Context, p *process) error {
	if err := p.Settings.Embedded(); err != nil {
		return app.UsageError{Err: err}
	}
	to, err := p.BackupPlace(c.To)
	if err == nil {
		err = p.ExpectOutsideFiles(to.Path)
	}
	if err != nil {
		return err
	}
	return p.nightly(ctx, existing, store.NightlyBackup, func(b *app.Backend) error {
		p.recordFolder(ctx, b, to)
		reporter, clearBar := p.progress(p.stderr)
		result, err := backup.Create(ctx, b.Installation(), to, p.Now(), app.Version(), reporter)
		clearBar()
		if err != nil {
			return err
		}
		document := backupJSON{result.Database.Size, result.Files, result.FileBytes, len(result.Removed), result.Findings}
		removed := ""
		if n := len(result.Removed); n > 0 {
			removed = ", removed meanwhile " + strconv.Itoa(n)
		}
		err = p.printResult(c.JSON, document, "backed up to %s: database %d bytes, invoice files %d with %d bytes%s", c.To, result.Database.Size, result.Files, result.FileBytes, removed)
		if result.Findings > 0 {
			return errors.New("the backup is complete, but the installation has " + count(result.Findings, "missing or damaged file", "missing or damaged files"))
		}
		return err
	})
}

// recordFolder records where the backup is made, for doctor. A database that cannot be written is
// no reason to make none.
func (p *process) recordFolder(ctx context.Context, b *app.Backend, to backup.Place) {
	folder, err := filepath.Abs(filepath.Dir(to.Path))
	if err == nil {
		recording, cancel := context.WithTimeout(ctx, recordTimeout)
		defer cancel()
		_ = b.DB.RecordBackupFolder(recording, folder, p.Now())
	}
}

// backupJSON is the JSON output of backup.
type backupJSON struct {
	DatabaseBytes int64 `json:"databaseBytes"`
	Files         int64 `json:"files"`
	FileBytes     int64 `json:"fileBytes"`
	Removed       int   `json:"removed"`  // files that were removed meanwhile, on purpose
	Findings      int64 `json:"findings"` // missing or damaged files
}

type restoreCommand struct {
	jsonFlag
	From         string `arg:"" name:"file|dir" help:"Path or URL of a backup that merchant-orders backup made."`
	WithFindings bool   `name:"with-faults" help:"Restore the backup even if invoice files are missing or damaged."`
	Partial      bool   `help:"Restore what can be read of a backup that was cut off or damaged, and say what is missing. Its database must be complete."`
}

func (c *restoreCommand) check() error { return checkPlace(c.From) }

func (c *restoreCommand) run(ctx context.Context, p *process) error {
	if err := p.Settings.Embedded(); err != nil {
		return app.UsageError{Err: err}
	}
	from, err := p.BackupPlace(c.From)
	if err == nil {
		err = from.Find(ctx)
	}
	if err != nil {
		return err
	}
	if _, err := p.CreateDataFolder(); err != nil {
		return err
	}
	// A server that starts meanwhile waits for the end of the restore.
	locks, err := p.LockForServe(ctx)
	if err != nil {
		return err
	}
	if !locks.AloneInFolder() || !locks.AloneInDatabase() {
		return errors.Join(errors.New("a server, or another restore, is running on the data folder"), locks.Release())
	}
	result, err := c.restore(ctx, p, from)
	if err := errors.Join(err, locks.Release()); err != nil {
		return err
	}
	output := checkOutput{process: p, json: c.JSON}
	return output.summary("restored and checked", result)
}

func (c *restoreCommand) restore(ctx context.Context, p *process, from backup.Place) (check.Result, error) {
	folder := backup.DataFolder{Path: p.Settings.Data, Database: p.Settings.DatabaseLocation().Address, Files: p.Settings.FilesPath()}
	reporter, clearBar := p.progress(p.stderr)
	options := backup.RestoreOptions{WithFindings: c.WithFindings, Partial: c.Partial, OnStep: app.LogSteps(p.log(slog.LevelInfo))}
	result, err := backup.Restore(ctx, from, folder, options, reporter)
	clearBar()
	if errors.Is(err, backup.ErrDamaged) && result.Findings > 0 {
		err = fmt.Errorf("%w, nothing was restored: %s (--with-faults restores it anyway)", err, count(result.Findings, "finding", "findings"))
	} else if errors.Is(err, backup.ErrDamaged) && !c.Partial {
		err = fmt.Errorf("%w; nothing was restored (--partial restores what can be read)", err)
	}
	return result, err
}
