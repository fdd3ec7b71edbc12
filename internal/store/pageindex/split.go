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

	bucketOrders int64 // orders of each new bucket
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

// Split replaces a bucket by smaller ones. since are the deltas, with keys, from
// the version of the keys to that of the index. It reports false if the bucket
// does not exist any more. An error means that the keys do not match the counts.
func (x *Index) Split(r SplitRange, keys Keys, since []Delta) (bool, error) {
	at, ok := x.buckets.find(r.Low)
	if !ok || x.buckets.at(at).low != r.Low || x.buckets.dayBound(at) != r.High {
		return false, nil
	}
	parts, err := newParts(r, keys.Orders)
	if err != nil {
		return false, err
	}
	for _, d := range since {
		parts.apply(d)
	}
	if err := parts.reconcile(x.buckets.at(at).counts); err != nil {
		return false, err
	}
	x.buckets.replace(at, parts.buckets)
	x.extraBuckets += len(parts.buckets) - 1
	// Recent deltas may lack keys: before the first split nothing needs them.
	x.forgetRecent()
	return true, nil
}

// parts are the new buckets of a split.
type parts struct {
	rng     SplitRange
	buckets []bucket
	rest    int // index of the bucket for the orders that were not read; -1: all were
}

func newParts(r SplitRange, orders []OrderState) (*parts, error) {
	if len(orders) == 0 {
		return nil, fmt.Errorf("%w: none of its keys was found", errMismatch(r))
	}
	if !r.Ascending {
		orders = slices.Clone(orders)
		slices.Reverse(orders)
	}
	p := &parts{rng: r, rest: -1}
	// A rest can have orders only if the limit ended the reading before the end
	// of the range. Without this check its range may be empty, and two buckets
	// would have the same lowest key.
	limited := int64(len(orders)) == r.Limit
	afterLast := orders[len(orders)-1].Key.next()
	if limited && !r.Ascending && orders[0].Key != r.Low {
		p.buckets, p.rest = append(p.buckets, bucket{low: r.Low}), 0
	}
	for i, o := range orders {
		if !o.State.Valid() {
			return nil, fmt.Errorf("order %d: unknown state %d", o.Key.LegacyID, o.State)
		}
		if int64(i)%r.bucketOrders == 0 {
			p.buckets = append(p.buckets, bucket{low: o.Key})
		}
		p.buckets[len(p.buckets)-1].counts.add(o.State, 1)
	}
	p.buckets[0].low = r.Low
	if limited && r.Ascending && afterLast != r.High {
		p.rest = len(p.buckets)
		p.buckets = append(p.buckets, bucket{low: afterLast})
	}
	return p, nil
}

// apply counts a delta if its order belongs to the buckets.
func (p *parts) apply(d Delta) {
	if d.Key.Compare(p.rng.Low) < 0 || d.Key.Compare(p.rng.High) >= 0 {
		return
	}
	i, exact := searchBuckets(p.buckets, d.Key)
	if !exact {
		i--
	}
	if d.From.Valid() {
		p.buckets[i].counts.add(d.From, -1)
	}
	if d.To.Valid() {
		p.buckets[i].counts.add(d.To, +1)
	}
}

// reconcile gives the rest what the whole bucket has beyond the other parts.
// Without a rest, the parts must be equal to the whole.
func (p *parts) reconcile(whole stateCounts) error {
	if p.rest >= 0 {
		p.buckets[p.rest].counts = stateCounts{}
	}
	read := sum(p.buckets)
	for state, n := range whole {
		missing := n - read[state]
		if missing < 0 || missing > 0 && p.rest < 0 {
			return fmt.Errorf("%w: %d in state %d instead of %d", errMismatch(p.rng), read[state], state, n)
		}
		if p.rest >= 0 {
			p.buckets[p.rest].counts[state] = missing
		}
	}
	return nil
}

// ErrMismatch says that the day counts do not match the orders.
var ErrMismatch = errors.New("day counts do not match the orders")

func errMismatch(r SplitRange) error {
	return fmt.Errorf("%w of %s (order keys %d/%d to %d/%d)", ErrMismatch, r.Low.day(),
		r.Low.CreatedAt, r.Low.LegacyID, r.High.CreatedAt, r.High.LegacyID)
}
