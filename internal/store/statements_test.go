package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"modernc.org/sqlite"

	"merchantorders/internal/order"
	"merchantorders/internal/token"
)

// TestStatementsPreparedOnce counts how often each statement is prepared: once
// more than it is for the transaction that meets it first, and never again.
func TestStatementsPreparedOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "orders.db")
	openTest(t, path) // makes the tables
	prepared := &preparations{count: make(map[string]int)}
	db := newDB(prepared.pool(t, path, "immediate"), prepared.pool(t, path, "deferred"), sqliteDialect, Options{})
	if err := addTestMerchant(t.Context(), db, 1); err != nil {
		t.Fatal(err)
	}
	everything(t, db, 100)
	for text, times := range prepared.snapshot() {
		if times > 2 {
			t.Errorf("prepared %d times: %s", times, text)
		}
	}
	everything(t, db, 200)
	before := prepared.snapshot()
	everything(t, db, 300)
	if diff := cmp.Diff(before, prepared.snapshot()); diff != "" {
		t.Errorf("prepared again (-before +after):\n%s", diff)
	}
}

// everything calls the methods that requests call, on orders of its own.
func everything(t *testing.T, db *DB, first int64) {
	t.Helper()
	ctx := t.Context()
	batch := testBatch(1, fmt.Sprintf("R%d", first), 20)
	batch[0].Order.Number = first
	if _, err := db.AddOrders(ctx, batch, testTime); err != nil {
		t.Fatal(err)
	}
	for i := range int64(2) {
		for _, key := range []order.Key{order.NumberKey(first + i), order.ReferenceKey(batch[i].Order.Reference)} {
			if _, err := db.Order(ctx, 1, key); err != nil {
				t.Fatal(err)
			}
			if _, err := db.OrderEvents(ctx, 1, key, 0, 10); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := db.Events(ctx, 1, 0, 10); err != nil {
			t.Fatal(err)
		}
		if _, err := db.NewestEvent(ctx, 1); err != nil {
			t.Fatal(err)
		}
		if err := moveTest(ctx, db, 1, first+i, order.Canceled); err != nil {
			t.Fatal(err)
		}
		for _, states := range [][]order.State{nil, {order.Registered}, order.StatesOfCode('C')} {
			filter := order.NewFilter()
			filter.AnyState, filter.States = states == nil, states
			if _, err := db.List(ctx, 1, filter); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := db.TokenByHash(ctx, token.Hash{}); !errors.Is(err, token.ErrUnknown) {
			t.Fatal(err)
		}
		if _, err := db.InvoiceFile(ctx, 1, "R", "a.pdf"); !errors.Is(err, order.ErrInvoiceNotFound) {
			t.Fatal(err)
		}
	}
}

// preparations counts the statements that are prepared on connections to
// SQLite, each by its text.
type preparations struct {
	mu    sync.Mutex
	count map[string]int
}

// pool returns a pool of one connection whose statements are counted.
func (p *preparations) pool(t *testing.T, path, txlock string) *pool {
	db := sql.OpenDB(&countedConnector{preparations: p, dsn: sqliteDSN(path, txlock, sqliteSettings(busyTimeout)...)})
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return keepingPool(db)
}

func (p *preparations) add(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count[text]++
}

func (p *preparations) snapshot() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.count)
}

type countedConnector struct {
	*preparations
	dsn    string
	driver sqlite.Driver
}

func (c *countedConnector) Driver() driver.Driver { return &c.driver }

func (c *countedConnector) Connect(context.Context) (driver.Conn, error) {
	connection, err := c.driver.Open(c.dsn)
	return countedConnection{connection, c.preparations}, err
}

type countedConnection struct {
	driver.Conn
	*preparations
}

func (c countedConnection) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	c.add(text)
	return c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, text)
}

func (c countedConnection) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, options)
}
