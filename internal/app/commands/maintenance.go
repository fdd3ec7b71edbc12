package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"merchantorders/internal/app"
	"merchantorders/internal/config"
	"merchantorders/internal/maintenance/backup"
	"merchantorders/internal/maintenance/check"
	"merchantorders/internal/maintenance/citus"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/store/sqldb"
)

type linksCommand struct {
	Revoke linksRevoke `cmd:"" help:"End the validity of all links to invoice files that were made so far."`
}

// revokedJSON is what links revoke prints with --json.
type revokedJSON struct {
	At time.Time `json:"revokedAt"`
}

type linksRevoke struct {
	alwaysValid
	jsonFlag
}

func (c *linksRevoke) run(ctx context.Context, p *process) error {
	return p.withDatabase(ctx, current, func(b *app.Backend) error {
		at, err := b.Links.Revoke(ctx, p.caller, order.Options[time.Time]{})
		if err != nil {
			return err
		}
		return p.printResult(c.JSON, revokedJSON{at}, "all links to invoice files are revoked")
	})
}

type checkCommand struct {
	withFiles
	jsonFlag
	Repair bool   `help:"Repair what can be repaired safely: remove files that belong to no invoice of an order, release expired reservations, rebuild wrong day counts. Everything else stays a finding."`
	Backup string `placeholder:"FILE|DIR|URL" help:"Check a backup instead of the installation. It is unpacked beside it, one in a bucket beside the database, so that needs space."`
	Heads  string `name:"audit-heads" placeholder:"FILE" help:"Compare the audit log with an earlier output of audit --heads, which shows a cut."`
}

func (c *checkCommand) check() error {
	if c.Repair && c.Backup != "" {
		return config.Invalid("repair", "must not be given together with --backup: a backup is never changed")
	}
	if c.Heads != "" && c.Backup != "" {
		return config.Invalid("audit-heads", "must not be given together with --backup")
	}
	if c.Backup != "" {
		return checkPlace(c.Backup)
	}
	return nil
}

func (c *checkCommand) run(ctx context.Context, p *process) error {
	reporter, clearBar := p.progress(p.stdout)
	output := checkOutput{process: p, json: c.JSON}
	if c.JSON {
		reporter.OnFinding = output.finding
	}
	if c.Backup != "" {
		from, err := p.BackupPlace(c.Backup)
		if err != nil {
			return err
		}
		result, err := backup.Check(ctx, from, reporter)
		clearBar()
		if err != nil {
			return errors.Join(err, output.err)
		}
		return output.summary("checked", result)
	}
	heads, err := c.readHeads()
	if err != nil {
		return err
	}
	schema := existing
	if c.Repair {
		schema = current
	}
	return p.nightly(ctx, schema, store.NightlyCheck, func(b *app.Backend) error {
		options := check.Options{
			Repair:   c.Repair,
			OnRepair: output.repaired,
			OnOrphan: output.orphan,
			Heads:    heads,
		}
		if c.Repair {
			expired, err := b.Orders.ExpireReservations(ctx, p.Now().Add(-order.ReservationTimeout))
			if err != nil {
				return fmt.Errorf("release expired reservations: %w", err)
			}
			if expired > 0 {
				options.OnRepair("released " + count(int64(expired), "expired reservation", "expired reservations"))
			}
		}
		result, err := check.Run(ctx, b.Installation(), options, reporter)
		clearBar()
		if printErr := output.flush(); err == nil && printErr != nil {
			return printErr
		}
		if err != nil {
			return fmt.Errorf("the check is incomplete: %w", err)
		}
		return output.summary("checked", result)
	})
}

// readHeads reads the file of --audit-heads; nil without one.
func (c *checkCommand) readHeads() (heads []check.Head, err error) {
	if c.Heads == "" {
		return nil, nil
	}
	text, err := os.ReadFile(c.Heads)
	if err == nil {
		heads, err = check.ReadHeads(bytes.NewReader(text))
	}
	if err == nil && len(heads) == 0 {
		err = errors.New(c.Heads + " has no heads: an output of audit --heads is needed")
	}
	if err != nil {
		return nil, app.UsageError{Err: config.Invalid("audit-heads", err.Error())}
	}
	return heads, nil
}

// count returns a number with the singular or the plural of what it counts.
func count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

type purgeCommand struct {
	withFiles
	jsonFlag
	DeletedBefore string `name:"deleted-before" default:"720h" placeholder:"TIME" help:"Minimum age of a deletion. 720h is 30 days; 0s removes all deleted files."`
	DryRun        bool   `name:"dry-run" help:"Only count the files."`

	age time.Duration
}

func (c *purgeCommand) check() error {
	var f flagValues
	c.age = f.duration("deleted-before", c.DeletedBefore)
	return f.err()
}

func (c *purgeCommand) runOn(ctx context.Context, p *process, b *app.Backend) error {
	// Deletions are stored in whole seconds. With the age 0s, one of the current
	// second must count too.
	before := p.Now().Add(-c.age)
	if c.age == 0 {
		before = before.Add(time.Second)
	}
	if c.DryRun {
		count, err := b.Orders.CountDeletedFiles(ctx, before)
		if err != nil {
			return err
		}
		return p.printResult(c.JSON, purgeJSON{count, true}, "files to purge: %d", count)
	}
	count, err := b.Orders.PurgeDeletedFiles(ctx, before)
	if printErr := p.printResult(c.JSON, purgeJSON{count, false}, "files purged: %d", count); err == nil {
		err = printErr
	}
	return err
}

// purgeJSON is the JSON output of purge.
type purgeJSON struct {
	Files  int  `json:"files"`
	DryRun bool `json:"dryRun,omitempty"` // nothing was removed
}

type distributeCommand struct {
	alwaysValid
	JSON bool `name:"json" help:"Print one JSON document."`
}

func (c *distributeCommand) run(ctx context.Context, p *process) error {
	if p.Settings.DatabaseLocation().Kind != config.Postgres {
		return app.UsageError{Err: config.Invalid("database", "must be a PostgreSQL address: "+sqldb.ErrNotPostgres.Error())}
	}
	db, err := p.OpenDatabase(ctx, store.Options{Schema: current})
	if err != nil {
		return err
	}
	result, err := citus.Distribute(ctx, db.SQL())
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	return p.printDistribution(result, c.JSON)
}

// distributionJSON is the JSON output of distribute.
type distributionJSON struct {
	Tables []tableJSON `json:"tables"`
	Nodes  int         `json:"nodes"` // that hold rows
}

type tableJSON struct {
	Name   string `json:"name"`
	Column string `json:"column"`
	// Distributed is "now", or "before" if an earlier run has distributed the table.
	Distributed string `json:"distributed"`
}

// printDistribution prints the distributed tables.
func (p *process) printDistribution(result citus.Result, asJSON bool) error {
	output := distributionJSON{Nodes: result.Nodes}
	for _, table := range result.Tables {
		when, state := "now", "distributed by"
		if table.AlreadyDistributed {
			when, state = "before", "already distributed by"
		}
		output.Tables = append(output.Tables, tableJSON{Name: table.Name, Column: table.Column, Distributed: when})
		if asJSON {
			continue
		}
		if err := p.print("%s: %s %s", table.Name, state, table.Column); err != nil {
			return err
		}
	}
	if asJSON {
		return p.printJSON(output)
	}
	return p.print("nodes with data: %d", result.Nodes)
}
