package pageindex

import "merchantorders/internal/order"

// searchResult is what a search of a bucketList has found.
type searchResult struct {
	total int64 // matching orders
	// The order with the rank searched for. found is false if total is not above
	// that rank.
	found  bool
	at     location // its bucket
	offset int64    // matching orders of the bucket before it
}

// search goes through the orders that are in some states and have keys from low
// up to high, the highest key first, and finds the one that has rank orders
// before it. low and high must be bounds of days, so that no bucket lies on
// both sides of one.
func (l *bucketList) search(states []order.State, low, high Key, rank int64) searchResult {
	if len(l.chunks) == 0 {
		return searchResult{}
	}
	begin, end := l.lowerBound(low), l.lowerBound(high)
	whole := begin == location{} && end == l.end()
	var result searchResult
	// The total of the whole list is known: stop as soon as the order is found.
	for i := end.chunk; i >= begin.chunk && !(whole && result.found); i-- {
		c := &l.chunks[i]
		first, last := 0, len(c.buckets)
		if i == begin.chunk {
			first = begin.bucket
		}
		if i == end.chunk {
			last = end.bucket
		}
		if n := c.counts.of(states); first == 0 && last == len(c.buckets) && (result.found || result.total+n <= rank) {
			result.total += n
			continue
		}
		for j := last - 1; j >= first; j-- {
			n := c.buckets[j].counts.of(states)
			if !result.found && rank < result.total+n {
				result.found, result.at, result.offset = true, location{i, j}, rank-result.total
			}
			result.total += n
		}
	}
	if whole {
		result.total = l.total(states)
	}
	return result
}

// total returns how many orders of all buckets are in any of the given states.
func (l *bucketList) total(states []order.State) int64 {
	n := int64(0)
	for _, state := range states {
		n += l.totals[state]
	}
	return n
}
