package pageindex

import (
	"errors"
	"fmt"
	"slices"

	"merchantorders/internal/order"
)

// SplitRange says which keys of a bucket to read for splitting it: from one end
// of its range, whichever is nearer to the page that is looked for.
type SplitRange struct {
	Low, High Key   // range of the bucket, High excluded
	Ascending bool  // read from the lowest key up; otherwise from the highest down
	Limit     int64 // number of keys to read

	bucketOrders int64 // orders of each new bucket; 0: there are two
	bound        Key   // of two buckets: the lowest key of the upper one
}

// OrderState is one order of a bucket to be split.
type OrderState struct {
	Key   Key
	State order.State
}

// Keys are the orders of a SplitRange, in the order that it asks for, as of a
// data version.
type Keys struct {
	Orders  []OrderState
	Version order.DataVersion
}

// splitFor returns what to split before a page is read that skips offset orders
// of a bucket; nil if these are few.
func (x *Index) splitFor(at location, states []order.State, offset int64) *SplitRange {
	size := max(x.sizes.BucketOrders, x.buckets.totals[anyState]/x.sizes.MaxBuckets)
	if offset <= 2*size {
		return nil
	}
	b := x.buckets.at(at)
	all, matching := int64(b.counts[anyState]), b.counts.of(states)
	r := &SplitRange{Low: b.low, High: x.buckets.dayBound(at), Ascending: offset > matching/2, bucketOrders: size}
	distance := offset
	if r.Ascending {
		distance = matching - offset
	}
	// This assumes that the states are spread evenly. If they are not, the next
	// Locate asks for another split.
	r.Limit = min(max(distance*all/matching+2*size, x.sizes.MinKeys), x.sizes.MaxKeys)
	return r
}

// splitAt returns the split that makes a bucket begin with a key; nil if no order
// is in a bucket that begins below the key and ends above it.
func (x *Index) splitAt(k Key) *SplitRange {
	at, ok := x.buckets.find(k)
	if !ok {
		return nil
	}
	b, high := x.buckets.at(at), x.buckets.dayBound(at)
	if b.low == k || high.Compare(k) <= 0 || b.counts[anyState] == 0 {
		return nil
	}
	return &SplitRange{Low: b.low, High: high, Limit: x.sizes.MaxKeys, bound: k}
}

// Split replaces a bucket by smaller ones. It reports false if the index does not
// have the version of the keys, or not the bucket. An error means that the keys do
// not match the counts.
func (x *Index) Split(r SplitRange, keys Keys) (bool, error) {
	at, ok := x.buckets.find(r.Low)
	if !ok || x.version != keys.Version || x.buckets.at(at).low != r.Low || x.buckets.dayBound(at) != r.High {
		return false, nil
	}
	parts, err := r.parts(keys.Orders, x.buckets.at(at).counts)
	if err != nil {
		return false, err
	}
	x.buckets.replace(at, parts)
	x.extraBuckets += len(parts) - 1
	// Recent deltas may lack keys: before the first split nothing needs them.
	x.recent, x.base = nil, x.version
	return true, nil
}

// parts returns the buckets for the orders that were read, and one for the rest:
// it has what the whole bucket has beyond the others.
func (r SplitRange) parts(orders []OrderState, rest stateCounts) ([]bucket, error) {
	if len(orders) == 0 {
		return nil, fmt.Errorf("%w: none of its keys was found", errMismatch(r))
	}
	if r.bucketOrders == 0 {
		return r.halves(orders, rest)
	}
	if !r.Ascending {
		orders = slices.Clone(orders)
		slices.Reverse(orders)
	}
	var parts []bucket
	for i, o := range orders {
		if !o.State.Valid() {
			return nil, fmt.Errorf("order %d: unknown state %d", o.Key.LegacyID, o.State)
		}
		if int64(i)%r.bucketOrders == 0 {
			parts = append(parts, bucket{low: o.Key})
		}
		parts[len(parts)-1].counts.add(o.State, 1)
		rest.add(o.State, -1)
	}
	// Orders can be left only if the limit ended the reading before the end of the
	// range. Otherwise the range of the rest would be empty, and two buckets would
	// have the same lowest key.
	next := orders[len(orders)-1].Key.next()
	all := int64(len(orders)) < r.Limit || r.Ascending && next == r.High || !r.Ascending && orders[0].Key == r.Low
	for state, n := range rest {
		if n < 0 || n > 0 && all {
			return nil, fmt.Errorf("%w: state %d has %d more than were read", errMismatch(r), state, n)
		}
	}
	switch {
	case rest[anyState] == 0:
		parts[0].low = r.Low
	case r.Ascending:
		parts[0].low = r.Low
		parts = append(parts, bucket{next, rest})
	default:
		parts = slices.Insert(parts, 0, bucket{r.Low, rest})
	}
	return parts, nil
}

// halves is parts for a split of splitAt. If the limit ended the reading above the bound,
// the upper half begins with the last key that was read, and another split follows.
func (r SplitRange) halves(orders []OrderState, lower stateCounts) ([]bucket, error) {
	upper := bucket{low: r.bound}
	above := slices.IndexFunc(orders, func(o OrderState) bool { return o.Key.Compare(r.bound) < 0 })
	if above < 0 {
		if above = len(orders); int64(above) == r.Limit {
			upper.low = orders[above-1].Key
		}
	}
	for _, o := range orders[:above] {
		if !o.State.Valid() {
			return nil, fmt.Errorf("order %d: unknown state %d", o.Key.LegacyID, o.State)
		}
		upper.counts.add(o.State, 1)
		lower.add(o.State, -1)
	}
	for state, n := range lower {
		if n < 0 {
			return nil, fmt.Errorf("%w: state %d has %d less than were read", errMismatch(r), state, -n)
		}
	}
	return []bucket{{r.Low, lower}, upper}, nil
}

// ErrMismatch says that the day counts do not match the orders.
var ErrMismatch = errors.New("day counts do not match the orders")

func errMismatch(r SplitRange) error {
	return fmt.Errorf("%w of %s (order keys %d/%d to %d/%d)", ErrMismatch, r.Low.day(),
		r.Low.CreatedAt, r.Low.LegacyID, r.High.CreatedAt, r.High.LegacyID)
}
