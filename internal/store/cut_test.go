package store

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/store/sqldb"
)

// onBoth runs a test on both databases, with counts that are cut early.
func onBoth(t *testing.T, test func(*testing.T, *DB)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
		db.counts.sizes = smallSizes
		test(t, db)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		db := postgresURL(pgtest.Database(t)).Open(t).(*DB)
		db.counts.sizes = smallSizes
		test(t, db)
	})
}

// fullDays gives merchant 1 orders in several states on three days, two of them
// in one second each.
func fullDays(t *testing.T, db *DB, orders int) {
	t.Helper()
	if err := addTestMerchant(t.Context(), db, 1); err != nil {
		t.Fatal(err)
	}
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
	if _, err := db.ImportOrders(t.Context(), batch, testTime); err != nil {
		t.Fatal(err)
	}
}

// checkCounted counts the orders of each span and compares. The counts must be
// up to date.
func checkCounted(t *testing.T, db *DB, c *dayCounts) {
	t.Helper()
	for g := range c.spans.groups {
		for i, one := range c.spans.groups[g].spans {
			high := c.endOf(position{g, i})
			if day := startOf(dayOf(one.low)); one.low != day {
				if before, ok := c.spans.find(day); !ok || c.spans.at(before).low != day {
					t.Errorf("the day of the span from %v does not begin with one", one.low)
				}
			}
			var want tally
			for _, state := range order.States() {
				var n int32
				err := db.sql.QueryRow(t.Context(), `SELECT COUNT(*) FROM orders WHERE merchant_id = $1 AND state = $2
					AND (created_at, number) >= ($3, $4) AND (created_at, number) < ($5, $6)`,
					[]any{1, int64(state), one.low.at, one.low.number, high.at, high.number}, sqldb.Int(&n))
				if err != nil {
					t.Fatal(err)
				}
				want.count(state, n)
			}
			if diff := cmp.Diff(want, one.orders); diff != "" {
				t.Errorf("orders from %v (-want +got):\n%s", one.low, diff)
			}
		}
	}
}

// TestCutBesideChanges reads the keys of a day, lets orders come in and move,
// and only then puts the blocks in place. Whether others have seen the changes
// meanwhile must not matter.
func TestCutBesideChanges(t *testing.T) {
	t.Parallel()
	for _, upwards := range []bool{false, true} {
		for name, test := range map[string]struct {
			changes   int
			seen      bool // by a list before the blocks are in place
			since     int  // changes that nobody has seen, after those
			countAnew bool
			want      bool
		}{
			"nothing happens":            {want: true},
			"changes, not seen yet":      {changes: 3, want: true},
			"changes, seen by others":    {changes: 3, seen: true, want: true},
			"seen, and more since":       {changes: 3, seen: true, since: 10, want: true},
			"many, not seen yet":         {changes: 40, want: true},
			"many, counted anew":         {changes: 40, seen: true, want: true},
			"anew, the piece being gone": {changes: 40, seen: true, countAnew: true},
		} {
			t.Run(fmt.Sprintf("%s, upwards %v", name, upwards), func(t *testing.T) {
				t.Parallel()
				onBoth(t, func(t *testing.T, db *DB) {
					fullDays(t, db, 90)
					listTest(t, db)
					c := db.counts.of(1)
					wanted := cut{low: startOf(order.DayOf(testTime) - 1), high: startOf(order.DayOf(testTime)), upwards: upwards, keys: 8, block: 3}
					if test.countAnew {
						// A part of the day, which is whole again when counted anew.
						wanted = cutPart(t, db, wanted)
					}
					read, err := readBlocks(t.Context(), db.sql, 1, wanted)
					if err != nil {
						t.Fatal(err)
					}
					for i := range test.changes {
						if err := moveTest(t.Context(), db, 1, int64(1+i*2), order.Canceled); err != nil {
							t.Fatal(err)
						}
					}
					if test.changes > 0 {
						addTo(t, db, "LATER", 6)
					}
					if test.seen {
						listTest(t, db)
					}
					for i := range test.since {
						if err := moveTest(t.Context(), db, 1, int64(1+i*2), order.Completed); err != nil {
							t.Fatal(err)
						}
					}
					did, err := c.install(t.Context(), db.sql, 1, read)
					if err != nil || did != test.want {
						t.Fatalf("in place: %v, error %v, want %v", did, err, test.want)
					}
					if day, _ := c.spans.find(wanted.low); test.want && c.endOf(day) == startOf(order.DayOf(testTime)) {
						t.Error("the day is not cut")
					}
					listTest(t, db)
					checkCounted(t, db, c)
				})
			})
		}
	}
}

