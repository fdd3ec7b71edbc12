package pageindex

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
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
	testenv.NoError(t, shared.Refresh(t.Context(), s, version))
}

// changingSource changes while keys are read.
type changingSource struct {
	*fakeSource
	before, after int // changes before and after the read
}

func (s changingSource) Keys(ctx context.Context, r SplitRange) (Keys, error) {
	s.change(s.before)
	keys, err := s.fakeSource.Keys(ctx, r)
	s.change(s.after)
	return keys, err
}

// change creates orders on the day that is split and cancels others.
func (s changingSource) change(n int) {
	for i := range n {
		s.transition(int64(1+i*2), order.Canceled)
		s.create((today-1).Start().Unix()+43200, order.Registered)
	}
}

// TestSplitBesideChanges creates orders and moves others to other states before
// and after the keys of a day are read, so that the index is older than the keys
// and the database newer.
func TestSplitBesideChanges(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, after int
		part          bool // what is split is a part of the day
		want          bool
	}{
		"no changes":                  {want: true},
		"before":                      {before: 1, want: true},
		"after":                       {after: 3, want: true},
		"before and after":            {before: 2, after: 40, want: true},
		"a part, before and after":    {before: 2, after: 3, part: true, want: true},
		"many before: loaded again":   {before: 40, want: true},
		"loaded again, changed since": {before: 40, after: 1},
		"loaded again, a part":        {before: 40, part: true},
	} {
		for _, page := range []int64{2, 3} { // in the upper and in the lower half of the day
			t.Run(fmt.Sprintf("%s, page %d", name, page), func(t *testing.T) {
				t.Parallel()
				source := newFakeSource()
				source.fill(90)
				sizes := smallSizes
				sizes.MinKeys, sizes.MaxKeys = 3, 3
				shared := refreshed(t, sizes, source)
				filter := order.NewFilter()
				filter.From, filter.To, filter.Page = today-1, today-1, page
				if test.part {
					if split, err := shared.split(t.Context(), source, filter); err != nil || !split {
						t.Fatalf("split %v, error %v", split, err)
					}
				}
				buckets := shared.index.Buckets()
				split, err := shared.split(t.Context(), changingSource{source, test.before, test.after}, filter)
				if err != nil || split != test.want {
					t.Fatalf("split %v, error %v, want %v", split, err, test.want)
				}
				if split && shared.index.Buckets() == buckets {
					t.Error("the bucket is not split")
				}
				checkIndex(t, shared.index, source.asOf(shared.index.version.Event))
				refresh(t, shared, source)
				checkIndex(t, shared.index, source)
			})
		}
	}
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
			testenv.NoError(t, err)
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
			testenv.NoError(t, err)
			if split, err := x.Split(r, keys); !split || err != nil {
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
		testenv.NoError(t, err)
		spoil(&keys)
		split, err := x.Split(r, keys)
		if split || err == nil || errors.Is(err, ErrMismatch) == (name == "an unknown state") {
			t.Errorf("%s: split %v, error %v", name, split, err)
		}
		checkIndex(t, x, source)
	}
}
