package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"merchantorders/internal/ingest/ingesttest"
)

// merchant is a merchant whose orders are measured.
type merchant struct {
	name   string // as in the table
	id     int64
	first  int  // number of its first order
	count  int  // orders
	oneDay bool // all orders are of one day
	// acceptable says that all orders are in the state registered.
	acceptable bool
}

// merchants are the merchants of a run.
type merchants struct {
	a *merchant // has few orders
	b *merchant // has many orders
	c *merchant // has orders of a single day
	d *merchant // its orders are accepted
	e *merchant // its orders are answered in bulk, and accepted beside long requests
}

func newMerchants(o options) merchants {
	m := merchants{
		a: &merchant{name: "A", id: 1001, count: o.small},
		b: &merchant{name: "B", id: 1002, count: o.large},
		c: &merchant{name: "C", id: 1003, count: o.oneDay, oneDay: true},
		d: &merchant{name: "D", id: 1004, count: o.rounds*(o.accepts+1) + o.farOrders(), acceptable: true},
		e: &merchant{name: "E", id: 1005, count: (2*o.rounds + 1 + besideJobs) * o.answers, acceptable: true},
	}
	first := 1
	for _, each := range m.all() {
		each.first = first
		first += each.count
	}
	return m
}

func (m merchants) all() []*merchant { return []*merchant{m.a, m.b, m.c, m.d, m.e} }

// newest is the time of the newest order. The others are of the three years
// before it, or of the hours of its day.
var newest = time.Date(2026, time.November, 20, 23, 0, 0, 0, time.UTC)

const (
	threeYears = 3 * 365 * 24 * 60 * 60 // seconds
	oneDay     = 22 * 60 * 60           // seconds
	rareState  = "return-canceled"
	// rareEvery says that one of so many orders is in the rare state: ten orders,
	// a page, of the smallest merchant that options allow.
	rareEvery = 100
)

// reference returns the reference of the merchant's nth order, from 0.
func (m *merchant) reference(n int) string { return ingesttest.Reference(m.first + n) }

// legacyID returns the legacy id of the merchant's nth order, from 0.
func (m *merchant) legacyID(n int) int { return ingesttest.FirstOrderID + m.first + n }

// document returns the merchant's nth order, from 0. States and sizes of text
// have the same shares for all merchants. Without shuffled, later orders are
// newer, as those of a shop are.
func (m *merchant) document(n int, shuffled bool) []byte {
	position := n
	if shuffled {
		// This prime divides no count of orders, so every position occurs once.
		position = int(int64(n) * 7_654_337 % int64(m.count))
	}
	span := int64(threeYears)
	if m.oneDay {
		span = oneDay
	}
	age := time.Duration(int64(m.count-position)*span/int64(m.count)) * time.Second
	number := m.first + n
	state := ingesttest.State(number)
	switch {
	case m.acceptable:
		state = "registered"
	case n%rareEvery == rareEvery/7:
		state = rareState
	}
	return orderDocument(number, m.id, state, newest.Add(-age))
}

// importFile returns the path of the file with the merchant's orders.
func (b *benchmark) importFile(m *merchant) string { return filepath.Join(b.workDir, m.name+".jsonl") }

// writeDocuments writes the import file of each merchant.
func (b *benchmark) writeDocuments(ctx context.Context) error {
	for _, m := range b.all() {
		if err := m.writeDocuments(ctx, b.importFile(m), b.shuffled); err != nil {
			return fmt.Errorf("write orders of merchant %s: %w", m.name, err)
		}
	}
	return nil
}

func (m *merchant) writeDocuments(ctx context.Context, path string, shuffled bool) error {
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
			return err
		}
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	return file.Sync()
}
