package store

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
)

// counted is an order in the plainest list there could be.
type counted struct {
	key   listKey
	state order.State
}

// TestSpans counts orders in, moves them, divides spans, and compares with a
// list of all orders.
func TestSpans(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	var s spans
	var orders []counted
	for round := range 60 {
		for range 100 {
			day := order.Day(random.IntN(1500) - 500)
			one := counted{listKey{day.Start().Unix() + random.Int64N(86400), int64(len(orders))}, 1 + order.State(random.IntN(order.NumStates-1))}
			s.count(day, one.key, one.state, +1)
			orders = append(orders, one)
		}
		for range 50 {
			one := &orders[random.IntN(len(orders))]
			to := 1 + order.State(random.IntN(order.NumStates-1))
			day := dayOf(one.key)
			s.count(day, one.key, one.state, -1)
			s.count(day, one.key, to, +1)
			one.state = to
		}
		for range 20 {
			divide(&s, orders, orders[random.IntN(len(orders))].key)
		}
		checkSpans(t, &s, orders)
		for range 50 {
			checkSearch(t, random, &s, orders)
		}
		if t.Failed() {
			t.Fatalf("in round %d", round)
		}
	}
}

func dayOf(k listKey) order.Day { return order.Day(math.Floor(float64(k.at) / 86400)) }

// divide puts a span for each order in the place of the one that has a key.
func divide(s *spans, orders []counted, k listKey) {
	at, _ := s.find(k)
	low, high := s.at(at).low, s.above(at)
	var pieces []span
	for _, one := range orders {
		if compareKeys(one.key, low) >= 0 && compareKeys(one.key, high) < 0 {
			piece := span{low: one.key}
			piece.orders.count(one.state, 1)
			pieces = append(pieces, piece)
		}
	}
	slices.SortFunc(pieces, func(a, b span) int { return compareKeys(a.low, b.low) })
	pieces[0].low = low
	s.replace(at, pieces)
}

// checkSpans compares what each span, each group and all of them count.
func checkSpans(t *testing.T, s *spans, orders []counted) {
	t.Helper()
	length := 0
	for g := range s.groups {
		if n := len(s.groups[g].spans); n == 0 || n > 2*groupSize {
			t.Errorf("group %d has %d spans", g, n)
		}
		if s.groups[g].low != s.groups[g].spans[0].low {
			t.Errorf("group %d begins at %v, its first span at %v", g, s.groups[g].low, s.groups[g].spans[0].low)
		}
		for state, n := range sumOf(s.groups[g].spans) {
			if s.sums[state][g] != n {
				t.Errorf("group %d has %d in state %d, its spans %d", g, s.sums[state][g], state, n)
			}
		}
		length += len(s.groups[g].spans)
	}
	var all [order.NumStates]int64
	for _, one := range orders {
		all[one.state]++
		all[0]++
	}
	if s.length != length || s.orders != all {
		t.Errorf("%d spans of %v orders, want %d of %v", s.length, s.orders, length, all)
	}
	want := make(map[position]tally)
	for _, one := range orders {
		at, ok := s.find(one.key)
		if !ok || compareKeys(s.at(at).low, one.key) > 0 || compareKeys(s.above(at), one.key) <= 0 {
			t.Fatalf("key %v is not in the span found, %v to %v", one.key, s.at(at).low, s.above(at))
		}
		sum := want[at]
		sum.count(one.state, 1)
		want[at] = sum
	}
	for g := range s.groups {
		for i, one := range s.groups[g].spans {
			if diff := cmp.Diff(want[position{g, i}], one.orders); diff != "" {
				t.Errorf("span %d of group %d (-want +got):\n%s", i, g, diff)
			}
		}
	}
}

// checkSearch looks for an order among those of some states and days.
func checkSearch(t *testing.T, random *rand.Rand, s *spans, orders []counted) {
	t.Helper()
	from, to := lowestKey, highestKey
	if random.IntN(2) == 0 {
		from = startOf(order.Day(random.IntN(1600) - 550))
	}
	if random.IntN(2) == 0 {
		to = startOf(order.Day(random.IntN(1600) - 550))
	}
	states := []order.State{0}
	if random.IntN(2) == 0 {
		states = order.States()[random.IntN(5):][:1+random.IntN(5)]
	}
	var pass []listKey
	for _, one := range orders {
		if (states[0] == 0 || slices.Contains(states, one.state)) && compareKeys(one.key, from) >= 0 && compareKeys(one.key, to) < 0 {
			pass = append(pass, one.key)
		}
	}
	slices.SortFunc(pass, func(a, b listKey) int { return compareKeys(b, a) })
	before := random.Int64N(int64(len(pass)) + 5)
	total, at, skip, found := s.search(states, from, to, before)
	if total != int64(len(pass)) || found != (before < total) {
		t.Fatalf("%d orders, found %v; want %d, place %d", total, found, len(pass), before)
	}
	if !found {
		return
	}
	wantSkip := int64(0)
	wantAt, _ := s.find(pass[before])
	for _, k := range pass[:before] {
		if p, _ := s.find(k); p == wantAt {
			wantSkip++
		}
	}
	if at != wantAt || skip != wantSkip {
		t.Errorf("place %d of %d is %d after the beginning of %v, want %d of %v", before, total, skip, at, wantSkip, wantAt)
	}
}

func TestKeyAfter(t *testing.T) {
	t.Parallel()
	for k, want := range map[listKey]listKey{
		{7, 1}:             {7, 2},
		{7, -1}:            {7, 0},
		{7, math.MaxInt64}: {8, math.MinInt64},
	} {
		if got := k.after(); got != want {
			t.Errorf("after %v: %v, want %v", k, got, want)
		}
	}
}
