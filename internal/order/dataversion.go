package order

import "strconv"

// DataVersion identifies the content of one merchant's data: two equal versions
// have equal content. Authentication returns it with the identity; the response
// cache, list tags and the page index use it to validate what they hold.
//
// The zero DataVersion is that of a merchant without events.
type DataVersion struct {
	// Event is the number of the merchant's newest event.
	Event int64
	// Mark is a random number written with that event. Event numbers may be
	// given out a second time, after a failover that lost commits or after a
	// restore; Mark then differs.
	Mark int64
}

// String returns the version in a form that fits into an entity tag.
func (v DataVersion) String() string {
	if v.Mark == 0 {
		return strconv.FormatInt(v.Event, 10)
	}
	return strconv.FormatInt(v.Event, 10) + "-" + strconv.FormatUint(uint64(v.Mark), 36)
}
