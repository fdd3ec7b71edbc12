package order

import (
	"context"
	"time"
)

// UnansweredOrder is an order that its merchant has neither accepted nor rejected.
type UnansweredOrder struct {
	Summary
	ExpiresAt time.Time  // zero: does not expire
	Revision  int64      // as Order.Revision
	Size      int64      // of its stored details, in bytes
	LineItems []LineItem // set by Service
}

// Cursor returns the position of the order.
func (o UnansweredOrder) Cursor() *UnansweredCursor {
	return &UnansweredCursor{ExpiresAt: o.ExpiresAt, CreatedAt: o.CreatedAt, LegacyID: o.LegacyID}
}

// Page sizes of the unanswered orders.
const (
	DefaultUnansweredLimit = 20
	MaxUnansweredLimit     = 100
)

// UnansweredQuery selects unanswered orders.
type UnansweredQuery struct {
	ExpiresBefore time.Time         // only those with an earlier deadline; zero: all
	Limit         int               // 1 to MaxUnansweredLimit
	After         *UnansweredCursor // nil: the first page
}

// UnansweredCursor is the position of an order among the unanswered ones.
type UnansweredCursor struct {
	ExpiresAt time.Time // zero: it has no deadline
	CreatedAt time.Time
	LegacyID  int64
}

// UnansweredPage is a page of unanswered orders.
type UnansweredPage struct {
	Orders []UnansweredOrder
	Next   *UnansweredCursor // nil: this is the last page
}

// Unanswered returns the orders that wait for the merchant's answer: the earliest
// deadline first, then those without one, oldest first. A page ends early if its orders
// are large.
func (s *Service) Unanswered(ctx context.Context, merchantID int64, query UnansweredQuery) (UnansweredPage, error) {
	query.Limit = min(max(query.Limit, 1), MaxUnansweredLimit)
	page, err := s.store.Unanswered(ctx, merchantID, query)
	if err != nil {
		return UnansweredPage{}, err
	}
	fit := fitting(page.Orders, maxPageOrders, func(o UnansweredOrder) int64 { return o.Size })
	if len(fit) < len(page.Orders) {
		page.Orders, page.Next = fit, fit[len(fit)-1].Cursor()
	}
	at := make([]Locator, len(page.Orders))
	for i, o := range page.Orders {
		at[i] = Locator{merchantID, o.LegacyID}
	}
	orders, err := s.store.Orders(ctx, at)
	for i := range page.Orders {
		page.Orders[i].LineItems = orders[at[i]].LineItems
	}
	return page, err
}
