// Package check verifies an installation: the rows of the database agree with
// each other, and every invoice file is in the storage and has the size and the
// SHA-256 of its entry. It changes nothing unless it is asked to repair, and may run
// beside servers.
//
// A finding names the path of an invoice file because an operator needs it to
// put the file back. The package reports no other personal data.
package check

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/store/sqldb"
)

// Stages of maintenance.Reporter.
const (
	OrdersStage = "checking orders"
	FilesStage  = "checking files"
)

// Options are the options of Run.
type Options struct {
	// Repair rebuilds wrong day counts and removes orphans that are removable.
	Repair bool
	// OnRepair is called with what was repaired, and OnOrphan for each orphan that
	// stays. Each may be nil.
	OnRepair func(text string)
	OnOrphan func(maintenance.Orphan)
	// Heads are those of the audit log at an earlier time; nil: not known.
	Heads []Head
}

// Result counts what was checked and found.
type Result struct {
	Merchants, Orders, Invoices, Events int64
	Files                               int64 // files that match their entries
	Findings                            int64
	Orphans                             int64 // that stay
}

// Run checks an installation. An error means that the check is incomplete; the
// findings so far have been reported.
func Run(ctx context.Context, in maintenance.Installation, options Options, reporter *maintenance.Reporter) (Result, error) {
	if options.OnRepair == nil {
		options.OnRepair = func(string) {}
	}
	if options.OnOrphan == nil {
		options.OnOrphan = func(maintenance.Orphan) {}
	}
	var result Result
	err := checkDatabase(ctx, in.DB, options, reporter, &result)
	if err == nil {
		result.Files, err = Files(ctx, in, reporter, nil)
	}
	if err == nil {
		result.Orphans, err = checkOrphans(ctx, in, options, result.Files > 0)
	}
	result.Findings = reporter.Findings()
	return result, err
}

// checkOrphans returns how many orphans there are, after the repair. A storage without a single
// file of the database (ours) may be another installation's: the same orders can be in both.
func checkOrphans(ctx context.Context, in maintenance.Installation, options Options, ours bool) (int64, error) {
	stay := int64(0)
	err := in.EachOrphan(ctx, func(orphan maintenance.Orphan) error {
		orphan.Removable = orphan.Removable && ours
		if !options.Repair || !orphan.Removable {
			stay++
			options.OnOrphan(orphan)
			return nil
		}
		err := in.Files.Remove(ctx, orphan.Path)
		if err == nil {
			options.OnRepair("removed " + orphan.Path + ", which belonged to no invoice")
		}
		return err
	})
	return stay, err
}

// checkDatabase checks the database: its file, the rows of each merchant, then
// what belongs to no single merchant.
func checkDatabase(ctx context.Context, db sqldb.DB, options Options, reporter *maintenance.Reporter, result *Result) error {
	if err := checkIntegrity(ctx, db, reporter); err != nil {
		return err
	}
	var orders int64 // for the progress
	if err := db.WithoutTimeout().QueryRow(ctx, maintenance.CountOrders, nil, &orders); err != nil {
		return err
	}
	merchants, err := maintenance.PerMerchant(ctx, db, maintenance.LastEvents)
	if err != nil {
		return err
	}
	totals := make(map[int64]merchantTotals, len(merchants))
	for _, merchant := range slices.Sorted(maps.Keys(merchants)) {
		t, err := checkMerchant(ctx, db, merchant, options, reporter)
		if err != nil {
			return fmt.Errorf("check merchant %d: %w", merchant, err)
		}
		totals[merchant] = t
		result.Merchants++
		result.Orders += t.orders
		result.Invoices += t.invoices
		result.Events += t.events
		reporter.Advance(OrdersStage, t.orders, orders)
	}
	if err := checkWords(ctx, db, options, reporter); err != nil {
		return err
	}
	if err := checkHeads(ctx, db.WithoutTimeout(), options.Heads, reporter); err != nil {
		return err
	}
	return checkService(ctx, db, totals, reporter)
}

// checkIntegrity checks the file of an embedded database, table by table with its indexes. A
// page that two tables have would not fit in the order and the indexes of both.
func checkIntegrity(ctx context.Context, db sqldb.DB, reporter *maintenance.Reporter) error {
	d := db.Dialect()
	if d.IntegrityCheck == "" {
		return nil
	}
	tables, err := sqldb.Column[string](ctx, db.WithoutTimeout(), d.CheckedTables)
	for n := 0; n < len(tables) && err == nil; n++ {
		err = maintenance.Slice(ctx, db, func(q sqldb.Querier) error {
			return q.Query(ctx, d.IntegrityCheck, []any{tables[n]}, func(rows sqldb.Rows) error {
				var problem string
				err := rows.Scan(&problem)
				if problem != "ok" {
					reporter.Find(maintenance.Finding{Problem: "database file: " + problem, Cure: maintenance.CureRows})
				}
				return err
			})
		})
	}
	if err != nil {
		return fmt.Errorf("check the database file: %w", err)
	}
	return nil
}

