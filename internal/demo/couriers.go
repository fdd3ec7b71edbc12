package demo

import (
	"strconv"
	"time"

	"merchantorders/internal/order"
)

// courier is a way to send goods. All are invented.
type courier struct {
	name, method     string
	service, key     string
	trackingPrefix   string
	delivers, awaits bool // to the door; at a pickup point
}

var couriers = []courier{
	{"Petasos Courier", "standard", "Παράδοση στην πόρτα", "courier", "PT", true, false},
	{"Petasos Courier", "express", "Παράδοση επόμενης ημέρας", "courier", "PT", true, false},
	{"Meltemi Express", "standard", "Παράδοση στην πόρτα", "courier", "ME", true, false},
	{"Kyklos Lockers", "locker", "Παραλαβή από θυρίδα", "pickup-point", "KL", false, true},
}

// carrier writes how the n-th order travels, with a shipment once somebody has
// the goods.
func (d *dice) carrier(n int, p placement) object {
	c := couriers[d.random.IntN(len(couriers))]
	for p.state == order.DeliveredToPickupPoint && !c.awaits || p.state == order.DeliveryFailed && !c.delivers {
		c = couriers[d.random.IntN(len(couriers))]
	}
	written := object{
		"shipmentIds": []int64{}, "name": c.name, "method": c.method,
		"deliveryName": c.service, "deliveryKey": c.key, "trackingCodes": "", "comments": nil,
		"deliveryToCourierEstimationDate": nil, "deliveryToCustomerEstimationDate": nil,
	}
	if p.state != order.Registered {
		written["deliveryToCourierEstimationDate"] = p.createdAt.Add(day).Format(time.DateOnly)
		written["deliveryToCustomerEstimationDate"] = p.createdAt.Add(4 * day).Format(time.DateOnly)
	}
	if p.shipped() {
		written["shipmentIds"] = []int64{int64(925700 + n)}
		written["trackingCodes"] = c.trackingPrefix + strconv.Itoa(7350000+n) + d.digits(3)
	}
	if p.state == order.DeliveryFailed {
		written["comments"] = "Απουσία παραλήπτη"
	}
	return written
}
