package store

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
	"merchantorders/internal/store/pageindex"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// onBoth runs a test on both databases, with page indexes that split days of a
// few orders.
func onBoth(t *testing.T, test func(*testing.T, *DB)) {
	t.Helper()
	run := func(t *testing.T, db *DB) {
		t.Helper()
		db.indexes = pageindex.NewCache(smallSizes, pageindex.DefaultMaxWeight)
		test(t, db)
	}
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		run(t, openTest(t, filepath.Join(t.TempDir(), "orders.db")))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		run(t, postgresURL(pgtest.Database(t)).Open(t).(*DB))
	})
}

// fullDays gives merchant 1 orders in several states on three days, two of them
// in one second each.
func fullDays(t *testing.T, db *DB, orders int) {
	t.Helper()
	testenv.NoError(t, addTestMerchant(t.Context(), db, 1))
	addTo(t, db, "R", orders)
}

func addTo(t *testing.T, db *DB, prefix string, orders int) {
	t.Helper()
	batch := testBatch(1, prefix, orders)
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
	if _, err := db.ImportOrders(t.Context(), batch, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime}); err != nil {
		t.Fatal(err)
	}
}

// firstPage returns the first page of all orders.
func firstPage(t *testing.T, db *DB) order.Page {
	t.Helper()
	page, err := db.List(t.Context(), 1, order.NewFilter())
	testenv.NoError(t, err)
	return page
}

// pagesTest returns all pages of several filters.
func pagesTest(t *testing.T, db *DB) []order.Page {
	t.Helper()
	var pages []order.Page
	for _, states := range [][]order.State{nil, {order.Registered}, {order.InProcessing, order.ReadyForShipment, order.Canceled}} {
		filter := order.NewFilter()
		filter.AnyState, filter.States, filter.PageSize = states == nil, states, 7
		for more := true; more; filter.Page++ {
			page, err := db.List(t.Context(), 1, filter)
			testenv.NoError(t, err)
			pages = append(pages, page)
			more = page.Next != nil
		}
	}
	return pages
}

// checkPages compares all pages with those that a new page index finds.
func checkPages(t *testing.T, db *DB) {
	t.Helper()
	got := pagesTest(t, db)
	used := db.indexes
	db.indexes = pageindex.NewCache(pageindex.DefaultSizes, pageindex.DefaultMaxWeight)
	if diff := cmp.Diff(pagesTest(t, db), got); diff != "" {
		t.Errorf("pages (-with a new index +got):\n%s", diff)
	}
	db.indexes = used
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

// TestListAfterAnError corrupts what a page index is made of, so that a list
// fails while it reads that, and repairs it. What the failed list has read must
// not mislead the next one.
func TestListAfterAnError(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before          func(*testing.T, *DB)
		corrupt, repair string
	}{
		"day counts": {
			before:  func(*testing.T, *DB) {},
			corrupt: "UPDATE order_days SET state = 99 WHERE state = 2",
			repair:  "UPDATE order_days SET state = 2 WHERE state = 99",
		},
		"events": {
			before: func(t *testing.T, db *DB) {
				// The index is loaded, and three events behind.
				firstPage(t, db)
				for id := range int64(3) {
					testenv.NoError(t, transitionTest(t.Context(), db, 1, id+1, order.Canceled))
				}
			},
			corrupt: "UPDATE events SET order_day = 'no day' WHERE seq = (SELECT MAX(seq) - 1 FROM events)",
			repair:  "UPDATE events SET order_day = (SELECT MIN(day) FROM order_days) WHERE order_day = 'no day'",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "orders.db")
			db := openTest(t, path)
			testenv.NoError(t, addTestMerchant(t.Context(), db, 1))
			batch := testBatch(1, "R", 30)
			for i := range batch {
				batch[i].Order.State = order.States()[i%3]
			}
			if _, err := db.ImportOrders(t.Context(), batch, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime}); err != nil {
				t.Fatal(err)
			}
			test.before(t, db)
			change(t, db, test.corrupt)
			for range 3 {
				if page, err := db.List(t.Context(), 1, order.NewFilter()); err == nil {
					t.Errorf("a list of corrupt data has %d orders and no error", page.Total)
				}
			}
			change(t, db, test.repair)
			want := firstPage(t, openTest(t, path)) // with a new index
			testenv.Equal(t, "list", want, firstPage(t, db))
		})
	}
}

