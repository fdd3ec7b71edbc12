package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/store/orderwords"
	"merchantorders/internal/store/sqldb"
)

// Bounds of what a page of a search costs, whatever the database holds.
const (
	// maxSearchRows is how many orders are read, and maxSearchKeys how many keys of
	// orders from an index of orders.
	maxSearchRows = 400
	maxSearchKeys = 4000
	// rowsAtATime is how many orders a statement reads: a page, and the order after it.
	rowsAtATime = order.DefaultSearchLimit + 1
)

// wordLimits bound how many words a page of a search reads.
type wordLimits struct {
	// words limits those of the page, without what must be read in smaller parts again.
	words int
	// termWords is how many words that begin with a term's prefixes are read of one
	// period, or of the staged words. A term with more is common. rangeWords is the same
	// for several periods, and for a slice of one.
	termWords, rangeWords int
	// texts is how many different texts with one prefix a slice may have. Names have few,
	// addresses and phone numbers one for each customer.
	texts int
}

var defaultWordLimits = wordLimits{words: 4000, termWords: 1500, rangeWords: 500, texts: 128}

// search is a search in progress.
type search struct {
	order.Search
	q       sqldb.Querier
	dialect *sqldb.Dialect
	limits  wordLimits
	terms   []orderwords.Term
	sort    searchSort
	keys    keySource
	walk    *wordWalk // is keys, or nil

	reached searchKey // every result up to it was found
	ended   bool      // no keys are left
	stopped bool      // keys are left, but enough words were read

	read, examined, words int // orders, keys and words read
}

// Search implements order.Store. It reads the keys of orders that may match, from the
// words of orders or from one or several indexes, in the order of the results, and then
// those orders. The statements cover all merchants, because operators do.
func (db *DB) Search(ctx context.Context, request order.Search) (order.SearchPage, error) {
	defer db.timed("search")()
	ctx, cancel := withTimeout(ctx, db.dialect.StatementTimeout)
	defer cancel()
	page, err := newSearch(db, request).run(ctx)
	return page, db.readError("search orders", err, nil)
}

func newSearch(db *DB, request order.Search) *search {
	return &search{
		Search: request, q: db.sql, dialect: db.dialect, limits: defaultWordLimits,
		terms: orderwords.Terms(&request), sort: searchSorts[request.Sort],
	}
}

// run returns the page.
func (s *search) run(ctx context.Context) (order.SearchPage, error) {
	if !s.ExpiresBefore.IsZero() || s.Sort == order.SortExpires {
		if len(s.States) > 0 && !slices.Contains(s.States, order.Registered) {
			return order.SearchPage{}, nil
		}
		s.States = []order.State{order.Registered}
	}
	if err := s.plan(ctx); err != nil {
		return order.SearchPage{}, err
	}
	return s.page(ctx)
}

// page reads orders until the page is full, nothing is left, or too much was read.
func (s *search) page(ctx context.Context) (order.SearchPage, error) {
	var page order.SearchPage
	for !s.ended && !s.stopped && s.read < maxSearchRows && s.examined < maxSearchKeys {
		batch, err := s.nextKeys(ctx)
		if err != nil {
			return page, err
		}
		found, err := s.readOrders(ctx, batch)
		if err != nil {
			return page, err
		}
		for i, key := range batch {
			if found[i] == nil || !s.matches(found[i]) {
				continue
			}
			if len(page.Orders) == s.Limit {
				return page, nil
			}
			page.Orders = append(page.Orders, *found[i])
			page.Next = &order.SearchCursor{At: key.at, LegacyID: key.legacyID}
		}
	}
	page.Next = nil
	if !s.ended {
		page.Next = &order.SearchCursor{At: s.reached.at, LegacyID: s.reached.legacyID}
	}
	return page, nil
}

// nextKeys returns the keys of the next orders to read.
func (s *search) nextKeys(ctx context.Context) ([]searchKey, error) {
	var batch []searchKey
	for len(batch) < rowsAtATime && s.examined < maxSearchKeys {
		key, ok, err := s.keys.next(ctx)
		switch {
		case err != nil:
			return nil, err
		case !ok && s.walk != nil && !s.walk.ended:
			// The words are too many, and so are the orders that have them; or the
			// merchant has few of these orders, and perhaps few at all.
			if s.reached = s.walk.after; s.walk.common || s.MerchantID != 0 {
				s.scanAfter(s.reached)
				continue
			}
			s.stopped = true
			return batch, nil
		case !ok, s.Sort == order.SortCreated && s.From != order.NoDay && key.at < s.From.Start().Unix():
			s.ended = true
			return batch, nil
		}
		s.examined++
		s.reached = key
		if s.MerchantID == 0 || key.merchantID == s.MerchantID {
			batch = append(batch, key)
		}
	}
	return batch, nil
}

