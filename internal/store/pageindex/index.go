package pageindex

import (
	"fmt"
	"slices"

	"merchantorders/internal/order"
)

// Index is the page index of one merchant as of one data version. It is not
// safe for concurrent use; see Shared.
type Index struct {
	sizes   Sizes
	loaded  bool // false: nothing below is set
	version order.DataVersion
	buckets bucketList
	// extraBuckets is how many buckets Split has added to those of the days.
	// While it is 0, keys of deltas need not be more precise than the day.
	extraBuckets int
	// recent has the deltas applied last, the oldest first and without gaps, up
	// to version. LocateAt undoes them.
	recent []Delta
	// base is the version before recent[0].
	base order.DataVersion
}

// maxRecent bounds the deltas that can be undone. More than these do not happen
// while a page is read.
const maxRecent = 32

// NewIndex returns an index that has to be loaded.
func NewIndex(sizes Sizes) *Index { return &Index{sizes: sizes} }

// DayCount is the number of a merchant's orders of one day and state.
type DayCount struct {
	Day    order.Day
	State  order.State
	Orders int32
}

// Delta is what one event changes: an order moves from one state to another.
type Delta struct {
	Version order.DataVersion // of the event
	// Key is that of the order. StartOfDay is enough while the index has no
	// buckets smaller than a day (NeedsKeys).
	Key Key
	// From is 0 for a new order. From and To are 0 for an event that leaves the
	// state as it is.
	From, To order.State
}

// Load replaces the content by the counts of all days, in the order of days, as
// of a version. On an error the index remains as it was.
func (x *Index) Load(days []DayCount, version order.DataVersion) error {
	var buckets []bucket
	for _, d := range days {
		if !d.State.Valid() {
			return fmt.Errorf("day counts: %s: unknown state %d", d.Day, d.State)
		}
		if low := StartOfDay(d.Day); len(buckets) == 0 || buckets[len(buckets)-1].low != low {
			buckets = append(buckets, bucket{low: low})
		}
		buckets[len(buckets)-1].counts.add(d.State, d.Orders)
	}
	*x = Index{sizes: x.sizes, loaded: true, version: version, base: version, buckets: newBucketList(buckets)}
	return nil
}

// Reset drops the content. The index has to be loaded again.
func (x *Index) Reset() { *x = Index{sizes: x.sizes} }

// NeedsKeys reports whether deltas must have the keys of orders.
func (x *Index) NeedsKeys() bool { return x.extraBuckets > 0 }

// Buckets returns the number of buckets.
func (x *Index) Buckets() int { return x.buckets.length }

// Apply brings the index to the version of the next event. It reports false and
// changes nothing if the event is another one than the next.
func (x *Index) Apply(d Delta) bool {
	if !x.loaded || d.Version.Event != x.version.Event+1 {
		return false
	}
	x.change(d, +1)
	x.version = d.Version
	if len(x.recent) == maxRecent {
		x.base = x.recent[0].Version
		x.recent = slices.Delete(x.recent, 0, 1)
	}
	x.recent = append(x.recent, d)
	return true
}

// change counts a delta with n = +1 and undoes it with n = -1.
func (x *Index) change(d Delta, n int32) {
	if d.From.Valid() {
		x.buckets.add(d.Key, d.From, -n)
	}
	if d.To.Valid() {
		x.buckets.add(d.Key, d.To, +n)
	}
}

// canApply reports whether the events from one number to another are few enough to read
// them. Otherwise the day counts are read instead, and splits are lost.
func (x *Index) canApply(from, to int64) bool {
	return to-from <= int64(x.sizes.MaxDeltas+x.extraBuckets)
}

// forgetRecent makes the current version the oldest one that LocateAt knows.
func (x *Index) forgetRecent() { x.recent, x.base = nil, x.version }
