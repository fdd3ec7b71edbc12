package demo

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"time"

	"merchantorders/internal/order"
)

// placed is an order that a customer has placed. Its seed and its reference decide
// everything that is not a field here.
type placed struct {
	merchantID int64
	reference  string
	seed       uint64
	legacyID   int64 // 0: the service assigns one
	state      order.State
	createdAt  time.Time
	updatedAt  time.Time     // zero: never changed
	hour       time.Duration // an hour of the marketplace: see Settings.Speed
}

// Deadlines of orders, in hours of the marketplace after they were placed.
const (
	acceptHours   = 48
	dispatchHours = 72
)

// Steps of choices that do not follow a change.
const (
	reasonStep   = -1 // why the merchant rejects the order
	gapStep      = -2 // when the next order is placed
	carrierStep  = -3 // who delivers it
	shipmentStep = -4 // how the carrier calls it
)

// choices are the random choices for an order. step 0 is for its content, the others
// for what happens after its first, second, ... state: a choice for one step does not
// change those for another.
func choices(seed uint64, reference string, step int) *rand.Rand {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(reference))
	return rand.New(rand.NewPCG(seed, hash.Sum64()+uint64(step)))
}

// carrierOf returns who delivers an order.
func carrierOf(seed uint64, reference string) carrier {
	r := choices(seed, reference, carrierStep)
	if chance(r, 25) {
		return locker
	}
	return pick(r, couriers)
}

// chance reports true in so many of a hundred cases.
func chance(r *rand.Rand, percent int) bool { return r.IntN(100) < percent }

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// document returns the order document (decision 7).
func (p placed) document() []byte {
	r, by := choices(p.seed, p.reference, 0), carrierOf(p.seed, p.reference)
	who, where, street := pick(r, greeks), pick(r, greekPlaces), pick(r, greekStreets)
	if chance(r, 10) {
		who, where, street = pick(r, latins), pick(r, latinPlaces), pick(r, latinStreets)
	}
	lines, total := p.lines(r)
	d := map[string]any{
		"merchantId": p.merchantID, "reference": p.reference, "state": p.state.String(), "createdAt": p.createdAt.Format(time.RFC3339),
		"customer": customer(r, who), "payment": map[string]any{"name": pick(r, payments)}, "carrier": p.carrier(r, by), "lineItems": lines,
		"shippingAddress": address(r, who, where, street),
	}
	if where.currency != "EUR" {
		d["currency"] = where.currency
	}
	if chance(r, 15) {
		d["billingAddress"] = address(r, who, where, pick(r, greekStreets))
	}
	if chance(r, 15) {
		d["notes"] = pick(r, notes)
	}
	if chance(r, 20) {
		d["invoiceDetails"] = invoiceDetails(r, who)
	}
	if chance(r, 12) {
		discount := total / 10
		d["discount"], total = discount, total-discount
	}
	shipping := pick(r, []int64{0, 0, 320, 490})
	d["total"] = total + shipping
	if where.countryCode == "GR" && shipping > 0 {
		d["shippingAmount"], d["shippingVatRate"] = shipping, "24"
		for _, line := range lines {
			line["vatRate"] = "24"
		}
	}
	p.addTimes(d)
	text, err := json.Marshal(d)
	if err != nil {
		panic(err) // texts, numbers and maps of them can be encoded
	}
	return text
}

// addTimes adds what depends on how far the order has come.
func (p placed) addTimes(d map[string]any) {
	if p.legacyID != 0 {
		d["orderId"] = p.legacyID
	}
	if !p.updatedAt.IsZero() {
		d["updatedAt"] = p.updatedAt.Format(time.RFC3339)
	}
	switch p.state {
	case order.Registered:
		d["expiresAt"] = p.after(acceptHours).Format(time.RFC3339)
	case order.InProcessing, order.ReadyForShipment:
		d["dispatchUntil"] = p.after(dispatchHours).Format(time.RFC3339)
	}
}

// after returns the time so many hours of the marketplace after the order was placed.
func (p placed) after(hours int) time.Time { return p.createdAt.Add(time.Duration(hours) * p.hour) }

func (p placed) day(hours int) string { return p.after(hours).Format(time.DateOnly) }

// carrier returns the delivery, with a shipment once the carrier has the order.
func (p placed) carrier(r *rand.Rand, by carrier) map[string]any {
	c := map[string]any{
		"name": by.name, "method": by.method, "deliveryKey": by.key, "deliveryName": by.delivery,
		"deliveryToCourierEstimationDate": p.day(24), "deliveryToCustomerEstimationDate": p.day(96),
	}
	switch p.state {
	case order.Registered, order.InProcessing, order.RejectedByMerchant, order.Canceled:
	default:
		c["shipmentIds"], c["trackingCodes"] = shipment(r, by)
	}
	if p.state == order.DeliveryFailed {
		c["comments"] = notMet
	}
	return c
}

