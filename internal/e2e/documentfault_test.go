package e2e

import (
	"encoding/json"
	"strings"
	"testing"
)

// documentFault is something wrong with an order document.
type documentFault struct {
	name   string
	change document // to a good document; a nil value takes the key out
	raw    string   // the whole document, where it is no object to be changed
	field  string   // that the message has to name; empty: none
}

// text is the document with the fault.
func (f documentFault) text(t testing.TB) string {
	t.Helper()
	if f.raw != "" {
		return f.raw
	}
	doc := newDocument(f.change)
	for key, value := range f.change {
		if value == nil {
			delete(doc, key)
		}
	}
	return doc.text(t)
}

// wantNamed sees that a message names the field.
func (f documentFault) wantNamed(t testing.TB, message string) {
	t.Helper()
	if message == "" || !strings.Contains(message, f.field) {
		t.Errorf("the message is %q and does not name %q", message, f.field)
	}
}

// inLine is a document whose only line item has a change.
func inLine(key string, value any) document {
	item := line(document{key: value})
	if value == nil {
		delete(item, key)
	}
	return document{"lineItems": []any{item}}
}

// in is a document whose object under a key has one member.
func in(object, key string, value any) document {
	return document{object: map[string]any{key: value}}
}

// documentFaults are those that decision 7 names.
var documentFaults = []documentFault{
	{name: "no merchantId", change: document{"merchantId": nil}, field: "merchantId"},
	{name: "no reference", change: document{"reference": nil}, field: "reference"},
	{name: "no createdAt", change: document{"createdAt": nil}, field: "createdAt"},
	{name: "no total", change: document{"total": nil}, field: "total"},
	{name: "no customer", change: document{"customer": nil}, field: "customer"},
	{name: "no shippingAddress", change: document{"shippingAddress": nil}, field: "shippingAddress"},
	{name: "no lineItems", change: document{"lineItems": nil}, field: "lineItems"},
	{name: "lineItems empty", change: document{"lineItems": []any{}}, field: "lineItems"},
	{name: "no id in a line", change: inLine("id", nil), field: "lineItems[0].id"},
	{name: "no productName in a line", change: inLine("productName", nil), field: "lineItems[0].productName"},
	{name: "no unitPrice in a line", change: inLine("unitPrice", nil), field: "lineItems[0].unitPrice"},
	{name: "no quantity in a line", change: inLine("quantity", nil), field: "lineItems[0].quantity"},

	{name: "unknown key", change: document{"colour": "red"}, field: "colour"},
	{name: "key in another letter case", change: document{"Notes": "x"}, field: "Notes"},
	{name: "unknown key in the customer", change: in("customer", "age", 7), field: "customer.age"},
	{name: "unknown key in an address", change: in("shippingAddress", "planet", "x"), field: "shippingAddress.planet"},
	{name: "addressType in the billing address", change: in("billingAddress", "addressType", "x"), field: "billingAddress.addressType"},
	{name: "unknown key in the carrier", change: in("carrier", "x", 1), field: "carrier.x"},
	{name: "unknown key in the payment", change: in("payment", "x", 1), field: "payment.x"},
	{name: "invoice details without vatNumber", change: in("invoiceDetails", "company", "x"), field: "invoiceDetails.vatNumber"},
	{name: "empty vatNumber", change: in("invoiceDetails", "vatNumber", ""), field: "invoiceDetails.vatNumber"},
	{name: "unknown key in the invoice details", change: in("invoiceDetails", "x", 1), field: "invoiceDetails.x"},
	{name: "unknown key in a line", change: inLine("colour", "red"), field: "lineItems[0].colour"},

	{name: "merchantId as text", change: document{"merchantId": "355"}, field: "merchantId"},
	{name: "reference as number", change: document{"reference": 5}, field: "reference"},
	{name: "total as text", change: document{"total": "10.00"}, field: "total"},
	{name: "total with a fraction", change: document{"total": 10.5}, field: "total"},
	{name: "total as boolean", change: document{"total": true}, field: "total"},
	{name: "notes as array", change: document{"notes": []any{}}, field: "notes"},
	{name: "customer as text", change: document{"customer": "Maria"}, field: "customer"},
	{name: "e-mail as number", change: in("customer", "email", 5), field: "customer.email"},
	{name: "lineItems as object", change: document{"lineItems": map[string]any{"1": line(nil)}}, field: "lineItems"},
	{name: "line as text", change: document{"lineItems": []any{"x"}}, field: "lineItems[0]"},
	{name: "quantity as text", change: inLine("quantity", "1"), field: "lineItems[0].quantity"},
	{name: "quantity with a fraction", change: inLine("quantity", 1.5), field: "lineItems[0].quantity"},
	{name: "giftWrap as text", change: inLine("giftWrap", "yes"), field: "lineItems[0].giftWrap"},
	{name: "extendedAttributes as object", change: inLine("extendedAttributes", map[string]any{}), field: "lineItems[0].extendedAttributes"},
	{name: "shipmentIds of text", change: in("carrier", "shipmentIds", []any{"1"}), field: "carrier.shipmentIds"},
	{name: "article39Eligible as number", change: in("invoiceDetails", "article39Eligible", 1), field: "invoiceDetails.article39Eligible"},
	{name: "orderId as text", change: document{"orderId": "5"}, field: "orderId"},
	{name: "total with an exponent", raw: `{"merchantId":355,"reference":"x","total":1e3}`, field: "total"},
	{name: "total with a point", raw: `{"merchantId":355,"reference":"x","total":10.0}`, field: "total"},
	{name: "total beyond 64 bits", raw: `{"merchantId":355,"reference":"x","total":9223372036854775808}`, field: "total"},
	{name: "shipmentIds of null", change: in("carrier", "shipmentIds", []any{nil}), field: "carrier.shipmentIds"},
	{name: "orderId beyond 64 bits", raw: `{"merchantId":355,"reference":"x","orderId":9223372036854775808}`, field: "orderId"},

	{name: "negative total", change: document{"total": -1}, field: "total"},
	{name: "negative discount", change: document{"discount": -1}, field: "discount"},
	{name: "negative subtotal", change: document{"subtotal": -1000}, field: "subtotal"},
	{name: "negative unitPrice", change: inLine("unitPrice", -1), field: "lineItems[0].unitPrice"},
	{name: "negative originalUnitPrice", change: inLine("originalUnitPrice", -1), field: "lineItems[0].originalUnitPrice"},
	{name: "negative basePrice", change: inLine("basePrice", -1), field: "lineItems[0].basePrice"},
	{name: "quantity 0", change: inLine("quantity", 0), field: "lineItems[0].quantity"},
	{name: "quantity negative", change: inLine("quantity", -2), field: "lineItems[0].quantity"},
	{name: "totalPrice is not the product", change: inLine("totalPrice", 999), field: "lineItems[0].totalPrice"},
	{name: "subtotal is not the sum", change: document{"subtotal": 999}, field: "subtotal"},
	{name: "same line id twice", change: document{"lineItems": []any{line(nil), line(nil)}}, field: "lineItems[1].id"},
	{name: "merchantId 0", change: document{"merchantId": 0}, field: "merchantId"},
	{name: "unknown merchant", change: document{"merchantId": 404404}, field: "merchant"},
	{name: "orderId 0", change: document{"orderId": 0}, field: "orderId"},
	{name: "orderId negative", change: document{"orderId": -5}, field: "orderId"},
	{name: "unknown state", change: document{"state": "accepted"}, field: "state"},
	{name: "state as code", change: document{"state": "O"}, field: "state"},
	{name: "currency in small letters", change: document{"currency": "eur"}, field: "currency"},

	{name: "createdAt without time", change: document{"createdAt": "2026-05-01"}, field: "createdAt"},
	{name: "createdAt without zone", change: document{"createdAt": "2026-05-01T12:00:00"}, field: "createdAt"},
	{name: "createdAt with a space", change: document{"createdAt": "2026-05-01 12:00:00"}, field: "createdAt"},
	{name: "createdAt impossible", change: document{"createdAt": "2026-02-30T12:00:00Z"}, field: "createdAt"},
	{name: "createdAt at 25 o'clock", change: document{"createdAt": "2026-05-01T25:00:00Z"}, field: "createdAt"},
	{name: "createdAt as number", change: document{"createdAt": 1777593600}, field: "createdAt"},
	{name: "createdAt in a leap second", change: document{"createdAt": "2026-06-30T23:59:60Z"}, field: "createdAt"},
	{name: "createdAt with a comma", change: document{"createdAt": "2026-05-01T12:00:00,5Z"}, field: "createdAt"},
	{name: "createdAt with an hour of one digit", change: document{"createdAt": "2026-05-01T2:00:00Z"}, field: "createdAt"},
	{name: "createdAt with an offset of 24 hours", change: document{"createdAt": "2026-05-01T12:00:00+24:00"}, field: "createdAt"},
	{name: "createdAt in year 0", change: document{"createdAt": "0000-05-01T12:00:00Z"}, field: "createdAt"},
	{name: "createdAt in year 10000", change: document{"createdAt": "9999-12-31T23:59:59-01:00"}, field: "createdAt"},
	{name: "createdAt empty", change: document{"createdAt": ""}, field: "createdAt"},
	{name: "updatedAt no time", change: document{"updatedAt": "soon"}, field: "updatedAt"},
	{name: "expiresAt no time", change: document{"expiresAt": "soon"}, field: "expiresAt"},
	{name: "dispatchUntil no time", change: document{"dispatchUntil": "soon"}, field: "dispatchUntil"},
	{name: "pickupDate no day", change: inLine("pickupDate", "21/11/2026"), field: "lineItems[0].pickupDate"},

	{name: "reference empty", change: document{"reference": ""}, field: "reference"},
	{name: "reference of 65", change: document{"reference": strings.Repeat("x", 65)}, field: "reference"},
	{name: "reference begins with a dash", change: document{"reference": "-a"}, field: "reference"},
	{name: "reference begins with a dot", change: document{"reference": ".a"}, field: "reference"},
	{name: "reference with a slash", change: document{"reference": "a/b"}, field: "reference"},
	{name: "reference with a space", change: document{"reference": "a b"}, field: "reference"},
	{name: "reference in Greek", change: document{"reference": "Ω1"}, field: "reference"},
	{name: "reference with a line break", change: document{"reference": "a\n"}, field: "reference"},
	{name: "text over 10,000 characters", change: document{"notes": strings.Repeat("α", 10_001)}, field: "notes"},
	{name: "name over 10,000 characters", change: in("customer", "firstName", strings.Repeat("x", 10_001)), field: "customer.firstName"},

	{name: "NUL in a text", change: document{"notes": "a\x00b"}, field: "notes"},
	{name: "extended attributes nested 101 deep", change: inLine("extendedAttributes", json.RawMessage(strings.Repeat("[", 101)+strings.Repeat("]", 101))), field: "extendedAttributes"},
	{name: "product beyond 64 bits", change: document{"lineItems": []any{line(document{"unitPrice": int64(9223372036854775807), "quantity": 2})}}, field: "lineItems[0]"},
	{name: "sum beyond 64 bits", change: document{"lineItems": []any{line(document{"unitPrice": int64(9223372036854775807)}), line(document{"id": 2})}}, field: "lineItems[1]"},

	{name: "equal keys", raw: `{"merchantId":355,"total":1,"total":1}`, field: "total"},
	{name: "equal keys inside", raw: `{"customer":{"email":"a","email":"b"}}`, field: "email"},
	{name: "text after it", raw: `{"merchantId":355} {}`},
	{name: "cut off", raw: `{"merchantId":355,`},
	{name: "invalid UTF-8", raw: "{\"notes\":\"\xff\"}"},
	{name: "lone surrogate", raw: `{"notes":"\ud800"}`},
	{name: "array", raw: `[]`},
	{name: "null", raw: `null`},
	{name: "number", raw: `5`},
	{name: "no JSON", raw: `order 5`},
}
