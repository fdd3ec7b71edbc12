package order

import "context"

// WithoutInvoice returns the orders whose customer asked for an invoice and that have no
// active file, unless they are rejected or canceled: the oldest first, after a position, nil
// for the first page, and at most limit of them. next is the position of the next page; nil:
// there is none.
func (s *Service) WithoutInvoice(ctx context.Context, merchantID int64, after *Cursor, limit int) (orders []Summary, next *Cursor, err error) {
	orders, err = s.store.WithoutInvoice(ctx, merchantID, after, limit+1)
	if len(orders) > limit {
		orders = orders[:limit]
		next = orders[limit-1].Key()
	}
	return orders, next, err
}
