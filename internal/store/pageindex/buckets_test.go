package pageindex

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"merchantorders/internal/order"
)

// TestBucketList adds orders, moves them to other states and replaces buckets,
// and compares with a plain list of all orders.
func TestBucketList(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	randomState := func() order.State { return 1 + order.State(random.IntN(order.NumStates-1)) }
	var l bucketList
	var orders []OrderState
	for round := range 30 {
		for range 100 {
			day := order.Day(random.IntN(1500) - 500)
			o := OrderState{Key{day.Start().Unix() + random.Int64N(86400), int64(len(orders))}, randomState()}
			l.add(o.Key, o.State, +1)
			orders = append(orders, o)
		}
		for range 50 {
			o := &orders[random.IntN(len(orders))]
			to := randomState()
			l.add(o.Key, o.State, -1)
			l.add(o.Key, to, +1)
			o.State = to
		}
		for range 20 {
			splitBucket(&l, orders, orders[random.IntN(len(orders))].Key)
		}
		checkBuckets(t, &l, orders)
		for range 50 {
			checkSearch(t, random, &l, orders)
		}
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
}

// splitBucket replaces the bucket of a key by one bucket for each order.
func splitBucket(l *bucketList, orders []OrderState, k Key) {
	at, _ := l.find(k)
	low, high := l.at(at).low, l.upperBound(at)
	var buckets []bucket
	for _, o := range orders {
		if o.Key.Compare(low) >= 0 && o.Key.Compare(high) < 0 {
			b := bucket{low: o.Key}
			b.counts.add(o.State, 1)
			buckets = append(buckets, b)
		}
	}
	slices.SortFunc(buckets, func(a, b bucket) int { return a.low.Compare(b.low) })
	buckets[0].low = low
	l.replace(at, buckets)
}

// checkBuckets compares the counts of the buckets, of the chunks and of the
// whole list with those of all orders.
func checkBuckets(t *testing.T, l *bucketList, orders []OrderState) {
	t.Helper()
	length := 0
	for i := range l.chunks {
		c := &l.chunks[i]
		if len(c.buckets) == 0 || len(c.buckets) > 2*chunkSize {
			t.Fatalf("chunk %d has %d buckets", i, len(c.buckets))
		}
		if c.low != c.buckets[0].low {
			t.Errorf("chunk %d begins at %v, its buckets at %v", i, c.low, c.buckets[0].low)
		}
		if got := sum(c.buckets); got != c.counts {
			t.Errorf("chunk %d has the counts %v, its buckets %v", i, c.counts, got)
		}
		length += len(c.buckets)
	}
	var totals [order.NumStates]int64
	want := make(map[location]stateCounts)
	for _, o := range orders {
		totals[o.State]++
		totals[anyState]++
		at, ok := l.find(o.Key)
		if !ok || l.at(at).low.Compare(o.Key) > 0 || l.upperBound(at).Compare(o.Key) <= 0 {
			t.Fatalf("key %v is not in the bucket found, %v to %v", o.Key, l.at(at).low, l.upperBound(at))
		}
		counts := want[at]
		counts.add(o.State, 1)
		want[at] = counts
	}
	if l.length != length || l.totals != totals {
		t.Errorf("%d buckets with %v orders, want %d with %v", l.length, l.totals, length, totals)
	}
	for i := range l.chunks {
		for j, b := range l.chunks[i].buckets {
			if l.upperBound(location{i, j}).Compare(b.low) <= 0 {
				t.Errorf("bucket %d of chunk %d at %v is empty or out of order", j, i, b.low)
			}
			if want := want[location{i, j}]; b.counts != want {
				t.Errorf("bucket %d of chunk %d has the counts %v, want %v", j, i, b.counts, want)
			}
			if start := StartOfDay(b.low.day()); b.low != start {
				if at, ok := l.find(start); !ok || l.at(at).low != start {
					t.Errorf("no bucket begins with the day of the bucket at %v", b.low)
				}
			}
		}
	}
}

// checkSearch searches for a rank among the orders of some states and days.
func checkSearch(t *testing.T, random *rand.Rand, l *bucketList, orders []OrderState) {
	t.Helper()
	low, high := (Key{math.MinInt64, math.MinInt64}), maxKey
	if random.IntN(2) == 0 {
		low = StartOfDay(order.Day(random.IntN(1600) - 550))
	}
	if random.IntN(2) == 0 {
		high = StartOfDay(order.Day(random.IntN(1600) - 550))
	}
	states := anyStates
	if random.IntN(2) == 0 {
		states = order.States()[random.IntN(5):][:1+random.IntN(5)]
	}
	var matching []Key
	for _, o := range orders {
		if (states[0] == anyState || slices.Contains(states, o.State)) && o.Key.Compare(low) >= 0 && o.Key.Compare(high) < 0 {
			matching = append(matching, o.Key)
		}
	}
	slices.SortFunc(matching, func(a, b Key) int { return b.Compare(a) })
	rank := random.Int64N(int64(len(matching)) + 5)
	want := searchResult{total: int64(len(matching)), found: rank < int64(len(matching))}
	if want.found {
		want.at, _ = l.find(matching[rank])
		for _, k := range slices.Backward(matching[:rank]) {
			if at, _ := l.find(k); at != want.at {
				break
			}
			want.offset++
		}
	}
	if got := l.search(states, low, high, rank); got != want {
		t.Fatalf("rank %d: %+v, want %+v", rank, got, want)
	}
}
