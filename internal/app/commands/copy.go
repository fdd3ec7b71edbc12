package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"merchantorders/internal/app"
	"merchantorders/internal/config"
	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/copier"
	"merchantorders/internal/store"
	"merchantorders/internal/store/migrations"
)

type copyCommand struct {
	withFiles
	jsonFlag
	Target        config.Target `embed:""`
	IgnoreChanges bool          `name:"ignore-changes" help:"Exit with 0 also if the source changed meanwhile: every file of the start is copied. Only with --to-storage alone."`
}

func (c *copyCommand) check() error {
	misplaced := ""
	if c.IgnoreChanges && c.Target.MovesDatabase() {
		misplaced = "must not be given together with --to-database or --to-data"
	}
	return errors.Join(config.Invalid("ignore-changes", misplaced), c.Target.Check())
}

func (c *copyCommand) run(ctx context.Context, p *process) error {
	return p.with(ctx, current, c.Target.MovesFiles(), func(b *app.Backend) error {
		target := *p
		target.Settings, target.FlagPrefix = c.Target.Config(), "to-"
		var database, files string // that the copy makes
		if c.Target.MovesDatabase() {
			database = target.Settings.DatabaseLocation().File()
		}
		switch bucket, inBucket := target.Settings.Bucket(); {
		case inBucket:
			if from, _ := p.Settings.Bucket(); bucket == from {
				return app.UsageError{Err: config.Invalid("to-storage", "must be another storage than --storage")}
			}
		case c.Target.Storage == "":
			files = c.Target.Data
		default:
			files = target.Settings.FilesPath()
		}
		if err := cmp.Or(p.ExpectOutsideFiles(database), p.ExpectOutsideFiles(files)); err != nil {
			return err
		}
		installation, closeTarget, err := target.openTarget(ctx, c.Target, p.Settings.Data)
		if err != nil {
			return err
		}
		reporter, clearBar := p.progress(p.stderr)
		result, err := copier.Copy(ctx, b.Installation(), installation, reporter)
		clearBar()
		err = errors.Join(err, closeTarget())
		switch {
		case ctx.Err() != nil:
			return errors.New("the copy was stopped; run it again to resume it")
		case errors.Is(err, copier.ErrForeignTarget):
			return target.CannotOpen(ctx, "database", target.Settings.Database, err)
		case err != nil:
			return err
		case result.Findings > 0:
			return fmt.Errorf("%s between source and target; run check to see whether the source has them too",
				count(result.Findings, "difference", "differences"))
		}
		return c.print(p, result, installation)
	})
}

// openTarget opens the target of a copy, which is named by flags and by the
// settings of p. sourceData is the data folder of the source.
func (p *process) openTarget(ctx context.Context, flags config.Target, sourceData string) (maintenance.Installation, func() error, error) {
	var target maintenance.Installation
	var closers []func() error
	closeAll := func() error {
		var err error
		for _, closer := range closers {
			err = errors.Join(err, closer())
		}
		return err
	}
	if p.Settings.Data == "" {
		// For staged files of S3 only. A server that starts on the folder removes
		// what a killed copy left there.
		p.Settings.Data = sourceData
	} else if _, err := p.CreateDataFolder(); err != nil {
		return target, nil, err
	}
	if flags.MovesDatabase() {
		db, err := p.OpenDatabase(ctx, store.Options{Schema: migrations.Options{NoMigrate: true, NoNewer: true}})
		if err != nil {
			return target, nil, err
		}
		target.DB = db.SQL()
		closers = append(closers, db.Close)
	}
	if flags.MovesFiles() {
		files, err := p.OpenFiles(ctx, true)
		if err != nil {
			return target, nil, errors.Join(err, closeAll())
		}
		target.Files = files
		closers = append(closers, files.Close)
	}
	return target, closeAll, nil
}

// copyJSON is the JSON output of copy.
type copyJSON struct {
	RowsChanged   int64 `json:"rowsChanged"`
	FilesCopied   int64 `json:"filesCopied"`
	FilesMended   int64 `json:"filesMended"`
	FilesVerified int64 `json:"filesVerified"`
	Merchants     int64 `json:"merchants"`
	Orders        int64 `json:"orders"`
	Invoices      int64 `json:"invoices"`
	Events        int64 `json:"events"`
	Tokens        int64 `json:"tokens"`
	SourceChanged bool  `json:"sourceChanged"` // run the command again
}

// errSourceChanged means that a copy may lack what has changed in the source.
var errSourceChanged = errors.New("the source changed: run this command again")

// print prints what was copied and verified, and what to do next.
func (c *copyCommand) print(p *process, r copier.Result, target maintenance.Installation) error {
	changed := error(nil)
	sourceChanged := r.SourceChanged || r.SourceChanging
	if sourceChanged && !c.IgnoreChanges {
		changed = errSourceChanged
	}
	if !c.JSON {
		return errors.Join(p.printCopyResult(r, target, c.IgnoreChanges), changed)
	}
	return errors.Join(p.printJSON(copyJSON{
		RowsChanged: r.RowsChanged, FilesCopied: r.FilesCopied, FilesMended: r.FilesMended, FilesVerified: r.FilesVerified,
		Merchants: r.Merchants, Orders: r.Rows.Orders, Invoices: r.Rows.Invoices, Events: r.Rows.Events, Tokens: r.Tokens,
		SourceChanged: sourceChanged,
	}), changed)
}

// printCopyResult prints what was copied and verified, and what to do next.
func (p *process) printCopyResult(r copier.Result, target maintenance.Installation, ignoreChanges bool) error {
	err := p.print("copied: rows %d, files %d; all else was there", r.RowsChanged, r.FilesCopied)
	if r.FilesMended > 0 && err == nil {
		err = p.print("mended: %s in the target", count(r.FilesMended, "damaged file", "damaged files"))
	}
	if target.DB != nil && err == nil {
		err = p.print("verified: merchants %d, orders %d, day counts %d, invoices %d, events %d, order keys %d, tokens %d",
			r.Merchants, r.Rows.Orders, r.Rows.Days, r.Rows.Invoices, r.Rows.Events, r.OrderKeys, r.Tokens)
	}
	if target.Files != nil && err == nil {
		err = p.print("verified: SHA-256 of %s", count(r.FilesVerified, "file", "files"))
	}
	if err != nil {
		return err
	}
	switch {
	case r.SourceChanged && ignoreChanges:
		return p.print("The source changed during this run: files uploaded meanwhile may not be in the copy.")
	case r.SourceChanging:
		return p.print("The source kept changing, and its last changes are not in the copy: stop servers and imports on the source, then run this command again.")
	case r.SourceChanged:
		return p.print("The source changed during this run: stop servers and imports on the source, then run this command again.")
	}
	return p.print("Nothing changed in the source during this run: if no server and no import runs on it, start servers on the target.")
}
