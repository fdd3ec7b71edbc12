package order

import (
	"errors"
	"time"
)

// Page sizes of a list, in both versions (decision 3).
const (
	DefaultPageSize = 10
	MaxPageSize     = 100
)

// ErrInvalidRange says that a filter's range of days ends before it begins.
var ErrInvalidRange = errors.New("the range ends before it begins")

// Filter says which orders a list shows. Orders come newest first: by creation
// time, then by number, both descending.
type Filter struct {
	AnyState bool    // true: States is not looked at
	States   []State // none at all (and not AnyState): no order is asked for

	From Day // first day, inclusive; NoDay: from the beginning
	To   Day // last day, inclusive; NoDay: no end

	Page     int64 // from 1
	PageSize int64 // 1 to MaxPageSize

	// After is where the page before ended: the page begins with the next order,
	// whatever has come in meanwhile, and Page is not looked at. nil: the page
	// with that number.
	After *Cursor
}

// Cursor is the place of an order in lists. It never changes.
type Cursor struct {
	CreatedAt time.Time
	LegacyID  int64
}

// NewFilter returns the filter of a list asked for without parameters.
func NewFilter() Filter {
	return Filter{AnyState: true, From: NoDay, To: NoDay, Page: 1, PageSize: DefaultPageSize}
}

// Normalize lowers Size to the maximum and returns ErrInvalidRange for a reversed range.
func (f *Filter) Normalize() error {
	f.PageSize = min(f.PageSize, MaxPageSize)
	if f.From != NoDay && f.To != NoDay && f.From > f.To {
		return ErrInvalidRange
	}
	return nil
}

// EffectiveRange returns the range that `params` of a list reports as in force: with an
// open end, from 1970-01-01, or the last day where that is earlier, and to the
// end of the current day of UTC, or of the first day where that is later
// (decision 3).
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

// Page is one page of a list.
type Page struct {
	Orders []Summary // empty past the end
	Total  int64     // exact count of the orders that the filter lets through
	// Next is the After of the next page, nil where there is none.
	Next *Cursor
}