// cutPart cuts some blocks off a day and returns how to cut the rest.
func cutPart(t *testing.T, db *DB, whole cut) cut {
	t.Helper()
	c := db.counts.of(1)
	if did, err := c.cut(t.Context(), db.sql, 1, whole); err != nil || !did {
		t.Fatalf("cut: %v, error %v", did, err)
	}
	rest, _ := c.spans.find(whole.low)
	if whole.upwards {
		rest, _ = c.spans.find(listKey{whole.high.at - 1, 0})
	}
	whole.low, whole.high = c.spans.at(rest).low, c.endOf(rest)
	return whole
}

// TestCutOnce reads every page of a full day and looks at what was cut for
// them: little is skipped, and keys are not read again.
func TestCutOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *DB) {
		db.counts.sizes.blocks = 1000
		fullDays(t, db, 300)
		filter := order.NewFilter()
		pages := func(check func(place)) {
			t.Helper()
			for filter.Page = 1; filter.Page <= 30; filter.Page++ {
				if _, err := db.List(t.Context(), 1, filter); err != nil {
					t.Fatal(err)
				}
				check(db.counts.of(1).place(filter))
			}
		}
		pages(func(p place) {
			if p.skip > 2*smallSizes.block || p.cut != nil {
				t.Errorf("page %d skips %d orders", filter.Page, p.skip)
			}
		})
		c := db.counts.of(1)
		if least := 300 / int(smallSizes.block) * 9 / 10; c.spans.length < least || c.blocks != c.spans.length-3 {
			t.Errorf("%d spans, %d blocks, want at least %d", c.spans.length, c.blocks, least)
		}
		checkCounted(t, db, c)
		weight := db.counts.weight
		if weight != merchantWeight+c.spans.length {
			t.Errorf("the cache takes %d spans for %d", c.spans.length, weight)
		}
		before := slices.Clone(c.spans.groups)
		pages(func(place) {})
		if diff := cmp.Diff(before, c.spans.groups, cmp.AllowUnexported(group{}, span{}, listKey{})); diff != "" {
			t.Errorf("cut again (-before +after):\n%s", diff)
		}
	})
}

// TestBlocksAreFew cuts everything that a merchant has: the blocks grow with
// the orders, so that memory does not.
func TestBlocksAreFew(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *DB) {
		db.counts.sizes.blocks = 10
		fullDays(t, db, 300)
		filter := order.NewFilter()
		for filter.Page = 30; filter.Page > 0; filter.Page-- {
			if _, err := db.List(t.Context(), 1, filter); err != nil {
				t.Fatal(err)
			}
		}
		if c := db.counts.of(1); c.blocks < 6 || c.blocks > 20 {
			t.Errorf("%d blocks, want about 10", c.blocks)
		}
	})
}

// TestCutAfterAnError spoils an order, so that its day cannot be cut.
func TestCutAfterAnError(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *DB) {
		db.counts.sizes.fewest, db.counts.sizes.most = 100, 100 // a whole day at once
		fullDays(t, db, 90)
		filter := order.NewFilter()
		filter.Page = 2
		change(t, db, "UPDATE orders SET state = 99 WHERE number = 61")
		for range 3 {
			if page, err := db.List(t.Context(), 1, filter); err == nil {
				t.Errorf("a list that misses an order has %d and no error", page.Total)
			} else if !strings.Contains(err.Error(), "do not fit") {
				t.Error(err)
			}
		}
		change(t, db, "UPDATE orders SET state = 1 WHERE number = 61")
		page, err := db.List(t.Context(), 1, filter)
		if err != nil || len(page.Orders) != 10 || page.Total != 90 {
			t.Errorf("%d orders of %d, error %v", len(page.Orders), page.Total, err)
		}
		checkCounted(t, db, db.counts.of(1))
	})
}

// TestOlderDatabase puts an older state of a database in the place of the one
// that was counted.
func TestOlderDatabase(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *DB) {
		fullDays(t, db, 30)
		listTest(t, db)
		c := db.counts.of(1)
		c.version += 5
		c.spans.count(order.DayOf(testTime), startOf(order.DayOf(testTime)), order.Registered, 5)
		if page := listTest(t, db); page.Total != 30 {
			t.Errorf("%d orders, want 30", page.Total)
		}
		checkCounted(t, db, c)
	})
}
