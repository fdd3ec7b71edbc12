package pageindex

import (
	"math"
	"slices"

	"merchantorders/internal/order"
)

// Position says how to read one page: skip Offset of the matching orders below
// UpperBound, then read Limit of them.
type Position struct {
	Version order.DataVersion // as of which the position is right
	Total   int64             // orders that match the filter

	UpperBound Key
	Offset     int64
	// Limit is 0 if no order can be on the page. A page that begins at a cursor
	// reads one order more than it shows, which tells whether there is a next
	// page.
	Limit int64
	// More reports whether orders follow the page. It is not set for a page that
	// begins at a cursor.
	More bool

	// Inexact: the filter begins or ends inside of a bucket, so that nothing but the
	// version is known.
	Inexact bool

	// split is the split that makes Offset small, or the position exact; nil if they are.
	split *SplitRange
}

// SamePage reports whether two positions read the same orders, given the same
// data.
func (p Position) SamePage(other Position) bool {
	return p.UpperBound == other.UpperBound && p.Offset == other.Offset && p.Limit == other.Limit
}

var anyStates = []order.State{anyState}

// Locate returns the position of a page.
func (x *Index) Locate(filter order.Filter) Position {
	states := filter.States
	if filter.AnyState {
		states = anyStates
	}
	// rank is how many orders come before the page. A cursor has no rank, and the
	// product of page and size may not fit 64 bits.
	rank := int64(math.MaxInt64)
	if pages := filter.Page - 1; filter.After == nil && pages <= math.MaxInt64/filter.PageSize {
		rank = pages * filter.PageSize
	}
	low, high := keyRange(filter)
	for _, bound := range []Key{low, high} {
		if split := x.splitAt(bound); split != nil {
			return Position{Version: x.version, Inexact: true, split: split}
		}
	}
	found := x.buckets.search(states, low, high, rank)
	p := Position{Version: x.version, Total: found.total}
	switch {
	case filter.After != nil:
		p.UpperBound = Key{filter.After.CreatedAt.Unix(), filter.After.LegacyID}
		if high.Compare(p.UpperBound) < 0 {
			p.UpperBound = high
		}
		if len(states) > 0 {
			p.Limit = filter.PageSize + 1
		}
	case found.found:
		p.UpperBound, p.Offset = x.buckets.upperBound(found.at), found.offset
		p.Limit = min(filter.PageSize, found.total-rank)
		p.More = rank+p.Limit < found.total
		p.split = x.splitFor(found.at, states, found.offset)
	}
	return p
}

// keyRange returns the range of keys, high excluded, that a filter's days have.
func keyRange(filter order.Filter) (low, high Key) {
	from, until := filter.Bounds()
	low, high = Key{from, math.MinInt64}, Key{until, math.MinInt64}
	if until == math.MaxInt64 {
		high = maxKey
	}
	return low, high
}

// LocateAt returns the position of a page as of an earlier version. It reports
// false if the version is not among the last ones of this index, or if the
// position is not exact.
func (x *Index) LocateAt(filter order.Filter, version order.DataVersion) (Position, bool) {
	if !x.loaded {
		return Position{}, false
	}
	first := 0 // index of the first delta to undo
	if version != x.base {
		i := slices.IndexFunc(x.recent, func(d Delta) bool { return d.Version == version })
		if i < 0 {
			return Position{}, false
		}
		first = i + 1
	}
	undone := x.recent[first:]
	for _, d := range slices.Backward(undone) {
		x.change(d, -1)
	}
	p := x.Locate(filter)
	for _, d := range undone {
		x.change(d, +1)
	}
	p.Version = version
	return p, !p.Inexact
}
