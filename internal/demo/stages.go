package demo

import (
	"cmp"
	"slices"
	"time"

	"merchantorders/internal/order"
)

const day = 24 * time.Hour

// stage says how many orders stand in a state, how long ago they were placed
// and how long after that they came to stand there.
type stage struct {
	state           order.State
	count           int
	newest, oldest  time.Duration
	soonest, latest time.Duration
}

var stages = []stage{
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

// placement is one order before it is written: where it stands and since when.
type placement struct {
	state     order.State
	createdAt time.Time
	updatedAt time.Time // zero: never changed
}

// schedule returns all orders, oldest first.
func (d *dice) schedule(now time.Time) []placement {
	now = now.UTC().Truncate(time.Second)
	var all []placement
	for _, s := range stages {
		for range s.count {
			p := placement{state: s.state, createdAt: now.Add(-d.span(s.newest, s.oldest))}
			if s.latest > 0 {
				p.updatedAt = p.createdAt.Add(d.span(s.soonest, s.latest))
			}
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b placement) int { return cmp.Compare(a.createdAt.Unix(), b.createdAt.Unix()) })
	return all
}

// shipped reports whether a courier has, or had, the goods.
func (p placement) shipped() bool {
	switch p.state {
	case order.Registered, order.InProcessing, order.RejectedByMerchant, order.Canceled:
		return false
	}
	return true
}
