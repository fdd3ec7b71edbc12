package order

import (
	"context"
	"time"
)

// FileEntry is an invoice file that an order has or had.
type FileEntry struct {
	Invoice
	DeletedAt time.Time // zero: the file is active
	PurgedAt  time.Time // zero: its bytes are stored
}

// Inspection is everything about one order.
type Inspection struct {
	Order  Order
	Events []EventRecord // oldest first, at most MaxFeedLimit
	Files  []FileEntry   // oldest first, deleted ones included
}

// Inspect returns everything about the order with a reference, of whichever merchant, but
// not its MerchantData, or ErrNotFound.
func (s *Service) Inspect(ctx context.Context, reference string) (Inspection, error) {
	if !ByReference(reference).Valid() {
		return Inspection{}, ErrNotFound
	}
	merchantID, err := s.store.OrderMerchant(ctx, reference)
	if err != nil {
		return Inspection{}, err
	}
	all, err := s.store.Inspect(ctx, merchantID, reference)
	all.Order.MerchantData = MerchantData{}
	return all, err
}

// Page sizes of the merchants of an overview.
const (
	DefaultOverviewLimit = 20
	MaxOverviewLimit     = 100
)

// OverviewQuery selects a page of the merchants of an overview.
type OverviewQuery struct {
	Limit int             // 1 to MaxOverviewLimit
	After *OverviewCursor // nil: the first page
}

// OverviewCursor is the position of a merchant in an overview.
type OverviewCursor struct{ Unanswered, MerchantID int64 }

// Overview is the numbers of all orders.
type Overview struct {
	States           map[State]int64 // every state has an entry
	OldestUnanswered time.Time       // creation of the oldest registered order; zero: none
	Overdue          int64           // registered orders past their deadline; at most MaxOverdue
	Merchants        []MerchantUnanswered
	Next             *OverviewCursor // nil: this is the last page of merchants
}

// MaxOverdue is how many orders past their deadline are counted, which bounds the time of
// an overview.
const MaxOverdue = 1_000

// MerchantUnanswered is a merchant with registered orders, which it has yet to accept
// or reject. Those with the most come first.
type MerchantUnanswered struct {
	MerchantID int64
	Name       string
	Unanswered int64
	Oldest     time.Time // creation of the oldest
}

// Overview returns the numbers of all orders. It reads day counts and the ends of
// indexes, and no orders.
func (s *Service) Overview(ctx context.Context, query OverviewQuery) (Overview, error) {
	query.Limit = min(max(query.Limit, 1), MaxOverviewLimit)
	return s.store.Overview(ctx, query, s.Now())
}
