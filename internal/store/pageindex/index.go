// Package pageindex finds any page of a merchant's order list, and the exact
// total, without counting or skipping rows in the database.
//
// Index counts a merchant's orders by state in buckets: one for each day, or
// many for a day with many orders. From these counts follow the total of any
// filter and the bucket in which a page begins, in a few microseconds. A
// statement then reads the page from that bucket's key on and skips less than
// a bucket.
//
// An Index is right as of one data version. Events bring it to the next one.
// Shared adds the locks that concurrent requests need and reads from a Source
// what is missing. Cache holds the indexes of the merchants in use.
//
// The package has no SQL. README.md shows the data structure.
package pageindex

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"merchantorders/internal/order"
)

// Sizes says how large buckets are and how much is read at once.
type Sizes struct {
	// BucketOrders is how many orders a bucket has after a split. A page whose
	// offset would be more than twice as many causes a split.
	BucketOrders int64
	// MaxBuckets bounds the buckets of a merchant, about: one with more orders
	// than fit into so many gets larger buckets.
	MaxBuckets int64
	// MinKeys and MaxKeys bound how many keys of orders one split reads.
	MinKeys, MaxKeys int64
	// MaxDeltas is how many events an index reads to reach a newer version, and
	// one more for each bucket that a split has added. An index that is further
	// behind is loaded again.
	MaxDeltas int
}

// DefaultSizes are the sizes of the service. Skipping an order costs 0.1 us,
// where reading a page of 10 costs 30 us and more. A bucket takes 64 bytes.
// Reading a key costs 0.4 to 0.8 us. Loading reads a row for each day and
// state, 12,000 for three years.
var DefaultSizes = Sizes{BucketOrders: 32, MaxBuckets: 100_000, MinKeys: 2_000, MaxKeys: 50_000, MaxDeltas: 2_000}

// Key is the sort key of an order in lists, which run from the highest key
// down: the newest order comes first.
type Key struct {
	CreatedAt int64 // Unix seconds
	LegacyID  int64
}

// maxKey is not below the key of any order.
var maxKey = Key{math.MaxInt64, math.MaxInt64}

// StartOfDay returns the lowest key that an order of a day can have.
func StartOfDay(day order.Day) Key { return Key{day.Start().Unix(), math.MinInt64} }

// Compare returns -1 if k is below other, 0 if they are equal and +1 if k is
// above other.
func (k Key) Compare(other Key) int {
	return cmp.Or(cmp.Compare(k.CreatedAt, other.CreatedAt), cmp.Compare(k.LegacyID, other.LegacyID))
}

// next returns the lowest key above k.
func (k Key) next() Key {
	if k.LegacyID == math.MaxInt64 {
		return Key{k.CreatedAt + 1, math.MinInt64}
	}
	return Key{k.CreatedAt, k.LegacyID + 1}
}

// day returns the day on which an order with this key was created.
func (k Key) day() order.Day { return order.DayOf(time.Unix(k.CreatedAt, 0)) }

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
	// buckets smaller than a day.
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

// canApply reports whether the events up to a number are few enough to read them.
// Otherwise the day counts are read instead, and splits are lost.
func (x *Index) canApply(event int64) bool {
	return event-x.version.Event <= int64(x.sizes.MaxDeltas+x.extraBuckets)
}
