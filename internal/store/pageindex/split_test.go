package pageindex

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"merchantorders/internal/order"
)

// refreshed returns a shared index that has the content of a source.
func refreshed(t *testing.T, sizes Sizes, s *fakeSource) *Shared {
	t.Helper()
	shared := NewShared(sizes)
	refresh(t, shared, s)
	return shared
}

func refresh(t *testing.T, shared *Shared, s *fakeSource) {
	t.Helper()
	s.mu.Lock()
	version := s.version()
	s.mu.Unlock()
	if err := shared.Refresh(t.Context(), s, version); err != nil {
		t.Fatal(err)
	}
}

// TestSplitBesideChanges reads the keys of a day, creates orders and moves
// others to other states, and only then splits the day. Whether other requests
// have seen the changes meanwhile must not matter.
func TestSplitBesideChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		changes int
		seen    bool // by another request before the split
		since   int  // changes that no other request has seen, after those
		reload  bool // the index is loaded again before the split
		part    bool // what is split is a part of the day
		want    bool
	}{
		"no changes":                       {want: true},
		"changes, not seen yet":            {changes: 1, want: true},
		"changes, seen by others":          {changes: 1, seen: true, want: true},
		"seen, and more since":             {changes: 1, seen: true, since: 4, want: true},
		"many, not seen yet":               {changes: 40, want: true},
		"too many, seen by others":         {changes: 40, seen: true},
		"loaded again":                     {changes: 1, seen: true, reload: true, want: true},
		"loaded again, the bucket is gone": {changes: 1, seen: true, reload: true, part: true},
	} {
		for _, ascending := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, ascending %v", name, ascending), func(t *testing.T) {
				t.Parallel()
				source := newFakeSource()
				source.fill(90)
				shared := refreshed(t, smallSizes, source)
				r := SplitRange{Low: StartOfDay(today - 1), High: StartOfDay(today), Ascending: ascending, Limit: 8, bucketOrders: 3}
				if test.part {
					r = splitPart(t, shared, source, r)
				}
				keys, err := source.Keys(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				for i := range test.changes {
					source.transition(int64(1+i*2), order.Canceled)
					source.create((today-1).Start().Unix()+43200, order.Registered)
				}
				if test.reload {
					if err := shared.Invalidate(t.Context(), shared.index.version); err != nil {
						t.Fatal(err)
					}
				}
				if test.seen {
					refresh(t, shared, source)
				}
				for i := range test.since {
					source.transition(int64(1+i*2), order.Completed)
				}
				split, err := shared.install(t.Context(), source, r, keys)
				if err != nil || split != test.want {
					t.Fatalf("split %v, error %v, want %v", split, err, test.want)
				}
				if at, _ := shared.index.buckets.find(r.Low); split && shared.index.buckets.dayBound(at) == r.High {
					t.Error("the bucket is not split")
				}
				refresh(t, shared, source)
				checkIndex(t, shared.index, source)
			})
		}
	}
}

// splitPart splits some buckets off a day and returns the range of the rest.
func splitPart(t *testing.T, shared *Shared, s *fakeSource, r SplitRange) SplitRange {
	t.Helper()
	if split, err := shared.split(t.Context(), s, r); err != nil || !split {
		t.Fatalf("split %v, error %v", split, err)
	}
	buckets := &shared.index.buckets
	rest, _ := buckets.find(r.Low)
	if r.Ascending {
		rest, _ = buckets.find(Key{r.High.CreatedAt - 1, 0})
	}
	r.Low, r.High = buckets.at(rest).low, buckets.dayBound(rest)
	return r
}

