package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/store/sqldb"
)

// TestCountsAfterAnError spoils what lists count from, so that a list fails in
// the middle of counting, and mends it again. What the failed list has counted
// must not mislead the next.
func TestCountsAfterAnError(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before      func(*testing.T, *DB)
		spoil, mend string
	}{
		"day counts": {
			before: func(*testing.T, *DB) {},
			spoil:  "UPDATE order_days SET state = 99 WHERE state = 2",
			mend:   "UPDATE order_days SET state = 2 WHERE state = 99",
		},
		"events": {
			before: func(t *testing.T, db *DB) {
				// Counted once, and three events behind.
				listTest(t, db)
				for number := range int64(3) {
					if err := moveTest(t.Context(), db, 1, number+1, order.Canceled); err != nil {
						t.Fatal(err)
					}
				}
			},
			spoil: "UPDATE events SET order_day = 'no day' WHERE seq = (SELECT MAX(seq) - 1 FROM events)",
			mend:  "UPDATE events SET order_day = (SELECT MIN(day) FROM order_days) WHERE order_day = 'no day'",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "orders.db")
			db := openTest(t, path)
			if err := addTestMerchant(t.Context(), db, 1); err != nil {
				t.Fatal(err)
			}
			batch := testBatch(1, "R", 30)
			for i := range batch {
				batch[i].Order.State = order.States()[i%3]
			}
			if _, err := db.ImportOrders(t.Context(), batch, testTime); err != nil {
				t.Fatal(err)
			}
			test.before(t, db)
			change(t, db, test.spoil)
			for range 3 {
				if page, err := db.List(t.Context(), 1, order.NewFilter()); err == nil {
					t.Errorf("a list from spoilt counts has %d orders and no error", page.Total)
				}
			}
			change(t, db, test.mend)
			want := listTest(t, openTest(t, path)) // counted anew
			if diff := cmp.Diff(want, listTest(t, db)); diff != "" {
				t.Errorf("list (-want +got):\n%s", diff)
			}
		})
	}
}

func listTest(t *testing.T, db *DB) order.Page {
	t.Helper()
	page, err := db.List(t.Context(), 1, order.NewFilter())
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// change changes the tables past the store. It must find something to change.
func change(t testing.TB, db *DB, text string, args ...any) {
	t.Helper()
	err := db.sql.InTx(t.Context(), func(q sqldb.Querier) error {
		return expectOneRow(q.WithoutTimeout().Exec(t.Context(), text, args...))
	})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// TestListInSnapshot looks at the list of last resort while orders move and
// other lists count them, and compares it with the common one of a handle that
// has counted by itself.
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
	if err := addTestMerchant(t.Context(), db, 1); err != nil {
		t.Fatal(err)
	}
	const size = 60
	if _, err := db.ImportOrders(t.Context(), testBatch(1, "R", size), testTime); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	var moves atomic.Int64
	group.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			if err := moveTest(t.Context(), db, 1, int64(1+i%size), order.States()[(i/size+i)%2]); err != nil {
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
		if err != nil {
			t.Fatal(err)
		}
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
		if err != nil {
			t.Fatal(err)
		}
		got, err := db.listInSnapshot(t.Context(), 1, filter)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("page %d (-listed +in a snapshot):\n%s", filter.Page, diff)
		}
	}
}