// checkService checks what does not belong to one merchant: orders without a
// merchant, keys without an order, and counters that would give out a number
// again. totals are those of all merchants.
func checkService(ctx context.Context, db sqldb.DB, totals map[int64]merchantTotals, reporter *maintenance.Reporter) error {
	var findings []maintenance.Finding
	var err error
	for range 2 { // confirmed for the reason given at confirmMissingKeys
		findings, err = findForeignRows(ctx, db, totals)
		if err != nil {
			return fmt.Errorf("check orders and keys: %w", err)
		}
		if len(findings) == 0 {
			break
		}
	}
	for _, finding := range findings {
		reporter.Find(finding)
	}
	market := merchantCheck{q: db.WithoutTimeout(), reporter: reporter}
	if err := market.checkWebhooks(ctx); err != nil {
		return fmt.Errorf("check the webhooks of all merchants: %w", err)
	}
	if err := checkServiceAudit(ctx, db, reporter); err != nil {
		return fmt.Errorf("check the audit log: %w", err)
	}
	// Counters only grow, so they cover all numbers that were read before.
	if err := checkCounters(ctx, db, totals, reporter); err != nil {
		return fmt.Errorf("check counters: %w", err)
	}
	return nil
}

// findForeignRows finds orders without a merchant and keys without an order.
func findForeignRows(ctx context.Context, db sqldb.DB, totals map[int64]merchantTotals) ([]maintenance.Finding, error) {
	var events, keys, orders, deleted map[int64]int64
	err := db.Snapshot(ctx, func(q sqldb.Querier) (err error) {
		q = q.WithoutTimeout()
		for statement, numbers := range map[string]*map[int64]int64{
			maintenance.LastEvents: &events, maintenance.OrderKeyCounts: &keys, maintenance.OrderCounts: &orders, maintenance.DeletedCounts: &deleted,
		} {
			if *numbers, err = maintenance.PerMerchant(ctx, q, statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var findings []maintenance.Finding
	for _, id := range slices.Sorted(maps.Keys(orders)) {
		if _, ok := events[id]; !ok {
			findings = append(findings, maintenance.Finding{
				MerchantID: id, Problem: fmt.Sprintf("the merchant does not exist, but has %d orders", orders[id]), Cure: maintenance.CureRows,
			})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(keys)) {
		// An order has two keys, also after it was deleted.
		if n := keys[id] - 2*(orders[id]+deleted[id]) + totals[id].missingKeys; n > 0 {
			findings = append(findings, maintenance.Finding{
				MerchantID: id, Problem: fmt.Sprintf("order keys without an order: %d", n), Cure: maintenance.CureRows,
			})
		}
	}
	return findings, nil
}

// checkCounters compares the counters with the highest numbers in use.
func checkCounters(ctx context.Context, db sqldb.DB, totals map[int64]merchantTotals, reporter *maintenance.Reporter) error {
	used := map[string]int64{"order": 0, "invoice": 0}
	for _, t := range totals {
		used["order"] = max(used["order"], t.maxLegacyID)
		used["invoice"] = max(used["invoice"], t.maxInvoiceID)
	}
	counters := make(map[string]int64)
	err := db.Snapshot(ctx, func(q sqldb.Querier) error {
		q = q.WithoutTimeout()
		var token, invoice int64
		if err := q.QueryRow(ctx, `SELECT COALESCE(MAX(id), 0) FROM tokens`, nil, &token); err != nil {
			return err
		}
		used["token"] = token
		err := q.Query(ctx, `SELECT name, last FROM counters`, nil, func(rows sqldb.Rows) error {
			var name string
			var last int64
			err := rows.Scan(&name, &last)
			counters[name] = last
			return err
		})
		if err != nil {
			return err
		}
		err = q.QueryRow(ctx, db.Dialect().LastInvoiceID, nil, &invoice)
		counters["invoice"] = invoice
		return err
	})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if last, ok := counters[name]; !ok || last < used[name] {
			reporter.Find(maintenance.Finding{
				Problem: fmt.Sprintf("the %s counter is at %d, but %d is in use", name, last, used[name]), Cure: maintenance.CureRows,
			})
		}
	}
	return nil
}