// TestSplitOnce locates every page of full days and checks what was split for
// that: offsets are small, and keys are not read a second time.
func TestSplitOnce(t *testing.T) {
	t.Parallel()
	sizes := smallSizes
	sizes.MaxBuckets = 1000
	source := newFakeSource()
	source.fill(300)
	shared := NewShared(sizes)
	locateAll := func() {
		t.Helper()
		filter := order.NewFilter()
		for filter.Page = 1; filter.Page <= 30; filter.Page++ {
			p, err := shared.Locate(t.Context(), source, filter)
			if err != nil {
				t.Fatal(err)
			}
			if p.Offset > 2*sizes.BucketOrders || p.split != nil {
				t.Errorf("page %d has the offset %d", filter.Page, p.Offset)
			}
			checkPosition(t, source, filter, p)
		}
	}
	locateAll()
	x := shared.index
	if least := 300 / int(sizes.BucketOrders) * 9 / 10; x.Buckets() < least || x.extraBuckets != x.Buckets()-3 {
		t.Errorf("%d buckets, %d extra, want at least %d", x.Buckets(), x.extraBuckets, least)
	}
	checkIndex(t, x, source)
	keys := source.reads["Keys"]
	locateAll()
	if keys == 0 || source.reads["Keys"] != keys || source.reads["DayCounts"] != 1 {
		t.Errorf("reads %v, keys %d at first", source.reads, keys)
	}
}

// TestMaxBuckets splits everything that a merchant has: buckets grow with the
// number of orders, so that memory does not.
func TestMaxBuckets(t *testing.T) {
	t.Parallel()
	sizes := smallSizes
	sizes.MaxBuckets = 10
	source := newFakeSource()
	source.fill(300)
	shared := NewShared(sizes)
	filter := order.NewFilter()
	for filter.Page = 30; filter.Page > 0; filter.Page-- {
		if _, err := shared.Locate(t.Context(), source, filter); err != nil {
			t.Fatal(err)
		}
	}
	if n := shared.index.extraBuckets; n < 6 || n > 20 {
		t.Errorf("%d extra buckets, want about 10", n)
	}
}

// TestSplitWithoutRest reads exactly as many keys as a bucket has, so that no
// key remains for a rest: one with an empty range would have the same lowest key
// as the bucket before it.
func TestSplitWithoutRest(t *testing.T) {
	t.Parallel()
	for _, ascending := range []bool{false, true} {
		source := newFakeSource()
		for range 20 {
			source.create(StartOfDay(today).CreatedAt, order.Registered)
		}
		key := func(id int64) Key { return source.orders[id].Key }
		x := refreshed(t, smallSizes, source).index
		for _, r := range []SplitRange{
			{Low: StartOfDay(today), High: StartOfDay(today + 1), Ascending: true, Limit: 8, bucketOrders: 8}, // 1 to 8, and a rest from 9
			{Low: key(9), High: StartOfDay(today + 1), Limit: 4, bucketOrders: 4},                             // 17 to 20, and the rest
			{Low: key(9), High: key(17), Ascending: ascending, Limit: 8, bucketOrders: 4},                     // all of the rest
		} {
			keys, err := source.Keys(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			if split, err := x.Split(r, keys, nil); !split || err != nil {
				t.Fatalf("split %v, error %v", split, err)
			}
			checkIndex(t, x, source)
		}
		var got []int32
		for _, b := range x.buckets.chunks[0].buckets {
			got = append(got, b.counts[anyState])
		}
		if want := []int32{8, 4, 4, 4}; !slices.Equal(got, want) {
			t.Errorf("ascending %v: buckets of %v orders, want %v", ascending, got, want)
		}
	}
}

// TestSplitMismatch splits a day whose counts are wrong.
func TestSplitMismatch(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*Keys){
		"one order fewer":  func(k *Keys) { k.Orders = k.Orders[1:] },
		"another state":    func(k *Keys) { k.Orders[3].State = order.ReturnCanceled },
		"no order at all":  func(k *Keys) { k.Orders = nil },
		"an unknown state": func(k *Keys) { k.Orders[3].State = 99 },
	} {
		source := newFakeSource()
		source.fill(30)
		x := refreshed(t, smallSizes, source).index
		r := SplitRange{Low: StartOfDay(today), High: StartOfDay(today + 1), Limit: 100, bucketOrders: 3}
		keys, err := source.Keys(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		spoil(&keys)
		split, err := x.Split(r, keys, nil)
		if split || err == nil || errors.Is(err, ErrMismatch) == (name == "an unknown state") {
			t.Errorf("%s: split %v, error %v", name, split, err)
		}
		checkIndex(t, x, source)
	}
}
