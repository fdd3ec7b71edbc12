package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"merchantorders/internal/config"
	"merchantorders/internal/maintenance"
	"merchantorders/internal/maintenance/check"
)

type checkCommand struct{}

// Help is what --help adds.
func (*checkCommand) Help() string {
	return `It looks whether every invoice has its file with the right size and SHA-256, day counts are those of the orders, the events of each merchant are numbered without gaps, places for files and keys of orders are as they should be, no number would be given out twice, and, for SQLite, whether the database file is sound. It changes nothing and may be run beside servers.

Each fault is one line that names merchant, order number and invoice id. Files that no invoice knows are told as leftovers; they do no harm. The last line is the sum. With faults the exit code is 1.

Examples:

    merchant-orders check
    merchant-orders check --database postgres://orders@db/orders --storage s3://invoices?region=eu-central-1`
}

func (*checkCommand) check() error { return nil }

func (*checkCommand) run(ctx context.Context, p *process) error {
	if err := p.mustBeThere(); err != nil {
		return err
	}
	return p.withBackend(ctx, func(b *backend) error {
		shown := &stages{p: p, into: p.stdout}
		result, err := check.Run(ctx, maintenance.Installation{DB: b.db, Files: b.files}, shown.options())
		shown.clear()
		if err != nil {
			return fmt.Errorf("the check did not come to its end: %w", err)
		}
		for _, reference := range result.References() {
			where := "order reference " + reference
			if reference == "" {
				where = "outside of all orders"
			}
			if err := p.print("leftover: %s: %s", where, count(result.Leftovers[reference], "file that no invoice knows", "files that no invoice knows")); err != nil {
				return err
			}
		}
		return p.printChecked("checked", result)
	})
}

// printChecked says in one line what was looked at and how much of it is wrong,
// and returns an error when anything is.
func (p *process) printChecked(did string, r check.Result) error {
	leftovers := int64(0)
	for _, n := range r.Leftovers {
		leftovers += n
	}
	verdict := "nothing is wrong"
	if r.Faults > 0 {
		verdict = count(r.Faults, "fault", "faults")
	}
	err := p.print("%s: merchants %d, orders %d, invoices %d, events %d, files %d, leftovers %d: %s",
		did, r.Merchants, r.Orders, r.Invoices, r.Events, r.Files, leftovers, verdict)
	if r.Faults > 0 {
		return errors.New(verdict)
	}
	return err
}

// count says how many there are of something.
func count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// mustBeThere returns an error when there is no installation where the settings
// say. Whoever mistyped a folder must not be told that nothing is wrong in it.
func (p *process) mustBeThere() error {
	if _, elsewhere := p.settings.PostgresURL(); elsewhere {
		return nil
	}
	path := p.settings.DatabasePath()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil // what is wrong with it is found when it is opened
	}
	flag := "database"
	if p.settings.Database == "" {
		flag = "data"
	}
	return &usageError{err: config.About(flag, "must name an installation: there is no "+path)}
}
