package store

import (
	"cmp"
	"math"
	"slices"

	"merchantorders/internal/order"
)

// listKey is where an order stands in its merchant's lists, which run from the
// highest key down.
type listKey struct {
	at     int64 // seconds since 1970-01-01 at which the order was created
	number int64
}

// The keys that are below and above all orders.
var (
	lowestKey  = listKey{math.MinInt64, math.MinInt64}
	highestKey = listKey{math.MaxInt64, math.MaxInt64}
)

func compareKeys(a, b listKey) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.number, b.number))
}

// startOf is the lowest key of a day.
func startOf(day order.Day) listKey { return listKey{day.Start().Unix(), math.MinInt64} }

// after is the lowest key above k.
func (k listKey) after() listKey {
	if k.number == math.MaxInt64 {
		return listKey{k.at + 1, math.MinInt64}
	}
	return listKey{k.at, k.number + 1}
}

// tally is a number of orders by state; index 0, which is no state, has the
// sum.
type tally [order.NumStates]int32

// count counts orders of a state in.
func (t *tally) count(state order.State, orders int32) {
	t[state] += orders
	t[0] += orders
}

// of returns how many orders there are in states, of which 0 is any.
func (t *tally) of(states []order.State) int64 {
	n := int64(0)
	for _, state := range states {
		n += int64(t[state])
	}
	return n
}

// span is a stretch of a merchant's orders: those from its lowest key up to
// that of the next span, within one day. The first span of a day begins with
// the day.
type span struct {
	low    listKey
	orders tally
}

// sumOf adds up what spans count.
func sumOf(some []span) tally {
	var sum tally
	for i := range some {
		for state, n := range some[i].orders {
			sum[state] += n
		}
	}
	return sum
}

// groupSize is how many spans a group has when it is made. It is divided when
// it has more than twice as many.
const groupSize = 64

// group is consecutive spans, at least one.
type group struct {
	low   listKey // of the first span
	spans []span
}

// spans are all orders of a merchant, the lowest key first. Their groups make
// it a matter of a microsecond to find a page among tens of thousands of them.
type spans struct {
	groups []group
	// sums are those of the groups, for each state by itself: most searches ask
	// for one, and find hundreds of groups in a few lines of the processor's
	// cache.
	sums   [order.NumStates][]int32
	length int                    // spans in all
	orders [order.NumStates]int64 // of all spans, as in a tally
}

// position is that of a span.
type position struct{ group, span int }

// newSpans takes spans in their order over.
func newSpans(all []span) spans {
	s := spans{length: len(all)}
	s.regroup(0, 0, all)
	for state, sums := range s.sums {
		for _, n := range sums {
			s.orders[state] += int64(n)
		}
	}
	return s
}

// regroup puts new groups of spans in the place of those from one to another.
func (s *spans) regroup(from, to int, all []span) {
	var groups []group
	var sums [order.NumStates][]int32
	for some := range slices.Chunk(all, groupSize) {
		groups = append(groups, group{some[0].low, slices.Clone(some)})
		for state, n := range sumOf(some) {
			sums[state] = append(sums[state], n)
		}
	}
	s.groups = slices.Replace(s.groups, from, to, groups...)
	for state := range s.sums {
		s.sums[state] = slices.Replace(s.sums[state], from, to, sums[state]...)
	}
}

func (s *spans) at(p position) *span { return &s.groups[p.group].spans[p.span] }

// find returns the span in which a key falls; false when it is below them all.
func (s *spans) find(k listKey) (position, bool) {
	g, exact := slices.BinarySearchFunc(s.groups, k, func(g group, k listKey) int { return compareKeys(g.low, k) })
	if !exact {
		g--
	}
	if g < 0 {
		return position{}, false
	}
	i, exact := searchSpans(s.groups[g].spans, k)
	if !exact {
		i--
	}
	return position{g, i}, true
}

// searchSpans returns the first span that begins at a key or above, and whether
// it begins there.
func searchSpans(some []span, k listKey) (int, bool) {
	return slices.BinarySearchFunc(some, k, func(one span, k listKey) int { return compareKeys(one.low, k) })
}

// from returns the first span that begins at a key or above; it may be one
// after the last of a group, or of all.
func (s *spans) from(k listKey) position {
	p, ok := s.find(k)
	if ok && s.at(p).low != k {
		p.span++
	}
	return p
}

// above returns the lowest key of the span after one; highestKey after the
// last.
func (s *spans) above(p position) listKey {
	if p.span+1 < len(s.groups[p.group].spans) {
		return s.groups[p.group].spans[p.span+1].low
	}
	if p.group+1 < len(s.groups) {
		return s.groups[p.group+1].low
	}
	return highestKey
}

// count counts orders of a state in that are created on a day, at a key.
func (s *spans) count(day order.Day, k listKey, state order.State, orders int32) {
	low := startOf(day)
	p, ok := s.find(k)
	if !ok || compareKeys(s.at(p).low, low) < 0 {
		p = s.insert(low)
	}
	s.at(p).orders.count(state, orders)
	s.sums[state][p.group] += orders
	s.sums[0][p.group] += orders
	s.orders[state] += int64(orders)
	s.orders[0] += int64(orders)
}

// insert makes a span without orders where none begins yet.
func (s *spans) insert(low listKey) position {
	p, ok := s.find(low)
	switch {
	case len(s.groups) == 0:
		*s = newSpans([]span{{low: low}})
	case !ok:
		s.replace(position{0, 0}, []span{{low: low}, *s.at(position{0, 0})})
	default:
		s.replace(p, []span{*s.at(p), {low: low}})
	}
	p, _ = s.find(low)
	return p
}

// replace puts pieces, which hold the same orders, in the place of a span.
func (s *spans) replace(p position, pieces []span) {
	g := &s.groups[p.group]
	g.spans = slices.Replace(g.spans, p.span, p.span+1, pieces...)
	g.low = g.spans[0].low
	s.length += len(pieces) - 1
	if len(g.spans) > 2*groupSize {
		s.regroup(p.group, p.group+1, g.spans)
	}
}

// search goes through the orders of some states between two keys, which are
// those of days, from the highest key down. It returns how many there are, in
// which span the order is that comes after as many as before, and how many of
// that span come before it. Without such an order found is false.
func (s *spans) search(states []order.State, from, to listKey, before int64) (total int64, p position, skip int64, found bool) {
	if len(s.groups) == 0 {
		return 0, position{}, 0, false
	}
	begin, end := s.from(from), s.from(to)
	last := len(s.groups) - 1
	all := begin == position{} && end == position{last, len(s.groups[last].spans)}
	for g := end.group; g >= begin.group && !(all && found); g-- {
		if g > begin.group && (g < end.group || all) {
			n := int64(0)
			for _, state := range states {
				n += int64(s.sums[state][g])
			}
			if found || total+n <= before {
				total += n
				continue
			}
		}
		some, first := s.groups[g].spans, 0
		if g == end.group {
			some = some[:end.span]
		}
		if g == begin.group {
			first = begin.span
		}
		for i := len(some) - 1; i >= first; i-- {
			n := some[i].orders.of(states)
			if !found && before < total+n {
				p, skip, found = position{g, i}, before-total, true
			}
			total += n
		}
	}
	if all {
		// Known without going through the rest.
		total = 0
		for _, state := range states {
			total += s.orders[state]
		}
	}
	return total, p, skip, found
}
