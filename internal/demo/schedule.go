package demo

import (
	"cmp"
	"slices"
	"time"

	"merchantorders/internal/order"
)

const day = 24 * time.Hour

// states says how many orders have a state, their age, and how long after their
// creation they reached the state.
var states = []struct {
	state                order.State
	count                int
	minAge, maxAge       time.Duration
	minChange, maxChange time.Duration // 0: never changed
}{
	{order.Registered, 9, 5 * time.Minute, 30 * time.Hour, 0, 0},
	{order.InProcessing, 8, 10 * time.Hour, 2 * day, 10 * time.Minute, 8 * time.Hour},
	{order.ReadyForShipment, 6, day, 3 * day, 4 * time.Hour, 20 * time.Hour},
	{order.PickedByCourier, 6, 2 * day, 4 * day, 20 * time.Hour, 2 * day},
	{order.DeliveredToPickupPoint, 4, 3 * day, 6 * day, day, 3 * day},
	{order.DeliveryFailed, 3, 4 * day, 7 * day, 2 * day, 4 * day},
	{order.RejectedByMerchant, 4, 3 * day, 40 * day, 20 * time.Minute, day},
	{order.Canceled, 4, 2 * day, 40 * day, 15 * time.Minute, 36 * time.Hour},
	{order.DeliveredToCustomer, 7, 5 * day, 20 * day, 2 * day, 5 * day},
	{order.Completed, 7, 18 * day, 42 * day, 10 * day, 17 * day},
	{order.ReturnCanceled, 2, 20 * day, 35 * day, 12 * day, 19 * day},
}

// entry is an order of the schedule.
type entry struct {
	state     order.State
	createdAt time.Time
	updatedAt time.Time // zero: never changed
}

// schedule returns all orders, oldest first.
func (g *generator) schedule(now time.Time) []entry {
	now = now.UTC().Truncate(time.Second)
	var all []entry
	for _, s := range states {
		for range s.count {
			e := entry{state: s.state, createdAt: now.Add(-g.duration(s.minAge, s.maxAge))}
			if s.maxChange > 0 {
				e.updatedAt = e.createdAt.Add(g.duration(s.minChange, s.maxChange))
			}
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(a.createdAt.Unix(), b.createdAt.Unix()) })
	return all
}

// shipped reports whether a courier has, or had, the goods.
func (e entry) shipped() bool {
	switch e.state {
	case order.Registered, order.InProcessing, order.RejectedByMerchant, order.Canceled:
		return false
	}
	return true
}
