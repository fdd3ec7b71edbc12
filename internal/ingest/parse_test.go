package ingest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// minimal is a document with the required fields only.
const minimal = `{"merchantId":355,"reference":"R-1","createdAt":"2026-11-20T08:15:30Z","total":250,` +
	`"customer":{},"shippingAddress":{"countryCode":"CY","city":"Λευκωσία"},` +
	`"lineItems":[{"id":7,"productName":"Pen","unitPrice":100,"quantity":2}]}`

// with returns the minimal document with a part of it replaced.
func with(t testing.TB, old, replacement string) string {
	t.Helper()
	if strings.Count(minimal, old) != 1 {
		t.Fatalf("%q is not once in the minimal document", old)
	}
	return strings.Replace(minimal, old, replacement, 1)
}

// adding returns the minimal document with more members at its end.
func adding(members string) string { return strings.TrimSuffix(minimal, "}") + "," + members + "}" }

// inLine returns the minimal document with more members in its line item.
func inLine(members string) string {
	return strings.TrimSuffix(minimal, "}]}") + "," + members + "}]}"
}

func mustParse(t testing.TB, document string) order.Incoming {
	t.Helper()
	in, err := ingest.Parse([]byte(document))
	if err != nil {
		t.Fatalf("Parse: %v\n%s", err, document)
	}
	return in
}

func text(s string) *string { return &s }

// minimalOrder is the order of the minimal document.
func minimalOrder() order.Order {
	address := order.Address{City: "Λευκωσία", CountryCode: "CY"}
	return order.Order{
		MerchantID: 355, Reference: "R-1", State: order.Registered, Currency: "EUR", CountryCode: "CY",
		CreatedAt: time.Date(2026, 11, 20, 8, 15, 30, 0, time.UTC), Subtotal: 200, Total: 250,
		Billing: address, Shipping: address, Carrier: order.Carrier{ShipmentIDs: []int64{}},
		LineItems: []order.LineItem{{
			ID: 7, ProductName: "Pen", UnitPrice: 100, OriginalUnitPrice: 100, BasePrice: 100, TotalPrice: 200, Quantity: 2,
			ExtendedAttributes: json.RawMessage("[]"), PickupDate: order.NoDay, DeliveryDate: order.NoDay,
		}},
	}
}

func TestParseFillsInDefaults(t *testing.T) {
	t.Parallel()
	nulls := adding(`"orderId":null,"state":null,"currency":null,"countryCode":null,"updatedAt":null,"expiresAt":null,` +
		`"dispatchUntil":null,"subtotal":null,"discount":null,"notes":null,"billingAddress":null,"carrier":null,"payment":null,` +
		`"invoiceDetails":null`)
	lineNulls := inLine(`"productId":null,"sku":null,"ean":null,"originalUnitPrice":null,"basePrice":null,"totalPrice":null,` +
		`"article39Status":null,"article39Valid":null,"giftWrap":null,"extendedAttributes":null,"pickupDate":null,"deliveryDate":""`)
	customerNulls := with(t, `"customer":{}`, `"customer":{"userId":null,"email":null,"phone":null,"company":null}`)
	for name, document := range map[string]string{
		"absent": minimal, "null": nulls, "null in the line": lineNulls, "null in the customer": customerNulls,
	} {
		testenv.Equal(t, fmt.Sprintf("%s: order", name), minimalOrder(), mustParse(t, document).Order)
	}
}

