package order

import (
	"context"
	"time"
	"unicode/utf8"
)

// SearchSort is the order of the results of a search.
type SearchSort uint8

// The orders of results.
const (
	SortCreated SearchSort = iota // newest first
	SortUpdated                   // last changed first; orders that never changed are left out
	SortExpires                   // earliest deadline first; registered orders with a deadline only
)

// Page sizes of a search.
const (
	DefaultSearchLimit = 20
	MaxSearchLimit     = 100
)

// MaxCounted is how many orders Search.Count counts at most.
const MaxCounted = 50

// MaxSearchText is the longest text of a search, in bytes.
const MaxSearchText = 200

// Search selects orders of all merchants, or of one, for operators. An order is found
// if it meets every condition. Texts match the beginnings of words, without regard to
// case and accents.
type Search struct {
	MerchantID int64 // 0: all merchants
	LegacyID   int64 // 0: any

	Reference string // beginning or end of the reference; empty: any, as for the other texts
	Email     string // beginning of the customer's address
	Phone     string // beginning of the customer's number, with or without the country code
	Name      string // beginnings of words of first name, last name and company
	Text      string // words of which each begins any of the above or a code of Order.Codes, or is the legacy id
	// MerchantData makes Text also match MerchantData. It is set for the merchant
	// MerchantID only.
	MerchantData bool

	States []State        // empty: any
	From   Day            // first day of creation, inclusive; NoDay: no lower bound
	To     Day            // last day of creation, inclusive; NoDay: no upper bound
	Zone   *time.Location // of the days; nil: UTC
	// ExpiresBefore selects registered orders whose deadline is earlier; zero: any.
	ExpiresBefore time.Time

	Sort  SearchSort // SortCreated if there is a text
	Limit int        // 1 to MaxSearchLimit
	Count bool       // whether SearchPage.Found is wanted; of a first page only
	// After is the last result of the previous page; nil: this is the first page.
	After *SearchCursor
}

// SearchCursor is the position of an order in the results of a search.
type SearchCursor struct {
	At       int64 // Unix seconds of the time by which the results are sorted
	LegacyID int64
}

// Bounds is Filter.Bounds for a search.
func (s *Search) Bounds() (from, until int64) { return bounds(s.From, s.To, s.Zone) }

// HasText reports whether the search has a text.
func (s *Search) HasText() bool {
	return s.Reference != "" || s.Email != "" || s.Phone != "" || s.Name != "" || s.Text != ""
}

// FoundOrder is a result of a search.
type FoundOrder struct {
	Summary
	MerchantID int64
	ExpiresAt  time.Time // zero: none
	Invoices   int       // active files

	Codes          []string // see Order.Codes
	InvoiceNumbers string
	MerchantData   MerchantData
}

// Codes returns the codes of the items and the parcels, by which people search for an
// order.
func (o *Order) Codes() []string {
	codes := []string{o.Carrier.TrackingCodes}
	for _, item := range o.LineItems {
		codes = append(codes, item.SKU, item.MerchantSKU, item.MerchantEAN)
		if item.EAN != nil {
			codes = append(codes, *item.EAN)
		}
	}
	return codes
}

// SearchPage is a page of the results of a search.
//
// A page costs the same however many orders there are: it ends early, even empty, if
// too many orders had to be read for it. Next is set then.
type SearchPage struct {
	Orders []FoundOrder
	Next   *SearchCursor // nil: there are no more results
	// Found is how many orders the search finds, if that was wanted. Unless it is Exact,
	// there may be more: they are more than MaxCounted, or were too many to read.
	Found int
	Exact bool
}

// Search returns a page of results. Errors: ErrInvalidRange, ErrInvalidSearch.
func (s *Service) Search(ctx context.Context, search Search) (SearchPage, error) {
	if search.From != NoDay && search.To != NoDay && search.From > search.To {
		return SearchPage{}, ErrInvalidRange
	}
	if search.HasText() && search.Sort != SortCreated {
		return SearchPage{}, ErrInvalidSearch
	}
	for _, text := range []string{search.Reference, search.Email, search.Phone, search.Name, search.Text} {
		if len(text) > MaxSearchText || !utf8.ValidString(text) {
			return SearchPage{}, ErrInvalidSearch
		}
	}
	search.Limit = min(max(search.Limit, 1), MaxSearchLimit)
	return s.store.Search(ctx, search)
}
