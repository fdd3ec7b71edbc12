package order

import "context"

// DayCount is how many orders that were created on a day are in a state.
type DayCount struct {
	Day    Day
	State  State
	Orders int64
}

// MaxExamined is how many orders of a state WithoutInvoice examines at most, the
// newest first: its cost does not grow with the number of orders.
const MaxExamined = 300

// invoiceStates are the states in which an order should have an invoice file: the
// merchant has accepted it, and the customer does not have it yet.
var invoiceStates = []State{InProcessing, ReadyForShipment, PickedByCourier}

// DayCounts returns the numbers of a merchant's orders by day and state, of the days
// of a filter, which has both bounds, in the order of days. Days and states without
// orders are absent.
func (s *Service) DayCounts(ctx context.Context, merchantID int64, days Filter) ([]DayCount, error) {
	return s.store.DayCounts(ctx, merchantID, days)
}

// StateCounts returns how many orders of a merchant are in each state.
func (s *Service) StateCounts(ctx context.Context, merchantID int64) (map[State]int64, error) {
	return s.store.StateCounts(ctx, merchantID)
}

// WithoutInvoice returns the newest orders that are accepted and on their way but
// have no invoice file, at most limit of each state. It examines MaxExamined orders
// of each state.
func (s *Service) WithoutInvoice(ctx context.Context, merchantID int64, limit int) ([]Summary, error) {
	return s.store.WithoutInvoice(ctx, merchantID, invoiceStates, MaxExamined, limit)
}
