package audit

import (
	"context"
	"maps"
	"slices"
	"sync"

	"merchantorders/internal/order"
	"merchantorders/internal/store"
)

// Files is where invoice files are kept.
type Files interface {
	order.Files
	// Each calls fn with the path of every stored file.
	Each(ctx context.Context, fn func(path string) error) error
}

// Options say who wants to know what. The zero value works.
type Options struct {
	// Found gets each fault, one at a time; nil: only their number is of interest.
	Found func(store.Fault)
	// Progress gets how far a stage is, one call at a time; nil: nobody watches.
	Progress func(stage string, done, total int64)
}

// Stages of Options.Progress.
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
	Options
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

// Normalize looks through a whole installation. An error says that it could not be
// looked through to the end; what was found before is told all the same.
func Check(ctx context.Context, db *store.DB, files Files, options Options) (Result, error) {
	w := &watcher{Options: options}
	result, err := checkRows(ctx, db, w)
	if err == nil {
		w.done = 0
		result.Files, err = checkFiles(ctx, db, files, w, nil)
	}
	if err == nil {
		result.Leftovers, err = leftovers(ctx, db, files)
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
