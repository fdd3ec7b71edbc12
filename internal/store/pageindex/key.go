package pageindex

import (
	"cmp"
	"math"
	"time"

	"merchantorders/internal/order"
)

// Key is the sort key of an order in lists, which run from the highest key
// down: the newest order comes first.
type Key struct {
	CreatedAt int64 // Unix seconds
	LegacyID  int64
}

// minKey is not above, and maxKey not below, the key of any order.
var (
	minKey = Key{math.MinInt64, math.MinInt64}
	maxKey = Key{math.MaxInt64, math.MaxInt64}
)

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
