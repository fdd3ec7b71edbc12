package store

import (
	"cmp"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
	"merchantorders/internal/store/pageindex"
	"merchantorders/internal/testenv"
)

// TestIndexSource compares what a page index reads with the orders and events
// that were written.
func TestIndexSource(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, db *DB) {
		source := indexSource{db.sql, 1}
		if version, err := source.Version(t.Context()); err != nil || version != (order.DataVersion{}) {
			t.Errorf("version %v, error %v of a merchant that does not exist", version, err)
		}
		fullDays(t, db, 30)
		for id, state := range map[int64]order.State{3: order.Canceled, 11: order.Completed} {
			testenv.NoError(t, transitionTest(t.Context(), db, 1, id, state))
		}
		filter := order.NewFilter()
		filter.PageSize = order.MaxPageSize
		page, err := db.List(t.Context(), 1, filter)
		testenv.NoError(t, err)
		versions, err := db.DataVersions(t.Context(), []int64{1})
		testenv.NoError(t, err)
		checkSourceCounts(t, source, page.Orders, versions[1])
		checkSourceKeys(t, source, page.Orders, versions[1])
		checkSourceDeltas(t, source, page.Orders, versions[1])
	})
}

func checkSourceCounts(t *testing.T, source indexSource, orders []order.Summary, version order.DataVersion) {
	t.Helper()
	want := make(map[pageindex.DayCount]int32)
	for _, o := range orders {
		want[pageindex.DayCount{Day: order.DayOf(o.CreatedAt), State: o.State}]++
	}
	days, got, err := source.DayCounts(t.Context())
	if err != nil || got != version {
		t.Fatalf("day counts of version %v, error %v, want %v", got, err, version)
	}
	if !slices.IsSortedFunc(days, func(a, b pageindex.DayCount) int { return cmp.Compare(a.Day, b.Day) }) {
		t.Errorf("not in the order of days: %v", days)
	}
	counts := make(map[pageindex.DayCount]int32)
	for _, d := range days {
		if d.Orders > 0 {
			counts[pageindex.DayCount{Day: d.Day, State: d.State}] = d.Orders
		}
	}
	if diff := gocmp.Diff(want, counts); diff != "" {
		t.Errorf("day counts (-want +got):\n%s", diff)
	}
	if got, err := source.Version(t.Context()); err != nil || got != version {
		t.Errorf("version %v, error %v, want %v", got, err, version)
	}
}

// checkSourceKeys reads the keys of each range between two orders from both
// ends.
func checkSourceKeys(t *testing.T, source indexSource, orders []order.Summary, version order.DataVersion) {
	t.Helper()
	var all []pageindex.OrderState // the highest key first, as in lists
	for _, o := range orders {
		all = append(all, pageindex.OrderState{Key: keyOf(o), State: o.State})
	}
	for _, limit := range []int64{3, 1000} {
		for high := 0; high < len(all); high += 5 {
			for low := high + 1; low < len(all); low += 7 {
				want := slices.Clone(all[high+1 : low+1])
				r := pageindex.SplitRange{Low: all[low].Key, High: all[high].Key, Limit: limit}
				for range 2 {
					keys, err := source.Keys(t.Context(), r)
					if err != nil || keys.Version != version {
						t.Fatalf("keys of version %v, error %v, want %v", keys.Version, err, version)
					}
					if diff := gocmp.Diff(want[:min(int64(len(want)), limit)], keys.Orders); diff != "" {
						t.Errorf("%+v (-want +got):\n%s", r, diff)
					}
					r.Ascending = true
					slices.Reverse(want)
				}
			}
		}
	}
}

func keyOf(o order.Summary) pageindex.Key {
	return pageindex.Key{CreatedAt: o.CreatedAt.Unix(), LegacyID: o.LegacyID}
}

// checkSourceDeltas follows all events from an empty database to the states of
// the orders.
func checkSourceDeltas(t *testing.T, source indexSource, orders []order.Summary, version order.DataVersion) {
	t.Helper()
	want := make(map[pageindex.Key]order.State)
	for _, o := range orders {
		want[keyOf(o)] = o.State
	}
	for _, from := range []int64{1, version.Event, version.Event + 1} {
		keyed, err := source.Deltas(t.Context(), from, true)
		if err != nil || int64(len(keyed)) != version.Event+1-from {
			t.Fatalf("%d deltas from event %d of %d, error %v", len(keyed), from, version.Event, err)
		}
		states := make(map[pageindex.Key]order.State)
		for i, d := range keyed {
			if d.Version.Event != from+int64(i) || from == 1 && d.From != states[d.Key] {
				t.Errorf("delta %d from event %d: %+v", i, from, d)
			}
			states[d.Key] = d.To
			keyed[i].Key = pageindex.StartOfDay(order.Day(d.Key.CreatedAt / 86400))
		}
		if diff := gocmp.Diff(want, states); from == 1 && diff != "" {
			t.Errorf("states after all events (-want +got):\n%s", diff)
		}
		if last := len(keyed) - 1; last >= 0 && keyed[last].Version != version {
			t.Errorf("the last delta has the version %v, want %v", keyed[last].Version, version)
		}
		days, err := source.Deltas(t.Context(), from, false)
		testenv.NoError(t, err)
		if diff := gocmp.Diff(keyed, days); diff != "" {
			t.Errorf("without keys (-want +got):\n%s", diff)
		}
	}
}
