package order

import "context"

// DayCount is how many orders that were created on a day are in a state.
type DayCount struct {
	Day    Day
	State  State
	Orders int64
}

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
