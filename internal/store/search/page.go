// Package search finds the orders of all merchants for operators: it writes the words of
// orders, chooses where the keys of results come from, and reads a page of them. It does
// not know how orders are stored, except for the indexes of their keys.
package search

import (
	"context"
	"math"
	"slices"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// Bounds of what a page of a search costs, whatever the database holds.
const (
	// maxRows is how many orders are read, and maxKeys how many keys of
	// orders from an index of orders.
	maxRows = 400
	maxKeys = 4000
)

// ReadLimit is how many orders a statement reads: a page, and the order after it.
const ReadLimit = order.DefaultSearchLimit + 1

// wordLimits bound how many words a page of a search reads.
type wordLimits struct {
	// words limits those of the page, without what must be read in smaller parts again.
	words int
	// termWords is how many words that begin with a term's prefixes are read of one
	// period. A term with more is common. rangeWords is the same
	// for several periods, and for a slice of one.
	termWords, rangeWords int
	// texts is how many different texts with one prefix a slice may have. Names have few,
	// addresses and phone numbers one for each customer.
	texts int
}

var defaultWordLimits = wordLimits{words: 4000, termWords: 1500, rangeWords: 500, texts: 128}

// Orders are the orders that a search finds.
type Orders interface {
	// Key returns the key of the order with a legacy id by its creation; false if there
	// is none.
	Key(ctx context.Context, legacyID int64) (Key, bool, error)
	// Read returns the orders with certain keys in the same order; nil for one that does
	// not exist.
	Read(ctx context.Context, keys []Key) ([]*order.FoundOrder, error)
}

// reader reads a page of a search.
type reader struct {
	order.Search
	q       sqldb.Querier
	dialect *sqldb.Dialect
	orders  Orders
	limits  wordLimits
	terms   []term
	from    int64 // Search.Bounds
	until   int64
	keys    keySource
	walk    *wordWalk // is keys, or nil

	reached Key  // every result up to it was found
	ended   bool // no keys are left
	stopped bool // keys are left, but enough words were read

	read, examined, words int // orders, keys and words read
}

// Page reads a page of a search: the keys of orders that may match, from the words of
// orders or from one or several indexes, in the order of the results, and then those
// orders. The statements cover all merchants, because operators do.
func Page(ctx context.Context, q sqldb.Querier, dialect *sqldb.Dialect, orders Orders, request order.Search) (order.SearchPage, error) {
	return newReader(q, dialect, orders, request).run(ctx)
}

func newReader(q sqldb.Querier, dialect *sqldb.Dialect, orders Orders, request order.Search) *reader {
	from, until := request.Bounds()
	return &reader{
		Search: request, from: from, until: until, q: q, dialect: dialect, orders: orders, limits: defaultWordLimits,
		terms: termsOf(&request),
	}
}

// run returns the page.
func (r *reader) run(ctx context.Context) (order.SearchPage, error) {
	if !r.ExpiresBefore.IsZero() || r.Sort == order.SortExpires {
		if len(r.States) > 0 && !slices.Contains(r.States, order.Registered) {
			return order.SearchPage{Exact: true}, nil
		}
		r.States = []order.State{order.Registered}
	}
	if err := r.plan(ctx); err != nil {
		return order.SearchPage{}, err
	}
	return r.page(ctx)
}

// page reads orders until the page is full, nothing is left, or too much was read.
func (r *reader) page(ctx context.Context) (order.SearchPage, error) {
	var page order.SearchPage
	most := r.Limit
	if r.Count && r.After == nil {
		most = max(most, order.MaxCounted)
	}
	for !r.ended && !r.stopped && r.read < maxRows && r.examined < maxKeys {
		batch, err := r.nextKeys(ctx, min(max(ReadLimit, most+1-page.Found), maxRows-r.read))
		if err != nil {
			return page, err
		}
		if len(batch) == 0 {
			continue
		}
		r.read += len(batch)
		found, err := r.orders.Read(ctx, batch)
		if err != nil {
			return page, err
		}
		for i, key := range batch {
			if found[i] == nil || !r.matches(found[i]) {
				continue
			}
			if page.Found == most {
				return page, nil
			}
			if page.Found++; page.Found > r.Limit {
				continue
			}
			page.Orders = append(page.Orders, *found[i])
			page.Next = &order.SearchCursor{At: key.At, LegacyID: key.LegacyID}
		}
	}
	page.Exact = r.ended
	switch {
	case page.Found > r.Limit: // more than the page were counted
	case r.ended:
		page.Next = nil
	default:
		page.Next = &order.SearchCursor{At: r.reached.At, LegacyID: r.reached.LegacyID}
	}
	return page, nil
}

// nextKeys returns the keys of the next orders to read, as many as wanted if there are.
func (r *reader) nextKeys(ctx context.Context, want int) ([]Key, error) {
	var batch []Key
	for len(batch) < want && r.examined < maxKeys {
		key, ok, err := r.keys.next(ctx)
		switch {
		case err != nil:
			return nil, err
		case !ok && r.walk != nil && !r.walk.ended:
			// The words are too many, and so are the orders that have them; or the
			// merchant has few of these orders, and perhaps few at all.
			if r.reached = r.walk.after; r.walk.common || r.MerchantID != 0 {
				r.scanAfter(r.reached)
				continue
			}
			r.stopped = true
			return batch, nil
		case !ok, r.Sort == order.SortCreated && key.At < r.from:
			r.ended = true
			return batch, nil
		}
		r.examined++
		r.reached = key
		if r.MerchantID == 0 || key.MerchantID == r.MerchantID {
			batch = append(batch, key)
		}
	}
	return batch, nil
}

// matches reports whether an order meets every condition. The keys need not have met
// any of them.
func (r *reader) matches(o *order.FoundOrder) bool {
	switch {
	case r.MerchantID != 0 && o.MerchantID != r.MerchantID,
		r.LegacyID != 0 && o.LegacyID != r.LegacyID,
		len(r.States) > 0 && !slices.Contains(r.States, o.State),
		o.CreatedAt.Unix() < r.from, o.CreatedAt.Unix() >= r.until:
		return false
	case !r.ExpiresBefore.IsZero() && (o.ExpiresAt.IsZero() || !o.ExpiresAt.Before(r.ExpiresBefore)):
		return false
	}
	return len(r.terms) == 0 || matchesAll(r.terms, o.LegacyID, textsOf(o.Reference, &o.Customer, o.Codes, &o.MerchantData, o.InvoiceNumbers))
}

// start is the key after which the results begin.
func (r *reader) start() Key {
	key := Key{At: math.MaxInt64, LegacyID: math.MaxInt64}
	if r.Sort == order.SortExpires {
		key = Key{At: math.MinInt64, LegacyID: math.MinInt64}
	}
	if r.Sort == order.SortCreated && r.until != math.MaxInt64 {
		key.At = r.until - 1
	}
	if r.After != nil {
		if after := (Key{At: r.After.At, LegacyID: r.After.LegacyID}); r.compare(after, key) > 0 {
			key = after
		}
	}
	return key
}
