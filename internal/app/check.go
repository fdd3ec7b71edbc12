package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"merchantorders/internal/config"
	"merchantorders/internal/maintenance/check"
)

type checkCommand struct{ alwaysValid }

func (*checkCommand) run(ctx context.Context, p *process) error {
	if err := p.expectInstallation(); err != nil {
		return err
	}
	return p.withBackend(ctx, func(b *backend) error {
		progress := &stages{p: p, into: p.stdout}
		result, err := check.Run(ctx, b.installation(), progress.reporter())
		progress.clear()
		if err != nil {
			return fmt.Errorf("the check is incomplete: %w", err)
		}
		for _, reference := range result.OrphanReferences() {
			where := "order " + reference
			if reference == "" {
				where = "outside of all orders"
			}
			if err := p.print("orphans: %s: %s", where, count(result.Orphans[reference], "file belongs to no invoice", "files belong to no invoice")); err != nil {
				return err
			}
		}
		return p.printCheckResult("checked", result)
	})
}

// printCheckResult prints a summary that begins with a verb. It returns an error
// if there are findings.
func (p *process) printCheckResult(verb string, r check.Result) error {
	findings := "no findings"
	if r.Findings > 0 {
		findings = count(r.Findings, "finding", "findings")
	}
	err := p.print("%s: merchants %d, orders %d, invoices %d, events %d, files %d, orphans %d: %s",
		verb, r.Merchants, r.Orders, r.Invoices, r.Events, r.Files, r.TotalOrphans(), findings)
	if r.Findings > 0 {
		return errors.New(findings)
	}
	return err
}

// count returns a number with the singular or the plural of what it counts.
func count(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// expectInstallation returns an error if the settings name no installation, so
// that a mistyped data folder is not reported as having no findings.
func (p *process) expectInstallation() error {
	if _, ok := p.settings.PostgresURL(); ok {
		return nil
	}
	path := p.settings.DatabasePath()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil // opening it reports any other error
	}
	flag := "database"
	if p.settings.Database == "" {
		flag = "data"
	}
	return &usageError{err: config.Invalid(flag, "must name an installation: there is no "+path)}
}