// TestCountCacheRoom fills the cache beyond its room.
func TestCountCacheRoom(t *testing.T) {
	t.Parallel()
	cache := newCountCache()
	cache.most = 3*merchantWeight + 60
	expect := func(when string, merchants ...int64) {
		t.Helper()
		var kept []int64
		weight := 0
		for e := cache.recent.Front(); e != nil; e = e.Next() {
			kept = append(kept, e.Value.(*keptCounts).merchantID)
			weight += e.Value.(*keptCounts).weight
		}
		if diff := cmp.Diff(merchants, kept); diff != "" {
			t.Errorf("%s: kept, the last asked for first (-want +got):\n%s", when, diff)
		}
		if len(cache.merchants) != len(kept) || cache.weight != weight {
			t.Errorf("%s: %d merchants by id, weight %d; want %d, %d", when, len(cache.merchants), cache.weight, len(kept), weight)
		}
	}
	first := cache.of(1)
	cache.grown(1, first, 20)
	cache.grown(2, cache.of(2), 20)
	cache.grown(3, cache.of(3), 8)
	expect("within its room", 3, 2, 1)
	if cache.of(1) != first {
		t.Error("counts that were kept are new ones")
	}
	expect("asked for again", 1, 3, 2)
	cache.grown(1, first, 25)
	expect("grown within its room", 1, 3, 2)
	cache.grown(4, cache.of(4), 50)
	expect("one too many", 4, 1)
	cache.grown(3, first, 1000)
	expect("grown, but let go of meanwhile", 4, 1)
	stale := first
	cache.grown(5, cache.of(5), 1000)
	expect("one that is larger than the room", 5)
	if cache.of(1) == stale {
		t.Error("counts that were let go of are the same again")
	}
	expect("another after it", 1)
	cache.grown(1, stale, 1000)
	expect("grown by one that holds on to counts let go of", 1)
	for merchantID := range int64(100) {
		cache.of(1000 + merchantID)
	}
	if most := cache.most / merchantWeight; len(cache.merchants) != most {
		t.Errorf("%d merchants without orders are kept, want %d", len(cache.merchants), most)
	}
}

// TestCountCacheCrowded lists for more merchants than the cache has room for,
// all at once, while orders come in.
func TestCountCacheCrowded(t *testing.T) {
	t.Parallel()
	db := openTest(t, filepath.Join(t.TempDir(), "orders.db"))
	db.counts.most = 5 * merchantWeight
	const merchants, rounds = 9, 25
	for id := range int64(merchants) {
		if err := addTestMerchant(t.Context(), db, id+1); err != nil {
			t.Fatal(err)
		}
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
		if _, err := db.ImportOrders(t.Context(), batch, testTime); err != nil {
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
	if db.counts.weight > db.counts.most && db.counts.recent.Len() > 1 {
		t.Errorf("%d merchants weigh %d, want at most %d", db.counts.recent.Len(), db.counts.weight, db.counts.most)
	}
}

// TestPlaceAt finds pages as of events that were counted in a while ago: where
// they were found then.
func TestPlaceAt(t *testing.T) {
	t.Parallel()
	filters := []order.Filter{
		{AnyState: true, Page: 1, PageSize: 10, From: order.NoDay, To: order.NoDay},
		{AnyState: true, Page: 3, PageSize: 7, From: order.NoDay, To: order.NoDay},
		{States: []order.State{order.Registered}, Page: 1, PageSize: 10, From: order.NoDay, To: order.NoDay},
		{States: []order.State{order.Registered, order.InProcessing}, Page: 2, PageSize: 5, From: 20001, To: 20003},
	}
	c := newDayCounts(usualSizes)
	c.loaded = true
	random := rand.New(rand.NewPCG(1, 2))
	type found struct {
		places []place
		orders int64
	}
	then := make(map[int64]found)
	const events = 3 * mostRecent
	for seq := int64(1); seq <= events; seq++ {
		day := order.Day(20000 + random.IntN(6))
		m := move{seq: seq, day: day, key: startOf(day)}
		switch random.IntN(4) {
		case 0, 1:
			m.to = order.Registered
		case 2:
			m.from, m.to = order.Registered, order.InProcessing
		} // and one that moves nothing
		c.add(m)
		now := found{orders: c.spans.orders[0]}
		for _, filter := range filters {
			now.places = append(now.places, c.place(filter))
		}
		then[seq] = now
	}
	for seq := int64(0); seq <= events+1; seq++ {
		for i, filter := range filters {
			got, ok := c.placeAt(filter, seq)
			if want := seq >= events-mostRecent && seq <= events; ok != want {
				t.Fatalf("known as of event %d of %d: %v, want %v", seq, events, ok, want)
			}
			if !ok {
				continue
			}
			want := then[seq].places[i]
			if got.version != seq || got.total != want.total || got.limit != want.limit || got.skip != want.skip {
				t.Errorf("filter %d as of event %d: %+v, want %+v", i, seq, got, want)
			}
		}
		if now := c.spans.orders[0]; now != then[events].orders {
			t.Fatalf("%d orders are counted afterwards, want %d", now, then[events].orders)
		}
	}
}