// TestSplitAfterAnError corrupts an order, so that its day cannot be split.
func TestSplitAfterAnError(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *DB) {
		sizes := smallSizes
		sizes.MinKeys, sizes.MaxKeys = 100, 100 // a whole day at once
		db.indexes = pageindex.NewCache(sizes, pageindex.DefaultMaxWeight)
		fullDays(t, db, 90)
		filter := order.NewFilter()
		filter.Page = 2
		change(t, db, "UPDATE orders SET state = 99 WHERE legacy_id = 61")
		for range 3 {
			if page, err := db.List(t.Context(), 1, filter); err == nil {
				t.Errorf("a list that lacks an order has %d and no error", page.Total)
			} else if !strings.Contains(err.Error(), "day counts do not match") {
				t.Error(err)
			}
		}
		change(t, db, "UPDATE orders SET state = 1 WHERE legacy_id = 61")
		page, err := db.List(t.Context(), 1, filter)
		if err != nil || len(page.Orders) != 10 || page.Total != 90 {
			t.Errorf("%d orders of %d, error %v", len(page.Orders), page.Total, err)
		}
		checkPages(t, db)
	})
}

// TestListInSnapshot reads lists in snapshots while orders change and other
// lists refresh the index, and compares the last ones with the lists of another
// handle, which has another index.
// Proves decision 3 (totals).
func TestListInSnapshot(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "orders.db")
		testListInSnapshot(t, openTest(t, path), openTest(t, path))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		url := postgresURL(pgtest.Database(t))
		testListInSnapshot(t, url.Open(t).(*DB), url.Open(t).(*DB))
	})
}

func testListInSnapshot(t *testing.T, db, fresh *DB) {
	t.Helper()
	testenv.NoError(t, addTestMerchant(t.Context(), db, 1))
	const size = 60
	if _, err := db.ImportOrders(t.Context(), testBatch(1, "R", size), order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	var moves atomic.Int64
	group.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if err := transitionTest(t.Context(), db, 1, int64(1+i%size), order.States()[(i/size+i)%2]); err != nil {
				t.Errorf("move: %v", err)
				cancel()
			}
			moves.Add(1)
		}
	})
	group.Go(func() {
		for ctx.Err() == nil {
			if _, err := db.List(t.Context(), 1, order.NewFilter()); err != nil {
				t.Errorf("list: %v", err)
			}
		}
	})
	filter := order.NewFilter()
	filter.AnyState, filter.States, filter.PageSize = false, []order.State{order.Registered}, size
	for read := 0; ctx.Err() == nil && (read < 100 || moves.Load() < 200); read++ {
		page, err := db.listInSnapshot(t.Context(), 1, filter)
		testenv.NoError(t, err)
		if int64(len(page.Orders)) != page.Total {
			t.Errorf("%d orders of %d on one page", len(page.Orders), page.Total)
		}
		for _, o := range page.Orders {
			if o.State != order.Registered {
				t.Errorf("order %d is %v", o.LegacyID, o.State)
			}
		}
	}
	cancel()
	group.Wait()
	filter.PageSize = 10
	for filter.Page = 1; filter.Page < 9; filter.Page++ {
		want, err := fresh.List(t.Context(), 1, filter)
		testenv.NoError(t, err)
		got, err := db.listInSnapshot(t.Context(), 1, filter)
		testenv.NoError(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("page %d (-optimistic +snapshot):\n%s", filter.Page, diff)
		}
	}
}

