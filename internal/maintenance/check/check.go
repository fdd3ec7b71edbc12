package check

import (
	"context"
	"maps"
	"slices"
	"sync"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/store"
)

// Stages of maintenance.Options.Progress.
const (
	Rows  = "checking orders"
	Bytes = "checking files"
)

// Result is what was looked at, and how much of it is wrong.
type Result struct {
	Merchants, Orders, Invoices, Events int64
	Files                               int64 // whose content was compared
	Faults                              int64
	// Leftovers counts the files that no entry knows, by the reference of the
	// order in whose folder they lie; empty for those elsewhere.
	Leftovers map[string]int64
}

// watcher passes on what is found, from any number of goroutines.
type watcher struct {
	maintenance.Options
	mu     sync.Mutex
	faults int64
	done   int64
}

func (w *watcher) found(fault store.Fault) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults++
	if w.Found != nil {
		w.Found(fault)
	}
}

// progress notes that n more of total are done.
func (w *watcher) progress(stage string, n, total int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done += n
	if w.Progress != nil {
		w.Progress(stage, w.done, total)
	}
}

// Run looks through a whole installation. An error says that it could not be
// looked through to the end; what was found before is told all the same.
func Run(ctx context.Context, in maintenance.Installation, options maintenance.Options) (Result, error) {
	w := &watcher{Options: options}
	result, err := checkRows(ctx, in.DB, w)
	if err == nil {
		w.done = 0
		result.Files, err = checkFiles(ctx, in.DB, in.Files, w, nil)
	}
	if err == nil {
		result.Leftovers, err = leftovers(ctx, in.DB, in.Files)
	}
	result.Faults = w.faults
	return result, err
}

// checkRows looks through the database.
func checkRows(ctx context.Context, db *store.DB, w *watcher) (Result, error) {
	var result Result
	problems, err := db.Integrity(ctx)
	if err != nil {
		return result, err
	}
	for _, problem := range problems {
		w.found(store.Fault{Problem: "database file: " + problem})
	}
	var orders map[int64]int64
	err = db.Snapshot(ctx, func(s *store.Snapshot) error {
		var err error
		orders, err = s.OrderCounts(ctx)
		return err
	})
	if err != nil {
		return result, err
	}
	merchants, err := db.Merchants(ctx)
	if err != nil {
		return result, err
	}
	total := sum(orders)
	checked := make(map[int64]store.Checked, len(merchants))
	for _, merchant := range merchants {
		c, err := db.CheckMerchant(ctx, merchant.ID, w.found)
		if err != nil {
			return result, err
		}
		checked[merchant.ID] = c
		result.Merchants++
		result.Orders += c.Orders
		result.Invoices += c.Invoices
		result.Events += c.Events
		w.progress(Rows, orders[merchant.ID], total)
	}
	return result, db.CheckWhole(ctx, checked, w.found)
}

func sum(numbers map[int64]int64) int64 {
	total := int64(0)
	for n := range maps.Values(numbers) {
		total += n
	}
	return total
}

// References returns the references of Leftovers in their order.
func (r Result) References() []string { return slices.Sorted(maps.Keys(r.Leftovers)) }
