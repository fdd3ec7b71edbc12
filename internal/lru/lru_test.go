package lru_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"merchantorders/internal/lru"
	"merchantorders/internal/testenv"
)

// expectKeys checks which of the keys a to f are in the cache, and the sums.
func expectKeys(t *testing.T, c *lru.Cache[string, int], weight int, want ...string) {
	t.Helper()
	var got []string
	for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
		if _, ok := c.Peek(key); ok {
			got = append(got, key)
		}
	}
	if !slices.Equal(got, want) || c.Weight() != weight {
		t.Errorf("keys %v, weight %d; want %v, weight %d", got, c.Weight(), want, weight)
	}
}

func TestEntryHeavierThanTheBound(t *testing.T) {
	t.Parallel()
	c := lru.New[string, int](10)
	c.Add("a", 1, 5)
	c.Add("b", 2, 1000)
	expectKeys(t, c, 1000, "b")
	c.Add("c", 3, 1)
	expectKeys(t, c, 1, "c")
	testenv.Equal(t, "maximum weight", 10, c.MaxWeight())
}

// TestModel compares the cache with a slice of entries, the most recently used
// one first.
func TestModel(t *testing.T) {
	t.Parallel()
	type entry struct{ key, value, weight int }
	const maxWeight = 40
	random := rand.New(rand.NewPCG(1, 1))
	c := lru.New[int, int](maxWeight)
	var model []entry
	remove := func(key int) (entry, bool) {
		i := slices.IndexFunc(model, func(e entry) bool { return e.key == key })
		if i < 0 {
			return entry{}, false
		}
		removed := model[i]
		model = slices.Delete(model, i, i+1)
		return removed, true
	}
	for step := range 5000 {
		key := random.IntN(20)
		want := slices.IndexFunc(model, func(e entry) bool { return e.key == key })
		if got, found := c.Peek(key); found != (want >= 0) || found && got != model[want].value {
			t.Fatalf("step %d: Peek(%d) is %d, %v", step, key, got, found)
		}
		switch random.IntN(2) {
		case 0:
			want, ok := remove(key)
			if ok {
				model = slices.Insert(model, 0, want)
			}
			if got, found := c.Get(key); found != ok || got != want.value {
				t.Fatalf("step %d: Get(%d) is %d, %v; want %d, %v", step, key, got, found, want.value, ok)
			}
		default:
			added := entry{key, step, random.IntN(12)}
			remove(key)
			model = slices.Insert(model, 0, added)
			c.Add(key, added.value, added.weight)
		}
		weight := func() (sum int) {
			for _, e := range model {
				sum += e.weight
			}
			return sum
		}
		for weight() > maxWeight {
			model = model[:len(model)-1]
		}
		if c.Weight() != weight() {
			t.Fatalf("step %d: weight %d, want %d", step, c.Weight(), weight())
		}
	}
}

// TestMade has more keys than there is room for: those that were used longest ago are made again.
func TestMade(t *testing.T) {
	t.Parallel()
	made := make(map[int]int)
	m := lru.NewMade(3, func(key int) int {
		made[key]++
		return 10 * key
	})
	for _, key := range []int{1, 2, 3, 1, 4, 1, 2} {
		testenv.Equal(t, "value", 10*key, m.Get(key))
	}
	testenv.Equal(t, "times made, by key", map[int]int{1: 1, 2: 2, 3: 1, 4: 1}, made)
}
