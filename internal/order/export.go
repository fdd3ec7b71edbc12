package order

import (
	"context"
	"iter"
	"slices"
)

// Bounds of a page of an export. maxExportPageSize is in bytes of stored details, so
// that large orders do not take much memory; a page has one order at least.
const (
	maxExportPage     = 200
	maxExportPageSize = 2 << 20
)

// ExportQuery selects the orders of an export.
type ExportQuery struct {
	MerchantID int64 // 0: of all merchants
	State      State // zero: any
	From       Day   // first day of creation, inclusive; NoDay: no lower bound
	To         Day   // last day of creation, inclusive; NoDay: no upper bound
	// After is the reference of the order after which the export goes on, also of one
	// that is deleted; empty: it begins.
	After string
}

// ExportKey says where an order is in the export of a merchant.
type ExportKey struct {
	Cursor
	Size int64 // of the stored details, in bytes
}

// Export yields the whole orders that a query selects, page by page: by merchant, then
// by creation, then by legacy id. Every order that exists during the whole export is in
// it once. An order is shown as it is when its page is read: who reads the position of
// the feed before follows all changes since. Nothing is held between two pages: no
// transaction and no connection. The error is ErrNotFound if After is the reference of
// no such order.
func (s *Service) Export(ctx context.Context, query ExportQuery) iter.Seq2[[]Order, error] {
	return func(yield func([]Order, error) bool) {
		merchantID, after, err := s.exportStart(ctx, query)
		if err != nil {
			yield(nil, err)
			return
		}
		for more := merchantID != 0; more; {
			var orders []Order
			orders, after, err = s.exportPage(ctx, merchantID, query, after)
			if (err != nil || len(orders) > 0) && !yield(orders, err) || err != nil {
				return
			}
			if after == nil {
				merchantID, err = s.merchantAfter(ctx, query, merchantID)
				if err != nil {
					yield(nil, err)
				}
				more = err == nil && merchantID != 0
			}
		}
	}
}

// GetMany returns the whole orders of a merchant with certain legacy ids, in their order,
// but for those that do not exist.
func (s *Service) GetMany(ctx context.Context, merchantID int64, ids []int64) ([]Order, error) {
	at := make([]Locator, len(ids))
	for i, id := range ids {
		at[i] = Locator{MerchantID: merchantID, LegacyID: id}
	}
	found, err := s.store.Orders(ctx, at)
	orders := make([]Order, 0, len(found))
	for _, key := range at {
		if o, ok := found[key]; ok {
			orders = append(orders, o)
		}
	}
	return orders, err
}

// exportStart returns the merchant with whose orders an export begins, 0 if there is
// none, and the order after which it does, nil for all.
func (s *Service) exportStart(ctx context.Context, query ExportQuery) (merchantID int64, after *Cursor, err error) {
	if query.After == "" {
		merchantID, err = s.merchantAfter(ctx, query, 0)
		return merchantID, nil, err
	}
	if !ValidReference(query.After) {
		return 0, nil, ErrNotFound
	}
	if merchantID = query.MerchantID; merchantID == 0 {
		if merchantID, err = s.store.OrderMerchant(ctx, query.After); err != nil {
			return 0, nil, err
		}
	}
	cursor, err := s.store.OrderCursor(ctx, merchantID, query.After)
	return merchantID, &cursor, err
}

// merchantAfter returns the next merchant of an export, 0 if there is none.
func (s *Service) merchantAfter(ctx context.Context, query ExportQuery, id int64) (int64, error) {
	if query.MerchantID != 0 {
		if id == 0 {
			return query.MerchantID, nil
		}
		return 0, nil
	}
	next, err := s.store.Merchants(ctx, MerchantFilter{After: id, Limit: 1})
	if err != nil || len(next) == 0 {
		return 0, err
	}
	return next[0].ID, nil
}

// exportPage returns a page of a merchant's orders, and after which order the next page
// begins; nil: there is none. The page may be empty.
func (s *Service) exportPage(ctx context.Context, merchantID int64, query ExportQuery, after *Cursor) ([]Order, *Cursor, error) {
	keys, err := s.store.ExportKeys(ctx, merchantID, query, after, maxExportPage)
	if err != nil || len(keys) == 0 {
		return nil, nil, err
	}
	full := len(keys) == maxExportPage
	if fit := fitting(keys, maxExportPageSize, func(key ExportKey) int64 { return key.Size }); len(fit) < len(keys) {
		keys, full = fit, true
	}
	ids := make([]int64, len(keys))
	for i, key := range keys {
		ids[i] = key.LegacyID
	}
	orders, err := s.GetMany(ctx, merchantID, ids)
	if err != nil {
		return nil, nil, err
	}
	// An order may have left the state since its key was read.
	orders = slices.DeleteFunc(orders, func(o Order) bool { return query.State != 0 && o.State != query.State })
	if !full {
		return orders, nil, nil
	}
	return orders, &keys[len(keys)-1].Cursor, nil
}
