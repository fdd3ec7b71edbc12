package demo

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	"merchantorders/internal/order"
)

// firstLegacyID is the legacy id of DEMO-0001, the oldest order.
const firstLegacyID = 700001

// object is a JSON object.
type object = map[string]any

// Reference returns the reference of the nth demo order. The oldest is 1.
func Reference(n int) string { return fmt.Sprintf("DEMO-%04d", n) }

// Documents returns the orders as order documents (decision 7), oldest first.
// Only the times in them depend on now.
func Documents(now time.Time) ([][]byte, error) {
	d, err := loadData()
	if err != nil {
		return nil, err
	}
	g := newGenerator(d)
	schedule := g.schedule(now)
	documents := make([][]byte, len(schedule))
	for i, e := range schedule {
		if documents[i], err = json.Marshal(g.order(i+1, e)); err != nil {
			return nil, err
		}
	}
	return documents, nil
}

// order generates the nth order. Features that the demo must contain depend on
// n, all others are random.
func (g *generator) order(n int, e entry) object {
	who, where, currency, rate := g.person(), pick(g, g.Places), "EUR", int64(1)
	switch n {
	case 23:
		where, currency, rate = g.Abroad.Stockholm, "SEK", 11
	case 38:
		where = g.Abroad.Nicosia
	}
	shipping := g.address(who, where)
	billing := shipping
	if n%6 == 1 {
		billing = g.address(who, pick(g, g.Places))
	}
	wantsInvoice, article39 := n%5 == 2, n%15 == 2
	lines, subtotal := g.lines(n, e, rate, article39)
	discount := int64(0)
	if n%8 == 5 {
		discount = subtotal / 10
	}
	document := object{
		"merchantId": MerchantID, "reference": Reference(n), "orderId": firstLegacyID + n - 1,
		"state": e.state.String(), "currency": currency, "countryCode": where.CountryCode,
		"createdAt": timestamp(e.createdAt), "updatedAt": timestamp(e.updatedAt),
		"expiresAt": nil, "dispatchUntil": nil,
		"subtotal": subtotal, "discount": discount, "total": subtotal - discount + g.postage(subtotal, rate),
		"notes":    g.notes(n),
		"customer": g.customer(n, who, shipping), "billingAddress": billing, "shippingAddress": withType(shipping, n),
		"carrier": g.carrier(n, e), "payment": object{"name": pick(g, g.Payments)},
		"invoiceDetails": nil, "lineItems": lines,
	}
	switch e.state {
	case order.Registered:
		document["expiresAt"] = timestamp(e.createdAt.Add(2 * day))
	case order.InProcessing, order.ReadyForShipment:
		document["dispatchUntil"] = timestamp(e.createdAt.Add(3 * day))
	}
	if wantsInvoice {
		document["invoiceDetails"] = g.invoiceDetails(who, billing, article39)
	}
	return document
}

func (g *generator) notes(n int) any {
	if n%7 != 3 {
		return nil
	}
	return pick(g, g.Notes)
}

// withType returns a shipping address: an address with a type.
func withType(address object, n int) object {
	shipping := maps.Clone(address)
	shipping["addressType"] = ""
	if n%10 == 0 {
		shipping["addressType"] = "business"
	}
	return shipping
}

// postage is free from 50 euros.
func (g *generator) postage(subtotal, rate int64) int64 {
	if subtotal >= 5000*rate {
		return 0
	}
	return pick(g, []int64{250, 320, 400}) * rate
}

// timestamp returns a time as in an order document; null for the zero time.
func timestamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

// carrier generates the carrier of the nth order. Shipped orders have a shipment
// and a tracking code.
func (g *generator) carrier(n int, e entry) object {
	c := pick(g, g.Couriers)
	for e.state == order.DeliveredToPickupPoint && c.DeliveryKey != pickupPoint || e.state == order.DeliveryFailed && c.DeliveryKey == pickupPoint {
		c = pick(g, g.Couriers)
	}
	carrier := object{
		"shipmentIds": []int64{}, "name": c.Name, "method": c.Method,
		"deliveryName": c.DeliveryName, "deliveryKey": c.DeliveryKey, "trackingCodes": "", "comments": nil,
		"deliveryToCourierEstimationDate": nil, "deliveryToCustomerEstimationDate": nil,
	}
	if e.state != order.Registered {
		carrier["deliveryToCourierEstimationDate"] = e.createdAt.Add(day).Format(time.DateOnly)
		carrier["deliveryToCustomerEstimationDate"] = e.createdAt.Add(4 * day).Format(time.DateOnly)
	}
	if e.shipped() {
		carrier["shipmentIds"] = []int64{int64(925700 + n)}
		carrier["trackingCodes"] = fmt.Sprint(c.TrackingPrefix, 7350000+n, g.digits(3))
	}
	if e.state == order.DeliveryFailed {
		carrier["comments"] = "Απουσία παραλήπτη"
	}
	return carrier
}