func TestParseReads(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		document string
		want     func(*order.Order)
	}{
		"number": {adding(`"orderId":9007199254740991`), func(o *order.Order) { o.LegacyID = 9007199254740991 }},
		"state":  {adding(`"state":"return-canceled"`), func(o *order.Order) { o.State = order.ReturnCanceled }},
		"currency and country": {adding(`"currency":"RON","countryCode":"RO"`), func(o *order.Order) {
			o.Currency, o.CountryCode = "RON", "RO"
		}},
		"offset and fraction": {adding(`"updatedAt":"2026-11-21T01:30:00.999999+02:00"`), func(o *order.Order) {
			o.UpdatedAt = time.Date(2026, 11, 20, 23, 30, 0, 0, time.UTC)
		}},
		"small letters in a time": {adding(`"dispatchUntil":"2026-11-21t01:30:00z"`), func(o *order.Order) {
			o.DispatchUntil = time.Date(2026, 11, 21, 1, 30, 0, 0, time.UTC)
		}},
		"a time before 1970": {adding(`"expiresAt":"1969-12-31T23:59:59.5Z"`), func(o *order.Order) {
			o.ExpiresAt = time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC)
		}},
		"discount and notes": {adding(`"discount":50,"notes":""`), func(o *order.Order) { o.Discount, o.Notes = 50, text("") }},
		"address type is the shipping address's alone": {
			with(t, `"city":`, `"addressType":"home","city":`), func(o *order.Order) { o.Shipping.Type = "home" },
		},
		"billing address": {adding(`"billingAddress":{"city":"Πάτρα"}`), func(o *order.Order) { o.Billing = order.Address{City: "Πάτρα"} }},
		"carrier": {adding(`"carrier":{"shipmentIds":[3,-1,0],"comments":"ring","deliveryToCourierEstimationDate":"soon"}`), func(o *order.Order) {
			o.Carrier = order.Carrier{ShipmentIDs: []int64{3, -1, 0}, Comments: text("ring"), DeliveryToCourierEstimation: text("soon")}
		}},
		"invoice details": {adding(`"invoiceDetails":{"vatNumber":"1"}`), func(o *order.Order) { o.InvoiceDetails = &order.InvoiceDetails{VATNumber: "1"} }},
		"article 39 unchanged": {
			adding(`"invoiceDetails":{"vatNumber":"1","article39Eligible":"\u03a5","article39Valid":true}`), func(o *order.Order) {
				o.InvoiceDetails = &order.InvoiceDetails{VATNumber: "1", Article39Eligible: "Υ", Article39Valid: true}
			},
		},
		"prices and flags of a line": {
			inLine(`"originalUnitPrice":120,"basePrice":0,"giftWrap":true,"article39Valid":true,"ean":""`), func(o *order.Order) {
				l := &o.LineItems[0]
				l.OriginalUnitPrice, l.BasePrice, l.GiftWrap, l.Article39Valid, l.EAN = 120, 0, true, true, text("")
			},
		},
		"attributes without their white space": {inLine(`"extendedAttributes": [ {"b": 1.50, "a": "\u0041 " } , null ]`), func(o *order.Order) {
			o.LineItems[0].ExtendedAttributes = json.RawMessage(`[{"b":1.50,"a":"\u0041 "},null]`)
		}},
		"a text as long as it may be": {adding(`"notes":"` + strings.Repeat("ω", ingest.MaxTextLength) + `"`), func(o *order.Order) {
			o.Notes = text(strings.Repeat("ω", ingest.MaxTextLength))
		}},
		"the largest amounts": {
			with(t, `"unitPrice":100,"quantity":2`, `"unitPrice":9223372036854775807,"quantity":1`), func(o *order.Order) {
				l, most := &o.LineItems[0], int64(9223372036854775807)
				l.UnitPrice, l.OriginalUnitPrice, l.BasePrice, l.TotalPrice, l.Quantity, o.Subtotal = most, most, most, most, 1, most
			},
		},
		"free of charge": {with(t, `"unitPrice":100`, `"unitPrice":0`), func(o *order.Order) {
			l := &o.LineItems[0]
			l.UnitPrice, l.OriginalUnitPrice, l.BasePrice, l.TotalPrice, o.Subtotal = 0, 0, 0, 0, 0
		}},
		"white space around": {" \r\n" + minimal + "\t\n", func(*order.Order) {}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := minimalOrder()
			test.want(&want)
			testenv.Equal(t, "order", want, mustParse(t, test.document).Order)
		})
	}
}

func TestParsePreservesTheOrderOfLines(t *testing.T) {
	t.Parallel()
	document := with(t, `{"id":7,`, `{"id":9,"productName":"Ink","unitPrice":5,"quantity":3},{"id":7,`)
	o := mustParse(t, document).Order
	if len(o.LineItems) != 2 || o.LineItems[0].ID != 9 || o.LineItems[1].ID != 7 || o.Subtotal != 215 {
		t.Errorf("lines %+v, subtotal %d", o.LineItems, o.Subtotal)
	}
}

// TestParseDoesNotRetainTheDocument fails if the result refers to the caller's
// buffer.
func TestParseDoesNotRetainTheDocument(t *testing.T) {
	t.Parallel()
	document := []byte(inLine(`"extendedAttributes":["a",1],"ean":"123"`))
	in := testenv.Of(ingest.Parse(document)).Must(t)
	clear(document)
	testenv.Equal(t, "order", mustParse(t, inLine(`"extendedAttributes":["a",1],"ean":"123"`)), in)
}

// refusal returns the message for an invalid document.
func refusal(t testing.TB, document string) string {
	t.Helper()
	in, err := ingest.Parse([]byte(document))
	if err == nil {
		t.Errorf("accepted: %s", document)
		return ""
	}
	var refused *ingest.DocumentError
	if !errors.As(err, &refused) {
		t.Errorf("the error is a %T", err)
	}
	testenv.Equal(t, "result with an error", order.Incoming{}, in)
	return err.Error()
}
