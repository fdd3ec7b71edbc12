package check

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/store/sqldb"
)

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
	// Counters only grow, so they cover all numbers that were read before.
	if err := checkCounters(ctx, db, totals, reporter); err != nil {
		return fmt.Errorf("check counters: %w", err)
	}
	return nil
}

// findForeignRows finds orders without a merchant and keys without an order.
func findForeignRows(ctx context.Context, db sqldb.DB, totals map[int64]merchantTotals) ([]maintenance.Finding, error) {
	var events, keys, orders map[int64]int64
	err := db.Snapshot(ctx, func(q sqldb.Querier) (err error) {
		q = q.WithoutTimeout()
		events, err = maintenance.PerMerchant(ctx, q, maintenance.LastEvents)
		if err == nil {
			keys, err = maintenance.PerMerchant(ctx, q, maintenance.OrderKeyCounts)
		}
		if err == nil {
			orders, err = maintenance.PerMerchant(ctx, q, maintenance.OrderCounts)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	var findings []maintenance.Finding
	for _, id := range slices.Sorted(maps.Keys(orders)) {
		if _, ok := events[id]; !ok {
			findings = append(findings, maintenance.Finding{
				MerchantID: id, Problem: fmt.Sprintf("the merchant does not exist, but has %d orders", orders[id]),
			})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(keys)) {
		// An order has two keys.
		if n := keys[id] - 2*orders[id] + totals[id].missingKeys; n > 0 {
			findings = append(findings, maintenance.Finding{MerchantID: id, Problem: fmt.Sprintf("order keys without an order: %d", n)})
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
		err := sqldb.Each(ctx, q, `SELECT name, last FROM counters`, nil, func(rows sqldb.Rows) error {
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
			reporter.Find(maintenance.Finding{Problem: fmt.Sprintf("the %s counter is at %d, but %d is in use", name, last, used[name])})
		}
	}
	return nil
}
