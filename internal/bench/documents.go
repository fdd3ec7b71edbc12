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

// merchant is one of the two whose orders are measured.
type merchant struct {
	name  string // of the table
	id    int64
	first int // number of its first document
	count int // orders
	token string
}

func (b *bench) small() *merchant { return &merchant{name: "A", id: 1001, first: 1, count: b.Small} }
func (b *bench) large() *merchant {
	return &merchant{name: "B", id: 1002, first: 1 + b.Small, count: b.Large}
}

// newest is the time of the newest order; the others lie in the three years
// before it.
var newest = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

const threeYears = 3 * 365 * 24 * 60 * 60 // seconds

// reference and number name the merchant's nth order, from 0.
func (m *merchant) reference(n int) string { return ingesttest.Reference(m.first + n) }
func (m *merchant) number(n int) int       { return ingesttest.FirstOrderID + m.first + n }

// document returns the merchant's nth order, from 0. Both merchants have the
// same states, days and lengths of text in the same proportions. The orders
// come by their times, as a shop's do, or else in no order at all.
func (m *merchant) document(n int, shuffled bool) []byte {
	at := n
	if shuffled {
		// No count of orders has this prime as a divisor: every order has a place.
		at = int(int64(n) * 7_654_337 % int64(m.count))
	}
	back := time.Duration(int64(m.count-at) * threeYears / int64(m.count))
	return ingesttest.Document(m.first+n, func(document map[string]any) {
		document["merchantId"] = m.id
		document["createdAt"] = newest.Add(-back * time.Second).Format(time.RFC3339)
	})
}

// file is where the merchant's orders are written to be imported.
func (b *bench) file(m *merchant) string { return filepath.Join(b.dir, m.name+".jsonl") }

// writeDocuments writes what is to be imported, a file for each merchant.
func (b *bench) writeDocuments(ctx context.Context) error {
	for _, m := range []*merchant{b.a, b.b} {
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