// notMet is what a carrier says of a delivery that has failed.
const notMet = "Απουσία παραλήπτη"

// shipment returns what a carrier calls the order.
func shipment(r *rand.Rand, by carrier) (ids []int64, trackingCodes string) {
	number := r.Int64N(1_000_000)
	return []int64{900_000 + number%100_000}, fmt.Sprintf("%s7350%06d", by.tracking, number)
}

// customer returns who has placed the order: sometimes a guest, sometimes without a
// phone.
func customer(r *rand.Rand, who person) map[string]any {
	c := map[string]any{"userId": 222_000 + r.IntN(1000), "email": who.email + "@example.com", "firstName": who.first, "lastName": who.last}
	if chance(r, 20) {
		c["userId"] = 0
	}
	if !chance(r, 20) {
		c["phone"] = "6900000" + digits(r, 3)
	}
	return c
}

func address(r *rand.Rand, who person, where place, street string) map[string]any {
	a := map[string]any{
		"firstName": who.first, "lastName": who.last, "street": street, "streetNumber": strconv.Itoa(1 + r.IntN(140)),
		"city": where.city, "postCode": where.postCode + digits(r, 3), "region": where.region, "regionCode": where.regionCode,
		"country": where.country, "countryCode": where.countryCode, "phone": where.area + "0000" + digits(r, 3),
	}
	if chance(r, 15) {
		a["address2"] = strconv.Itoa(1+r.IntN(7)) + "ος όροφος"
	}
	return a
}

// invoiceDetails returns a request for an invoice: of a company, or of a person under
// Article 39.
func invoiceDetails(r *rand.Rand, who person) map[string]any {
	c := pick(r, companies)
	d := map[string]any{
		"company": c.name, "occupation": c.occupation, "doy": c.officeCode, "doyName": c.office, "vatNumber": "000000" + digits(r, 3),
		"address": pick(r, greekStreets) + " " + strconv.Itoa(1+r.IntN(140)), "postCode": "11" + digits(r, 3), "city": "Αθήνα",
		"article39Eligible": false,
	}
	if chance(r, 40) {
		d["company"] = who.last + " " + who.first
		d["article39"], d["article39Eligible"], d["article39Valid"] = "1", true, true
		d["article39IdentityType"], d["article39IdentityNo"] = "Δελτίο ταυτότητας", "ΑΒ 000"+digits(r, 3)
		d["article39MobilePhone"], d["article39Otp"] = "6900000"+digits(r, 3), digits(r, 6)
	}
	return d
}

// lines returns the cart, of different products, and the sum of its lines.
func (p placed) lines(r *rand.Rand) (lines []map[string]any, sum int64) {
	gift, estimated := chance(r, 15), !chance(r, 10)
	for i, n := range r.Perm(len(products))[:1+r.IntN(3)] {
		chosen, quantity := products[n], 1
		if chance(r, 20) {
			quantity = 2 + r.IntN(2)
		}
		sum += chosen.price * int64(quantity)
		sku, ean := fmt.Sprintf("DS-%d", 20_000_900+n), barcode(fmt.Sprintf("2000000100%02d", n))
		line := map[string]any{
			"id": i + 1, "productName": chosen.name, "quantity": quantity, "unitPrice": chosen.price, "article39Status": "0",
			"sku": sku, "masterProductCode": sku, "merchantSku": fmt.Sprintf("WH-%d", 100+n), "merchantEan": ean, "productCode": ean,
			"productId": sku[3:], "productStatus": "A", "productUrl": "https://shop.example/p/" + sku[3:],
		}
		if chosen.before != 0 {
			line["originalUnitPrice"] = chosen.before
		}
		if gift {
			line["giftWrap"] = true
		}
		if estimated {
			line["ean"], line["pickupDate"], line["deliveryDate"] = ean, p.day(24), p.day(96)
		}
		lines = append(lines, line)
	}
	return lines, sum
}

// digits returns n random digits.
func digits(r *rand.Rand, n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = byte('0' + r.IntN(10))
	}
	return string(text)
}

// barcode returns an EAN-13: twelve digits and the check digit.
func barcode(twelve string) string {
	sum := 0
	for i, c := range []byte(twelve) {
		sum += int(c-'0') * (1 + i%2*2)
	}
	return twelve + strconv.Itoa((10-sum%10)%10)
}
