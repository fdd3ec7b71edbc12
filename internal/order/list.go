package order

import (
	"context"
	"strconv"
	"time"
)

// Page sizes of a list, in both versions (decision 3).
const (
	DefaultPageSize = 10
	MaxPageSize     = 100
)

// Filter selects a page of a list. Orders are sorted newest first: by creation
// time, then by legacy id, both descending.
type Filter struct {
	AnyState bool    // true: States is ignored
	States   []State // empty, without AnyState: no order matches

	From Day // first day, inclusive; NoDay: no lower bound
	To   Day // last day, inclusive; NoDay: no upper bound
	// Zone is the time zone of the days; nil: UTC, as in the interfaces.
	Zone *time.Location

	Page     int64 // from 1
	PageSize int64 // 1 to MaxPageSize

	// After is the last order of the previous page. The page begins with the
	// order after it, even if orders have arrived since; Page does not position
	// it. nil: the position follows from Page.
	After *Cursor
}

// Cursor is the sort key of an order in lists. It never changes.
type Cursor struct {
	CreatedAt time.Time
	LegacyID  int64
}

// Key returns the position of the order in lists.
func (s Summary) Key() *Cursor { return &Cursor{CreatedAt: s.CreatedAt, LegacyID: s.LegacyID} }

// NewFilter returns the filter of a list request without parameters.
func NewFilter() Filter {
	return Filter{AnyState: true, From: NoDay, To: NoDay, Page: 1, PageSize: DefaultPageSize}
}

// Normalize lowers PageSize to the maximum. It returns ErrInvalidRange if the
// range ends before it begins.
func (f *Filter) Normalize() error {
	f.PageSize = min(f.PageSize, MaxPageSize)
	if f.From != NoDay && f.To != NoDay && f.From > f.To {
		return ErrInvalidRange
	}
	return nil
}

// Bounds returns the times of creation that the filter selects, in Unix seconds: from
// from on, and before until. An open bound is math.MinInt64 or math.MaxInt64.
func (f Filter) Bounds() (from, until int64) { return bounds(f.From, f.To, f.Zone) }

// EffectiveRange returns the date range that `params` of a list reports
// (decision 3). An open start is 1970-01-01, or the last day if that is earlier.
// An open end is the end of the current day in UTC, or of the first day if that
// is later.
func (f Filter) EffectiveRange(now time.Time) (from, to time.Time) {
	first, last := f.From, f.To
	if first == NoDay {
		first = 0
		if last != NoDay {
			first = min(first, last)
		}
	}
	if last == NoDay {
		last = max(DayOf(now), first)
	}
	return first.Start(), last.End()
}

// MaxSummed is how many orders Service.Sums adds up at most: its cost does not grow with the
// number of orders.
const MaxSummed = 5000

// Amount is an amount in minor units of a currency.
type Amount struct {
	Amount   int64
	Currency string
}

// Sums returns the totals of the orders that a filter selects, on all pages, by currency;
// nil if they are more than MaxSummed.
func (s *Service) Sums(ctx context.Context, merchantID int64, filter Filter) ([]Amount, error) {
	return s.store.Sums(ctx, merchantID, filter, MaxSummed)
}

// Page is one page of a list.
type Page struct {
	Orders []Summary // empty past the end
	Total  int64     // exact number of orders that match the filter
	// Next is the value of After for the next page; nil: this is the last page.
	Next *Cursor
	// Version is that of the data that the page shows.
	Version DataVersion
}

// DataVersion identifies the content of one merchant's data: two equal versions
// have equal content. Authentication returns it with the identity; the response
// cache and list tags use it to validate what they hold.
//
// The zero DataVersion is that of a merchant without events.
type DataVersion struct {
	// Event is the number of the merchant's newest event.
	Event int64
	// Nonce is a random number written with that event. Event numbers may be
	// given out a second time, after a failover that lost commits or after a
	// restore; Nonce then differs.
	Nonce int64
}

// String returns the version in a form that fits into an entity tag.
func (v DataVersion) String() string {
	if v.Nonce == 0 {
		return strconv.FormatInt(v.Event, 10)
	}
	return strconv.FormatInt(v.Event, 10) + "-" + strconv.FormatUint(uint64(v.Nonce), 36)
}
