package store

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"merchantorders/internal/store/sqldb"
)

// Integrity looks through the whole database file and returns what is wrong with
// it; nothing where a server looks after that.
func (db *DB) Integrity(ctx context.Context) ([]string, error) {
	if db.dialect.IntegrityCheck == "" {
		return nil, nil
	}
	defer db.timed("check")()
	problems, err := sqldb.All(ctx, db.sql.WithoutTimeout(), db.dialect.IntegrityCheck, nil, func(rows sqldb.Rows) (string, error) {
		var problem string
		err := rows.Scan(&problem)
		return problem, err
	})
	if err != nil {
		return nil, db.wrap(fmt.Errorf("look through the database: %w", err))
	}
	if len(problems) == 1 && problems[0] == "ok" {
		return nil, nil
	}
	return problems, nil
}

// CheckWhole looks at what belongs to no merchant alone: orders without a
// merchant, keys without an order, and numbers that would be given out again.
// checked is what CheckMerchant has found of each merchant before.
func (db *DB) CheckWhole(ctx context.Context, checked map[int64]Checked, found func(Fault)) error {
	var strays []Fault
	// Twice, as with keys that are missing: see confirmMissing.
	for range 2 {
		strays = nil
		err := db.Snapshot(ctx, func(s *Snapshot) error {
			var err error
			strays, err = s.strays(ctx, checked)
			return err
		})
		if err != nil {
			return fmt.Errorf("check orders and keys: %w", err)
		}
		if len(strays) == 0 {
			break
		}
	}
	for _, stray := range strays {
		found(stray)
	}
	// Numbers only grow, so that those seen before cannot be above these.
	err := db.Snapshot(ctx, func(s *Snapshot) error { return s.checkCounters(ctx, checked, found) })
	if err != nil {
		return fmt.Errorf("check counters: %w", err)
	}
	return nil
}

// strays finds merchants that have orders and no row, and more keys than orders.
func (s *Snapshot) strays(ctx context.Context, checked map[int64]Checked) ([]Fault, error) {
	merchants, err := s.LastEvents(ctx)
	if err != nil {
		return nil, err
	}
	keys, err := s.KeyCounts(ctx)
	if err != nil {
		return nil, err
	}
	orders, err := s.OrderCounts(ctx)
	if err != nil {
		return nil, err
	}
	var faults []Fault
	for _, id := range slices.Sorted(maps.Keys(orders)) {
		if _, ok := merchants[id]; !ok {
			faults = append(faults, Fault{MerchantID: id, Problem: fmt.Sprintf("there is no such merchant, but orders: %d", orders[id])})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(keys)) {
		if n := keys[id] - 2*orders[id] + checked[id].MissingKeys; n > 0 {
			faults = append(faults, Fault{MerchantID: id, Problem: fmt.Sprintf("keys of no order: %d", n)})
		}
	}
	return faults, nil
}

// checkCounters compares the newest numbers with those that are in use.
func (s *Snapshot) checkCounters(ctx context.Context, checked map[int64]Checked, found func(Fault)) error {
	used := map[string]int64{"order": 0, "invoice": 0}
	for _, c := range checked {
		used["order"] = max(used["order"], c.LastOrder)
		used["invoice"] = max(used["invoice"], c.LastInvoice)
	}
	var token int64
	if err := s.QueryRow(ctx, `SELECT COALESCE(MAX(id), 0) FROM tokens`, nil, &token); err != nil {
		return err
	}
	used["token"] = token
	counters, err := s.Counters(ctx)
	if err != nil {
		return err
	}
	last := map[string]int64{"invoice": counters.lastInvoice}
	for _, row := range counters.Part.rows {
		last[row[0].(string)] = row[1].(int64)
	}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		if n, there := last[name]; !there || n < used[name] {
			found(Fault{Problem: fmt.Sprintf("the counter of numbers for %ss is at %d, in use is %d", name, n, used[name])})
		}
	}
	return nil
}
