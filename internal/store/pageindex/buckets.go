package pageindex

import (
	"slices"

	"merchantorders/internal/order"
)

// anyState is the index of the sum of all states in counts by state. It is the
// zero State, which no order has.
const anyState order.State = 0

// stateCounts is a number of orders for each state, and at anyState their sum.
type stateCounts [order.NumStates]int32

// add adds n orders, or removes -n, of a state.
func (c *stateCounts) add(state order.State, n int32) {
	c[state] += n
	c[anyState] += n
}

// addAll adds the counts of other.
func (c *stateCounts) addAll(other *stateCounts) {
	for state, n := range other {
		c[state] += n
	}
}

// of returns how many orders are in any of the given states.
func (c *stateCounts) of(states []order.State) int64 {
	n := int64(0)
	for _, state := range states {
		n += int64(c[state])
	}
	return n
}

// bucket counts the orders from its lowest key up to that of the next bucket.
// All of them were created on one day. The first bucket of a day begins with
// the day, whether or not an order has that key.
type bucket struct {
	low    Key
	counts stateCounts
}

// chunkSize is how many buckets a new chunk has. A chunk with more than twice
// as many is divided.
const chunkSize = 64

// chunk is a run of consecutive buckets, at least one, with the sum of their
// counts. A search skips a chunk by its sum.
type chunk struct {
	low     Key // of the first bucket
	counts  stateCounts
	buckets []bucket
}

// bucketList has all buckets of a merchant, the lowest key first.
type bucketList struct {
	chunks []chunk
	length int                    // number of buckets
	totals [order.NumStates]int64 // counts of all buckets, as in stateCounts
}

// location is that of a bucket in a bucketList.
type location struct{ chunk, bucket int }

// newBucketList returns a list of buckets, which are in the order of their keys.
func newBucketList(buckets []bucket) bucketList {
	l := bucketList{length: len(buckets)}
	l.rechunk(0, 0, buckets)
	for i := range l.chunks {
		for state, n := range l.chunks[i].counts {
			l.totals[state] += int64(n)
		}
	}
	return l
}

// rechunk replaces the chunks i to j, j excluded, by new ones for some buckets.
func (l *bucketList) rechunk(i, j int, buckets []bucket) {
	var chunks []chunk
	for part := range slices.Chunk(buckets, chunkSize) {
		chunks = append(chunks, chunk{part[0].low, sum(part), slices.Clone(part)})
	}
	l.chunks = slices.Replace(l.chunks, i, j, chunks...)
}

// sum returns the counts of some buckets together.
func sum(buckets []bucket) stateCounts {
	var counts stateCounts
	for i := range buckets {
		counts.addAll(&buckets[i].counts)
	}
	return counts
}

func (l *bucketList) at(at location) *bucket { return &l.chunks[at.chunk].buckets[at.bucket] }

// end returns the location after the last bucket. There must be one.
func (l *bucketList) end() location {
	last := len(l.chunks) - 1
	return location{last, len(l.chunks[last].buckets)}
}

// find returns the bucket that a key belongs to. It reports false if the key is
// below all buckets.
func (l *bucketList) find(k Key) (location, bool) {
	i, exact := slices.BinarySearchFunc(l.chunks, k, func(c chunk, k Key) int { return c.low.Compare(k) })
	if !exact {
		i--
	}
	if i < 0 {
		return location{}, false
	}
	j, exact := searchBuckets(l.chunks[i].buckets, k)
	if !exact {
		j--
	}
	return location{i, j}, true
}

// searchBuckets returns the index of the first bucket whose lowest key is k or
// above, and whether it is k.
func searchBuckets(buckets []bucket, k Key) (int, bool) {
	return slices.BinarySearchFunc(buckets, k, func(b bucket, k Key) int { return b.low.Compare(k) })
}

// lowerBound returns the first bucket whose lowest key is k or above. The
// location may be the one after the last bucket of a chunk.
func (l *bucketList) lowerBound(k Key) location {
	at, ok := l.find(k)
	if ok && l.at(at).low != k {
		at.bucket++
	}
	return at
}

// upperBound returns the lowest key of the next bucket, or maxKey after the
// last one. All orders of the bucket are below it.
func (l *bucketList) upperBound(at location) Key {
	if at.bucket+1 < len(l.chunks[at.chunk].buckets) {
		return l.chunks[at.chunk].buckets[at.bucket+1].low
	}
	if at.chunk+1 < len(l.chunks) {
		return l.chunks[at.chunk+1].low
	}
	return maxKey
}

// dayBound is upperBound, or the start of the next day where that is lower.
func (l *bucketList) dayBound(at location) Key {
	bound, nextDay := l.upperBound(at), StartOfDay(l.at(at).low.day()+1)
	if bound.Compare(nextDay) < 0 {
		return bound
	}
	return nextDay
}

// add adds n orders, or removes -n, that have a state and a key.
func (l *bucketList) add(k Key, state order.State, n int32) {
	start := StartOfDay(k.day())
	at, ok := l.find(k)
	if !ok || l.at(at).low.Compare(start) < 0 {
		at = l.insert(start)
	}
	l.at(at).counts.add(state, n)
	l.chunks[at.chunk].counts.add(state, n)
	l.totals[state] += int64(n)
	l.totals[anyState] += int64(n)
}

// insert adds an empty bucket. There must be none with the same lowest key.
func (l *bucketList) insert(low Key) location {
	at, ok := l.find(low)
	switch {
	case len(l.chunks) == 0:
		*l = newBucketList([]bucket{{low: low}})
	case !ok:
		l.replace(at, []bucket{{low: low}, *l.at(at)})
	default:
		l.replace(at, []bucket{*l.at(at), {low: low}})
	}
	at, _ = l.find(low)
	return at
}

// replace replaces a bucket by several that have the same orders.
func (l *bucketList) replace(at location, buckets []bucket) {
	c := &l.chunks[at.chunk]
	c.buckets = slices.Replace(c.buckets, at.bucket, at.bucket+1, buckets...)
	c.low = c.buckets[0].low
	l.length += len(buckets) - 1
	if len(c.buckets) > 2*chunkSize {
		l.rechunk(at.chunk, at.chunk+1, c.buckets)
	}
}

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
// before it. No bucket may have orders on both sides of low or high.
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
