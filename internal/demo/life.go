package demo

import (
	"math/rand/v2"
	"time"

	"merchantorders/internal/order"
)

// fate is what happens next to an order.
type fate struct {
	to       order.State
	reason   order.Reason
	after    time.Duration // of the marketplace, since the last change
	merchant bool          // the merchant does it
}

// next returns what happens next to an order, which depends on the seed, its reference
// and how far it has come. ok is false if nothing happens any more.
func (s *Simulator) next(reference string, now life) (fate, bool) {
	r := choices(s.settings.Seed, reference, now.changes)
	switch now.state {
	case order.Registered:
		return s.answer(r), true
	case order.InProcessing:
		if chance(r, 4) {
			return fate{to: order.Canceled, reason: "canceled-by-customer", after: hours(r, 1, 10)}, true
		}
		return fate{to: order.ReadyForShipment, after: hours(r, 2, 20)}, true
	case order.ReadyForShipment:
		if chance(r, 2) {
			return fate{to: order.Canceled, reason: "lost-in-warehouse", after: hours(r, 1, 5)}, true
		}
		return fate{to: order.PickedByCourier, after: hours(r, 2, 12)}, true
	case order.PickedByCourier:
		switch {
		case chance(r, 10):
			return fate{to: order.DeliveryFailed, reason: "recipient-absent", after: hours(r, 12, 48)}, true
		case carrierOf(s.settings.Seed, reference) == locker:
			return fate{to: order.DeliveredToPickupPoint, after: hours(r, 12, 36)}, true
		}
		return fate{to: order.DeliveredToCustomer, after: hours(r, 12, 48)}, true
	case order.DeliveredToPickupPoint:
		if chance(r, 10) {
			return fate{to: order.DeliveryFailed, reason: "not-collected", after: 72 * time.Hour}, true
		}
		return fate{to: order.DeliveredToCustomer, after: hours(r, 4, 48)}, true
	case order.DeliveryFailed:
		if chance(r, 30) {
			return fate{to: order.Canceled, reason: "undeliverable", after: hours(r, 24, 48)}, true
		}
		return fate{to: order.PickedByCourier, after: hours(r, 12, 24)}, true
	case order.DeliveredToCustomer:
		if chance(r, 8) { // a return that does not happen after all
			return fate{to: order.ReturnCanceled, after: hours(r, 24, 240)}, true
		}
		return fate{to: order.Completed, after: 14 * 24 * time.Hour}, true
	case order.ReturnCanceled:
		return fate{to: order.Completed, after: hours(r, 48, 120)}, true
	}
	return fate{}, false
}

// answer returns what happens to an order that the merchant has not answered yet. The
// marketplace cancels it if nobody does.
func (s *Simulator) answer(r *rand.Rand) fate {
	switch {
	case chance(r, 5):
		return fate{to: order.Canceled, reason: "canceled-by-customer", after: hours(r, 1, 20)}
	case chance(r, s.settings.Accept) && chance(r, 90):
		return fate{to: order.InProcessing, after: hours(r, 1, 12), merchant: true}
	case chance(r, s.settings.Accept):
		return fate{to: order.RejectedByMerchant, after: hours(r, 1, 12), merchant: true}
	}
	return fate{to: order.Canceled, reason: "not-answered-in-time", after: acceptHours * time.Hour}
}
