package pageindex

import (
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestCacheWeight loads indexes and looks at their weights in the cache.
func TestCacheWeight(t *testing.T) {
	t.Parallel()
	c := NewCache(smallSizes, 3*indexWeight+60)
	load := func(merchantID int64, index *Shared, days int) {
		t.Helper()
		source := newFakeSource()
		for day := range order.Day(days) {
			source.create(StartOfDay(today-day).CreatedAt, order.Registered)
		}
		testenv.NoError(t, index.Invalidate(t.Context(), index.index.version))
		refresh(t, index, source)
	}
	expect := func(when string, weight int, merchants ...int64) {
		t.Helper()
		for _, id := range merchants {
			if _, ok := c.indexes.Peek(id); !ok {
				t.Errorf("%s: merchant %d is not in the cache", when, id)
			}
		}
		if c.indexes.Len() != len(merchants) || c.indexes.Weight() != weight {
			t.Errorf("%s: %d merchants of weight %d, want %d of %d", when, c.indexes.Len(), c.indexes.Weight(), len(merchants), weight)
		}
		if n, buckets := c.Size(); n != len(merchants) || buckets != weight-n*indexWeight {
			t.Errorf("%s: %d indexes with %d buckets", when, n, buckets)
		}
	}
	first := c.Get(1)
	load(1, first, 20)
	load(2, c.Get(2), 20)
	load(3, c.Get(3), 8)
	expect("within the bound", 3*indexWeight+48, 1, 2, 3)
	if c.Get(1) != first {
		t.Error("the cache returns another index than before")
	}
	load(1, first, 25)
	expect("grown within the bound", 3*indexWeight+53, 1, 2, 3)
	load(4, c.Get(4), 50)
	expect("one too many", 2*indexWeight+75, 1, 4)
	evicted := first
	load(5, c.Get(5), 1000)
	expect("heavier than the bound", indexWeight+1000, 5)
	if c.Get(1) == evicted {
		t.Error("the cache returns an index that it has evicted")
	}
	load(1, evicted, 1000)
	expect("an evicted index has grown", indexWeight, 1)
	for id := range int64(100) {
		c.Get(1000 + id)
	}
	if most := c.indexes.MaxWeight() / indexWeight; c.indexes.Len() != most {
		t.Errorf("%d indexes without orders in the cache, want %d", c.indexes.Len(), most)
	}
}
