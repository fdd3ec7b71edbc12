package pageindex

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestRefresh brings an index to the newest version in each way there is.
func TestRefresh(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, after int // orders before and after the first load
		change        func(*fakeSource)
		want          map[string]int // reads of the second refresh
	}{
		"nothing new":              {before: 30, want: map[string]int{}},
		"a few events":             {before: 30, after: 5, want: map[string]int{"Deltas": 1}},
		"too many events":          {before: 30, after: 6, want: map[string]int{"DayCounts": 1}},
		"the first events":         {after: 5, want: map[string]int{"Deltas": 1}},
		"no events at all":         {want: map[string]int{}},
		"another history, longer":  {before: 30, after: 5, change: replay(30), want: map[string]int{"Deltas": 1, "DayCounts": 1}},
		"another history, as long": {before: 30, change: replay(30), want: map[string]int{"DayCounts": 1}},
		"a gap":                    {before: 30, after: 5, change: dropEvent(31), want: map[string]int{"Deltas": 1, "DayCounts": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := newFakeSource()
			source.fill(test.before)
			shared := refreshed(t, smallSizes, source)
			if test.change != nil {
				test.change(source)
			}
			source.fill(test.after)
			clear(source.reads)
			refresh(t, shared, source)
			testenv.Equal(t, "reads", test.want, source.reads)
			if got := shared.index.version; got != source.version() {
				t.Errorf("version %v, want %v", got, source.version())
			}
			checkIndex(t, shared.index, source)
		})
	}
}

// replay returns a change that replaces the history by another one with the
// same numbers: the orders from there on have another state.
func replay(events int) func(*fakeSource) {
	return func(s *fakeSource) {
		for i := range s.events[:events] {
			d := &s.events[i]
			d.Version.Nonce, d.To = s.random.Int64(), order.Completed
			s.orders[d.Key.LegacyID] = OrderState{d.Key, d.To}
		}
	}
}

// dropEvent returns a change that makes Deltas leave an event out.
func dropEvent(event int64) func(*fakeSource) {
	return func(s *fakeSource) { s.missing = event }
}

// TestRefreshError makes each read of a refresh fail. The index must not be
// believed to be newer than it is.
func TestRefreshError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for method, after := range map[string]int{"Deltas": 5, "DayCounts": 50} {
		source := newFakeSource()
		source.fill(30)
		shared := refreshed(t, smallSizes, source)
		before := shared.index.version
		source.fill(after)
		source.fail = func(m string) error {
			if m == method {
				return broken
			}
			return nil
		}
		for range 2 {
			if err := shared.Refresh(t.Context(), source, source.version()); !errors.Is(err, broken) {
				t.Errorf("%s: error %v", method, err)
			}
		}
		if got := shared.index.version; got != before {
			t.Errorf("%s: version %v after an error, want %v", method, got, before)
		}
		checkIndex(t, shared.index, source.asOf(30))
		source.fail = nil
		refresh(t, shared, source)
		checkIndex(t, shared.index, source)
	}
}

// TestWaitEndsWithContext waits for a lock that another request holds.
func TestWaitEndsWithContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		source := newFakeSource()
		source.fill(90)
		shared := refreshed(t, smallSizes, source)
		filter := order.NewFilter()
		filter.Page = 2 // needs a split
		testenv.NoError(t, shared.updating.Acquire(t.Context(), 1))
		ctx, cancel := context.WithCancel(t.Context())
		waits := map[string]func() error{
			"Locate":     func() error { _, err := shared.Locate(ctx, source, filter); return err },
			"Refresh":    func() error { return shared.Refresh(ctx, source, source.version()) },
			"Invalidate": func() error { return shared.Invalidate(ctx, source.version()) },
		}
		var group sync.WaitGroup
		for name, wait := range waits {
			group.Go(func() {
				if err := wait(); !errors.Is(err, context.Canceled) {
					t.Errorf("%s: error %v, want that of the context", name, err)
				}
			})
		}
		synctest.Wait()
		if _, err := shared.Locate(ctx, source, order.NewFilter()); err != nil {
			t.Errorf("a page that needs no split waits: %v", err)
		}
		cancel()
		group.Wait()
		shared.updating.Release(1)
	})
}

// TestLocateDuringReads locates pages while another request reads keys and
// while one reads events. Neither may block it.
func TestLocateDuringReads(t *testing.T) {
	t.Parallel()
	source := newFakeSource()
	source.fill(90)
	shared := refreshed(t, smallSizes, source)
	blocked := make(map[string]bool)
	source.before = func(method string) {
		if blocked[method] {
			return
		}
		blocked[method] = true
		if _, err := shared.Locate(t.Context(), source, order.NewFilter()); err != nil {
			t.Error(err)
		}
	}
	filter := order.NewFilter()
	filter.Page = 2
	if _, err := shared.Locate(t.Context(), source, filter); err != nil {
		t.Fatal(err)
	}
	source.transition(1, order.Canceled)
	refresh(t, shared, source)
	if !blocked["Keys"] || !blocked["Deltas"] {
		t.Errorf("reads %v", blocked)
	}
}

// TestConcurrentUse locates pages in several goroutines, in each way there is,
// while orders change. Each position must be right as of its version.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	source := newFakeSource()
	source.fill(60)
	shared := NewShared(smallSizes)
	type located struct {
		filter   order.Filter
		position Position
	}
	const readers, rounds = 4, 60
	found := make([][]located, readers)
	var group sync.WaitGroup
	for reader := range readers {
		note := func(filter order.Filter, p Position, err error) {
			if err != nil {
				t.Error(err)
				return
			}
			found[reader] = append(found[reader], located{filter, p})
		}
		group.Go(func() {
			filters := testFilters()
			for i := range rounds {
				filter := filters[i%len(filters)]
				p, err := shared.Locate(t.Context(), source, filter)
				note(filter, p, err)
				source.transition(int64(1+(i*7+reader)%60), order.States()[(i+reader)%4])
				version, _ := source.Version(t.Context())
				if err := shared.Refresh(t.Context(), source, version); err != nil {
					t.Error(err)
				}
				if p, ok := shared.LocateAt(filter, version); ok {
					note(filter, p, nil)
				}
			}
		})
	}
	group.Wait()
	for _, all := range found {
		for _, l := range all {
			checkPosition(t, source.asOf(l.position.Version.Event), l.filter, l.position)
		}
	}
	refresh(t, shared, source)
	checkIndex(t, shared.index, source)
}