// TestListManyMerchants lists orders of more merchants than the cache of page
// indexes has room for, concurrently, while orders are imported.
func TestListManyMerchants(t *testing.T) {
	t.Parallel()
	db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
	db.indexes = pageindex.NewCache(pageindex.DefaultSizes, 200) // about 5 merchants
	const merchants, rounds = 9, 25
	for id := range int64(merchants) {
		testenv.NoError(t, addTestMerchant(t.Context(), db, id+1))
	}
	var group sync.WaitGroup
	for reader := range 4 {
		group.Go(func() {
			seen := make(map[int64]int64)
			for i := range 10 * rounds {
				id := int64(1 + (i*(reader+1))%merchants)
				page, err := db.List(t.Context(), id, order.NewFilter())
				if err != nil {
					t.Errorf("list: %v", err)
				}
				if page.Total < seen[id] || int64(len(page.Orders)) != min(page.Total, order.DefaultPageSize) {
					t.Errorf("merchant %d: %d orders of %d, there were %d", id, len(page.Orders), page.Total, seen[id])
				}
				seen[id] = page.Total
			}
		})
	}
	for round := range rounds {
		var batch []order.Incoming
		for id := range int64(merchants) {
			incoming := testOrder(id+1, fmt.Sprintf("R-%d-%d", id, round))
			incoming.Order.CreatedAt = testTime.AddDate(0, 0, -round)
			batch = append(batch, incoming)
		}
		if _, err := db.ImportOrders(t.Context(), batch, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime}); err != nil {
			t.Fatal(err)
		}
	}
	group.Wait()
	for id := range int64(merchants) {
		page, err := db.List(t.Context(), id+1, order.NewFilter())
		if err != nil || page.Total != rounds {
			t.Errorf("merchant %d has %d orders, error %v, want %d", id+1, page.Total, err, rounds)
		}
	}
}

// hookedDB is a database that calls a function before each statement.
type hookedDB struct {
	sqldb.DB
	before func(text string)
}

func (db hookedDB) Query(ctx context.Context, text string, args ...any) (sqldb.Rows, error) {
	db.before(text)
	return db.DB.Query(ctx, text, args...)
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
				if !strings.Contains(text, "FROM orders") {
					t.Errorf("the first statement is %s", text)
				}
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

// TestListOtherHistory replaces the newest orders of a database by others, as a
// restore or a failover that lost commits does. Event numbers are assigned a
// second time then. The first list must show the new orders.
func TestListOtherHistory(t *testing.T) {
	t.Parallel()
	for _, orders := range []int{0, 3, 5, 7} { // instead of 5
		t.Run(fmt.Sprint(orders, " orders instead of 5"), func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t *testing.T, db *DB) {
				fullDays(t, db, 30)
				addTo(t, db, "LOST", 5)
				if page := firstPage(t, db); page.Total != 35 {
					t.Fatalf("%d orders, want 35", page.Total)
				}
				for _, text := range []string{
					"DELETE FROM events WHERE seq > 30",
					"DELETE FROM orders WHERE reference LIKE 'LOST%'",
					"DELETE FROM order_days",
					"INSERT INTO order_days (merchant_id, day, state, orders) SELECT merchant_id, order_day, to_state, COUNT(*) FROM events GROUP BY 1, 2, 3",
					"UPDATE merchants SET last_event = 30, data_nonce = e.nonce FROM events e WHERE e.merchant_id = merchants.id AND e.seq = 30",
				} {
					change(t, db, text)
				}
				if orders > 0 {
					// In another state and on another day than the lost ones.
					batch := testBatch(1, "NEW", orders)
					for i := range batch {
						batch[i].Order.State, batch[i].Order.CreatedAt = order.Canceled, testTime.AddDate(0, 0, -9)
					}
					if _, err := db.ImportOrders(t.Context(), batch, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime}); err != nil {
						t.Fatal(err)
					}
				}
				if page := firstPage(t, db); page.Total != int64(30+orders) {
					t.Errorf("%d orders, want %d", page.Total, 30+orders)
				}
				filter := order.NewFilter()
				filter.PageSize = order.MaxPageSize
				page, err := db.List(t.Context(), 1, filter)
				if err != nil || len(page.Orders) != 30+orders {
					t.Errorf("%d orders on one page, error %v, want %d", len(page.Orders), err, 30+orders)
				}
				checkPages(t, db)
			})
		})
	}
}
