package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// onBoth runs a test on both databases.
func onBoth(t *testing.T, test func(*testing.T, *DB)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, openTest(t, filepath.Join(t.TempDir(), "orders.db")))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, postgresURL(pgtest.Database(t)).Open(t).(*DB))
	})
}

// fullDays gives merchant 1 orders in several states on three days, two of them
// in one second each.
func fullDays(t *testing.T, db *DB, orders int) {
	t.Helper()
	testenv.NoError(t, addTestMerchant(t.Context(), db, 1))
	batch := testBatch(1, "R", orders)
	for i := range batch {
		o := &batch[i].Order
		o.State = order.States()[i%4]
		switch i % 3 {
		case 0:
			o.CreatedAt = testTime.Add(time.Duration(i*7919%3600) * time.Second)
		case 1:
			o.CreatedAt = testTime.AddDate(0, 0, -1)
		case 2:
			o.CreatedAt = order.DayOf(testTime.AddDate(0, 0, -2)).End()
		}
	}
	testenv.Of(db.ImportOrders(t.Context(), batch, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime})).Must(t)
}

// change changes rows without the store. It must change at least one.
func change(t testing.TB, db *DB, text string, args ...any) {
	t.Helper()
	err := db.sql.InTx(t.Context(), func(q sqldb.Querier) error {
		n, err := q.WithoutTimeout().Exec(t.Context(), text, args...)
		if err == nil && n == 0 {
			return fmt.Errorf("no row was changed")
		}
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// TestListOfWrongCounts reads a page far down while fewer orders are counted than there
// are, and more.
func TestListOfWrongCounts(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *DB) {
		fullDays(t, db, 90)
		db.maxSkipped = 30
		filter := order.NewFilter()
		filter.Page = 5
		expect := func(wrong string) {
			t.Helper()
			change(t, db, "UPDATE order_days SET orders = "+wrong)
			if page, err := db.List(t.Context(), 1, filter); !errors.Is(err, errDayCounts) {
				t.Errorf("%s: %d orders, error %v", wrong, len(page.Orders), err)
			}
		}
		expect("0")
		filter.Page, filter.From = 13, 0 // of days, which the total is made of
		expect("100")
	})
}

// hookedDB is a database that calls a function before each statement.
type hookedDB struct {
	sqldb.DB
	before func(text string)
}

func (db hookedDB) Query(ctx context.Context, text string, args []any, scan func(sqldb.Rows) error) error {
	db.before(text)
	return db.DB.Query(ctx, text, args, scan)
}

func (db hookedDB) QueryRow(ctx context.Context, text string, args []any, dest ...any) error {
	db.before(text)
	return db.DB.QueryRow(ctx, text, args, dest...)
}

// TestListEmptiedPage reads a page while its only order leaves the filter before
// the rows are read, and comes back before the next statement. The total must
// not count an order that the page does not have.
func TestListEmptiedPage(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *DB) {
		fullDays(t, db, 30)
		filter := order.NewFilter()
		filter.AnyState, filter.States = false, []order.State{order.ReturnCanceled}
		transition := func(to order.State) {
			testenv.NoError(t, transitionTest(t.Context(), db, 1, 7, to))
		}
		transition(order.ReturnCanceled)
		expect := func() {
			t.Helper()
			if page, err := db.List(t.Context(), 1, filter); err != nil || page.Total != 1 || len(page.Orders) != 1 {
				t.Errorf("%d orders of %d, error %v", len(page.Orders), page.Total, err)
			}
		}
		expect()
		inner, statements := db.sql, 0
		db.sql = hookedDB{inner, func(text string) {
			hooked := db.sql
			db.sql = inner // for the transitions
			defer func() { db.sql = hooked }()
			switch statements++; statements {
			case 1:
				testenv.Contains(t, "the first statement", text, "FROM orders")
				transition(order.Canceled)
			case 2:
				transition(order.ReturnCanceled)
			}
		}}
		expect()
		db.sql = inner
		// A page after a cursor may be empty without any change.
		filter.After = &order.Cursor{}
		if page, err := db.List(t.Context(), 1, filter); err != nil || page.Total != 1 || len(page.Orders) != 0 {
			t.Errorf("after a cursor: %d orders of %d, error %v", len(page.Orders), page.Total, err)
		}
	})
}
