package demo

import (
	"encoding/json"
	"fmt"
	"time"

	"merchantorders/internal/order"
)

// The first reference is DEMO-0001, the oldest order, with this number.
const firstNumber = 700001

// Reference returns the reference of the n-th demo order, the oldest being 1.
func Reference(n int) string { return fmt.Sprintf("DEMO-%04d", n) }

// Documents returns the orders as order documents (decision 7), oldest first.
// They are the same for the same now, and apart from times for any now.
func Documents(now time.Time) ([][]byte, error) {
	d := newDice()
	all := d.schedule(now)
	documents := make([][]byte, len(all))
	for i, p := range all {
		var err error
		if documents[i], err = json.Marshal(d.order(i+1, p)); err != nil {
			return nil, err
		}
	}
	return documents, nil
}

// order writes the n-th order. What is not left to the dice returns at regular
// steps of n, so that each kind of order is there.
func (d *dice) order(n int, p placement) object {
	who, where, currency, ratio := d.person(), pick(d, places), "EUR", int64(1)
	switch n {
	case 23:
		where, currency, ratio = stockholm, "SEK", 11
	case 38:
		where = nicosia
	}
	ship := d.address(who, where)
	bill := ship
	if n%6 == 1 {
		bill = d.address(who, pick(d, places))
	}
	wantsInvoice, article39 := n%5 == 2, n%15 == 2
	lines, subtotal := d.lines(n, p, ratio, article39)
	discount := int64(0)
	if n%8 == 5 {
		discount = subtotal / 10
	}
	document := object{
		"merchantId": MerchantID, "reference": Reference(n), "orderId": firstNumber + n - 1,
		"state": p.state.String(), "currency": currency, "countryCode": where.countryCode,
		"createdAt": moment(p.createdAt), "updatedAt": moment(p.updatedAt),
		"expiresAt": nil, "dispatchUntil": nil,
		"subtotal": subtotal, "discount": discount, "total": subtotal - discount + d.postage(subtotal, ratio),
		"notes":    d.notes(n),
		"customer": d.customer(n, who, ship), "billingAddress": bill, "shippingAddress": shipTo(ship, n),
		"carrier": d.carrier(n, p), "payment": object{"name": pick(d, payments)},
		"invoiceDetails": nil, "lineItems": lines,
	}
	switch p.state {
	case order.Registered:
		document["expiresAt"] = moment(p.createdAt.Add(2 * day))
	case order.InProcessing, order.ReadyForShipment:
		document["dispatchUntil"] = moment(p.createdAt.Add(3 * day))
	}
	if wantsInvoice {
		document["invoiceDetails"] = d.invoiceDetails(who, bill, article39)
	}
	return document
}

var payments = []string{"cod", "card", "card", "card", "bank-transfer", "wallet"}

var remarks = []string{
	"Παρακαλώ χτυπήστε το κουδούνι δύο φορές.",
	"Παράδοση μετά τις 17:00.",
	"Το κινητό είναι για τον οδηγό.",
	"Είναι δώρο, χωρίς απόδειξη στη συσκευασία.",
}

func (d *dice) notes(n int) any {
	if n%7 != 3 {
		return nil
	}
	return pick(d, remarks)
}

func (d *dice) customer(n int, who person, ship object) object {
	c := object{
		"userId": 222000 + d.between(1, 899), "email": who.email, "phone": who.phone,
		"firstName": who.first, "lastName": who.last, "company": "",
	}
	if n%4 == 0 {
		c["userId"] = 0
	}
	if n%9 == 0 {
		c["phone"] = nil
	} else if d.oneIn(5) {
		c["phone"] = ship["phone"]
	}
	return c
}

// shipTo is a shipping address: a billing address with a type.
func shipTo(address object, n int) object {
	ship := object{"addressType": ""}
	for key, value := range address {
		ship[key] = value
	}
	if n%10 == 0 {
		ship["addressType"] = "business"
	}
	return ship
}

// lines writes one to four different lines and returns the sum of their totals.
func (d *dice) lines(n int, p placement, ratio int64, article39 bool) ([]object, int64) {
	chosen := d.random.Perm(len(products))[:1+d.between(0, 3)*d.between(0, 1)]
	lines, subtotal := make([]object, len(chosen)), int64(0)
	for i, index := range chosen {
		quantity := int64(1)
		if d.oneIn(3) {
			quantity = int64(d.between(2, 4))
		}
		line := d.line(int64(1688140000+10*n+i), index, quantity, ratio, article39)
		if p.state != order.Registered || n%2 == 0 {
			line["pickupDate"] = p.createdAt.Add(day).Format(time.DateOnly)
			line["deliveryDate"] = p.createdAt.Add(4 * day).Format(time.DateOnly)
		}
		lines[i] = line
		subtotal += line["totalPrice"].(int64)
	}
	return lines, subtotal
}

// postage is free from 50 euros.
func (d *dice) postage(subtotal, ratio int64) int64 {
	if subtotal >= 5000*ratio {
		return 0
	}
	return pick(d, []int64{250, 320, 400}) * ratio
}

// moment writes a time, null for the zero time.
func moment(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}