const foundColumns = summaryColumns + `, o.merchant_id, o.expires_at, CASE WHEN o.active_invoices = 0 THEN 0 ELSE
	(SELECT COUNT(*) FROM invoices i WHERE i.merchant_id = o.merchant_id AND i.legacy_id = o.legacy_id AND i.status = ` + InvoiceActive + `) END`

var selectFound = func() string {
	conditions := make([]string, rowsAtATime)
	for i := range conditions {
		conditions[i] = fmt.Sprintf(`o.merchant_id = $%d AND o.legacy_id = $%d`, 2*i+1, 2*i+2)
	}
	return `SELECT ` + foundColumns + ` FROM orders o WHERE ` + strings.Join(conditions, ` OR `)
}()

// readOrders returns the orders with certain keys, in the same order; nil for one that
// does not exist.
func (s *search) readOrders(ctx context.Context, keys []searchKey) ([]*order.FoundOrder, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	s.read += len(keys)
	positions := make(map[int64]int, len(keys))
	args := make([]any, 0, 2*rowsAtATime)
	for i := range rowsAtATime {
		// The last key fills up, so that there is one statement for any number.
		key := keys[min(i, len(keys)-1)]
		positions[key.legacyID] = min(i, len(keys)-1)
		args = append(args, key.merchantID, key.legacyID)
	}
	found := make([]*order.FoundOrder, len(keys))
	err := sqldb.Each(ctx, s.q, selectFound, args, func(rows sqldb.Rows) error {
		o, err := scanFound(rows)
		if err == nil {
			found[positions[o.LegacyID]] = o
		}
		return err
	})
	return found, err
}

func scanFound(rows sqldb.Rows) (*order.FoundOrder, error) {
	var row summaryRow
	var o order.FoundOrder
	var expiresAt sql.NullInt64
	err := rows.Scan(append(row.dest(), &o.MerchantID, &expiresAt, sqldb.Int(&o.Invoices))...)
	o.Summary, o.ExpiresAt = row.summary(), timeOf(expiresAt)
	return &o, err
}

// matches reports whether an order meets every condition. The keys need not have met
// any of them.
func (s *search) matches(o *order.FoundOrder) bool {
	switch {
	case s.MerchantID != 0 && o.MerchantID != s.MerchantID,
		s.LegacyID != 0 && o.LegacyID != s.LegacyID,
		len(s.States) > 0 && !slices.Contains(s.States, o.State),
		s.From != order.NoDay && o.CreatedAt.Before(s.From.Start()),
		s.To != order.NoDay && o.CreatedAt.After(s.To.End()):
		return false
	case !s.ExpiresBefore.IsZero() && (o.ExpiresAt.IsZero() || !o.ExpiresAt.Before(s.ExpiresBefore)):
		return false
	}
	return len(s.terms) == 0 || orderwords.Match(s.terms, o.LegacyID, orderwords.Of(o.Reference, &o.Customer))
}

// start is the key after which the results begin.
func (s *search) start() searchKey {
	key := searchKey{at: math.MaxInt64, legacyID: math.MaxInt64}
	if s.sort.ascending {
		key = searchKey{at: math.MinInt64, legacyID: math.MinInt64}
	}
	if s.Sort == order.SortCreated && s.To != order.NoDay {
		key.at = s.To.End().Unix()
	}
	if s.After != nil {
		if after := (searchKey{at: s.After.At, legacyID: s.After.LegacyID}); s.sort.compare(after, key) > 0 {
			key = after
		}
	}
	return key
}

// keyOf returns the key of the order with a legacy id; false if there is none.
func (s *search) keyOf(ctx context.Context, legacyID int64) (searchKey, bool, error) {
	key := searchKey{legacyID: legacyID}
	err := s.q.QueryRow(ctx, `SELECT merchant_id FROM order_keys WHERE key = $1`, []any{LegacyIDKey(legacyID)}, &key.merchantID)
	if err == nil {
		err = s.q.QueryRow(ctx, `SELECT created_at FROM orders WHERE merchant_id = $1 AND legacy_id = $2`,
			[]any{key.merchantID, legacyID}, &key.at)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return searchKey{}, false, nil
	}
	return key, err == nil, err
}
