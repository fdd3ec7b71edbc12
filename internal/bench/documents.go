package bench

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"merchantorders/internal/ingest/ingesttest"
)

// merchant is one of those whose orders are measured.
type merchant struct {
	name  string // of the table
	id    int64
	first int // number of its first document
	count int // orders
	// oneDay has all orders on a single day; of new all are still to be accepted.
	oneDay, new bool
}

// merchants are those of a run.
type merchants struct {
	a *merchant // a small one
	b *merchant // the large one
	c *merchant // one that has had a single day
	d *merchant // one whose orders are accepted
}

func newMerchants(o Options) merchants {
	m := merchants{
		a: &merchant{name: "A", id: 1001, count: o.Small},
		b: &merchant{name: "B", id: 1002, count: o.Large},
		c: &merchant{name: "C", id: 1003, count: o.OneDay, oneDay: true},
		d: &merchant{name: "D", id: 1004, count: o.Rounds * o.Changes, new: true},
	}
	first := 1
	for _, each := range m.all() {
		each.first = first
		first += each.count
	}
	return m
}

func (m merchants) all() []*merchant { return []*merchant{m.a, m.b, m.c, m.d} }

// newest is the time of the newest order; the others lie in the three years
// before it, or in the hours of its day.
var newest = time.Date(2026, time.November, 20, 23, 0, 0, 0, time.UTC)

const (
	threeYears = 3 * 365 * 24 * 60 * 60 // seconds
	oneDay     = 22 * 60 * 60           // seconds
	// rarely is how many orders there are to one in the rare state: a page of ten
	// in the smallest merchant that is worth measuring.
	rarely    = 100
	rareState = "return-canceled"
)

// reference and number name the merchant's nth order, from 0.
func (m *merchant) reference(n int) string { return ingesttest.Reference(m.first + n) }
func (m *merchant) number(n int) int       { return ingesttest.FirstOrderID + m.first + n }

// document returns the merchant's nth order, from 0. All merchants have the
// same states and lengths of text in the same proportions. The orders come by
// their times, as a shop's do, or else in no order at all.
func (m *merchant) document(n int, shuffled bool) []byte {
	at := n
	if shuffled {
		// No count of orders has this prime as a divisor: every order has a place.
		at = int(int64(n) * 7_654_337 % int64(m.count))
	}
	span := int64(threeYears)
	if m.oneDay {
		span = oneDay
	}
	back := time.Duration(int64(m.count-at) * span / int64(m.count))
	return ingesttest.Document(m.first+n, func(document map[string]any) {
		document["merchantId"] = m.id
		document["createdAt"] = newest.Add(-back * time.Second).Format(time.RFC3339)
		switch {
		case m.new:
			document["state"] = "registered"
		case n%rarely == rarely/7:
			document["state"] = rareState
		}
	})
}

// file is where the merchant's orders are written to be imported.
func (b *bench) file(m *merchant) string { return filepath.Join(b.dir, m.name+".jsonl") }

// writeDocuments writes what is to be imported, a file for each merchant.
func (b *bench) writeDocuments(ctx context.Context) error {
	for _, m := range b.all() {
		if err := writeOrders(ctx, b.file(m), m, b.Shuffled); err != nil {
			return err
		}
	}
	return nil
}

func writeOrders(ctx context.Context, path string, m *merchant, shuffled bool) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	buffered := bufio.NewWriterSize(file, 1<<20)
	for n := range m.count {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := buffered.Write(append(m.document(n, shuffled), '\n')); err != nil {
			return fmt.Errorf("write orders: %w", err)
		}
	}
	if err := buffered.Flush(); err != nil {
		return fmt.Errorf("write orders: %w", err)
	}
	return file.Sync()
}
