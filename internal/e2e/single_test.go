package e2e

import (
	"strings"
	"testing"
)

// TestSingleOrder compares whole single orders (spec 2.3, 2.5, 2.6 and
// decision 4): every field, its type, and no field more.
func TestSingleOrder(t *testing.T) {
	tests := []struct{ name, document, v1, v2 string }{
		{"the example of decision 7", exampleDocument, exampleV1, exampleV2},
		{"everything an order can have", richDocument, richV1, richV2},
		{"only what is required", minimalDocument, minimalV1, minimalV2},
	}
	onEveryBackend(t, func(t *testing.T, s *service) {
		for _, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				document := strings.ReplaceAll(test.document, "\n", "")
				s.Import(t, []byte(document))
				o := placed{number: numberAt(t, document, "orderId"), reference: textAt(t, document, "reference")}
				s.do(t, get(v1.order(o))).want(t, 200, test.v1)
				s.do(t, get(v2.order(o))).want(t, 200, test.v2)
			})
		}
	})
}

// TestSingleOrderValues changes one thing of an order and looks at what shows
// it in each version.
func TestSingleOrderValues(t *testing.T) {
	invoice := func(key string, value any) document {
		return document{"invoiceDetails": map[string]any{"vatNumber": "1", key: value}}
	}
	carrier := func(key string, value any) document {
		return document{"carrier": map[string]any{key: value}}
	}
	tests := []struct {
		name   string
		change document
		v1, v2 map[string]string // JSON by path
	}{
		{"discount in whole units", document{"discount": 200}, map[string]string{"discount": "2"}, nil},
		{"discount with a fraction", document{"discount": 150}, map[string]string{"discount": "1.5"}, nil},
		{"discount in hundredths", document{"discount": 1205}, map[string]string{"discount": "12.05"}, nil},
		{"discount below one unit", document{"discount": 7}, map[string]string{"discount": "0.07"}, nil},
		{"amounts with two digits", document{"total": 1790}, map[string]string{"total": `"17.90"`, "subtotal": `"10.00"`},
			map[string]string{"totalItemsAmount": "1790", "subTotalItemsAmount": "1000"}},
		{"amounts below one unit", document{"total": 5}, map[string]string{"total": `"0.05"`}, map[string]string{"totalItemsAmount": "5"}},
		{"amount of nothing", document{"total": 0}, map[string]string{"total": `"0.00"`}, map[string]string{"totalItemsAmount": "0"}},
		{"amount beyond 53 bits", document{"total": int64(9007199254740993)},
			map[string]string{"total": `"90071992547409.93"`}, map[string]string{"totalItemsAmount": "9007199254740993"}},
		{"currency without minor unit", document{"currency": "JPY", "discount": 3},
			map[string]string{"total": `"1000"`, "discount": "3", "products.1.price": `"1000"`}, map[string]string{"totalItemsAmount": "1000"}},
		{"currency with three digits", document{"currency": "KWD", "discount": 1500},
			map[string]string{"total": `"1.000"`, "discount": "1.5"}, map[string]string{"totalItemsAmount": "1000"}},
		{"guest", document{"customer": map[string]any{"userId": 0}}, map[string]string{"user_id": "0", "email": `""`, "phone": `""`},
			map[string]string{"customer": `{"userId":0,"email":"","phone":null,"firstName":"","lastName":""}`}},
		{"expiry and dispatch", document{"expiresAt": "2026-05-03T12:00:00Z", "dispatchUntil": "2026-05-02T23:59:59+02:00"}, nil,
			map[string]string{"expiresAt": `"2026-05-03 12:00:00"`, "dispatchUntil": `"2026-05-02 21:59:59"`}},
		{"fraction of a second and offset", document{"createdAt": "2026-05-01T01:30:00.987+03:00"},
			map[string]string{"timestamp": "1777588200"}, map[string]string{"createdAt": `"2026-04-30 22:30:00"`}},
		{"changed", document{"updatedAt": "2026-05-02T10:00:00Z"},
			map[string]string{"last_order_change": `"2026-05-02 10:00:00"`}, map[string]string{"updatedAt": `"2026-05-02 10:00:00"`}},
		{"never changed", nil, map[string]string{"last_order_change": `""`}, map[string]string{"updatedAt": "null"}},
		{"several shipments", carrier("shipmentIds", []int{8, 7}), map[string]string{"shipment_ids": "[8,7]"}, map[string]string{"carrier.shipmentId": "8"}},
		{"no shipment", carrier("shipmentIds", []int{}), map[string]string{"shipment_ids": "[]"}, map[string]string{"carrier.shipmentId": "0"}},
		{"carrier comments", carrier("comments", "late"), nil, map[string]string{"carrier.comments": `"late"`}},
		{"no invoice wanted", nil, map[string]string{"fields.115": `"N"`, "fields.151": `""`, "fields.119": `""`},
			map[string]string{"hasInvoice": "false", "invoiceDetails": "null"}},
		{"invoice wanted", document{"invoiceDetails": map[string]any{"vatNumber": "094014201"}},
			map[string]string{"fields.115": `"Y"`, "fields.119": `"094014201"`, "fields.116": `""`, "fields.151": `"N"`},
			map[string]string{"hasInvoice": "true", "invoiceDetails.vatNumber": `"094014201"`, "invoiceDetails.company": "null"}},
		{"eligible true", invoice("article39Eligible", true), map[string]string{"fields.151": `"Y"`}, map[string]string{"invoiceDetails.article39Eligible": "true"}},
		{"eligible Y", invoice("article39Eligible", "Y"), map[string]string{"fields.151": `"Y"`}, map[string]string{"invoiceDetails.article39Eligible": `"Y"`}},
		{"eligible yes", invoice("article39Eligible", "yes"), map[string]string{"fields.151": `"Y"`}, map[string]string{"invoiceDetails.article39Eligible": `"yes"`}},
		{"eligible 1", invoice("article39Eligible", "1"), map[string]string{"fields.151": `"Y"`}, map[string]string{"invoiceDetails.article39Eligible": `"1"`}},
		{"eligible false", invoice("article39Eligible", false), map[string]string{"fields.151": `"N"`}, map[string]string{"invoiceDetails.article39Eligible": "false"}},
		{"eligible no", invoice("article39Eligible", "no"), map[string]string{"fields.151": `"N"`}, map[string]string{"invoiceDetails.article39Eligible": `"no"`}},
		{"eligible empty", invoice("article39Eligible", ""), map[string]string{"fields.151": `"N"`}, map[string]string{"invoiceDetails.article39Eligible": `""`}},
		{"eligible null", invoice("article39Eligible", nil), map[string]string{"fields.151": `"N"`}, map[string]string{"invoiceDetails.article39Eligible": "null"}},
		{"valid true", invoice("article39Valid", true), nil, map[string]string{"invoiceDetails.article39Valid": "true"}},
		{"valid text", invoice("article39Valid", "maybe"), nil, map[string]string{"invoiceDetails.article39Valid": `"maybe"`}},
		{"valid null", invoice("article39Valid", nil), nil, map[string]string{"invoiceDetails.article39Valid": "null"}},
		{"country of the order", document{"countryCode": "CY"}, nil, map[string]string{"countryCode": `"CY"`, "addressDetails.countryCode": `"GR"`}},
		{"billing address is the shipping address", nil,
			map[string]string{"b_address": `"Ermou 12"`, "b_city": `"Athens"`, "s_address": `"Ermou 12"`, "s_city": `"Athens"`}, nil},
		{"letters of all kinds", document{"notes": "\"<Καλημέρα> & 👍\"\n\u2028"},
			map[string]string{"notes": `"\"<Καλημέρα> & 👍\"\n\u2028"`}, nil},
		{"no notes", document{"notes": nil}, map[string]string{"notes": "null"}, nil},
		{"empty notes", document{"notes": ""}, map[string]string{"notes": `""`}, nil},
		{"numeric reference", document{"reference": "00123"}, map[string]string{"order_reference": `"00123"`}, map[string]string{"id": `"00123"`}},
		{"longest reference", document{"reference": strings.Repeat("x", 64)}, nil, map[string]string{"id": `"` + strings.Repeat("x", 64) + `"`}},
		{"reference with all signs", document{"reference": "0a.B_c-"}, nil, map[string]string{"id": `"0a.B_c-"`}},
		{"largest number", document{"orderId": int64(9223372036854775807)}, map[string]string{"order_id": "9223372036854775807"}, nil},
	}
	onEveryBackend(t, func(t *testing.T, s *service) {
		documents := make([]document, len(tests))
		for i, test := range tests {
			documents[i] = newDocument(test.change)
		}
		orders := s.add(t, documents...)
		for i, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				wantParts(t, v1.shown(t, s, orders[i]), test.v1)
				wantParts(t, v2.shown(t, s, orders[i]), test.v2)
			})
		}
	})
}

// wantParts compares parts of a JSON text, named by their paths.
func wantParts(t *testing.T, text string, parts map[string]string) {
	t.Helper()
	for path, want := range parts {
		got := at(t, text, path)
		if got == "" {
			t.Errorf("%s is missing in %s", path, text)
			continue
		}
		wantJSON(t, path, got, want)
	}
}

// TestLineItems keeps their order, which is not that of their ids, on the wire
// in both versions (decision 4), and their extended attributes as they came.
func TestLineItems(t *testing.T) {
	onEveryBackend(t, func(t *testing.T, s *service) {
		o := s.addOne(t, document{"lineItems": []any{
			line(document{"id": 30, "extendedAttributes": []any{"<a>", map[string]any{"k": nil, "n": int64(12345678901234567)}}}),
			line(document{"id": 4, "pickupDate": "2026-02-28", "deliveryDate": "2026-03-01"}),
			line(document{"id": 100, "unitPrice": 333, "quantity": 3, "giftWrap": true, "article39Valid": true, "ean": "5901234123457"}),
		}})
		first := v1.shown(t, s, o)
		products := first[strings.Index(first, `"products"`):]
		if a, b, c := strings.Index(products, `"30":`), strings.Index(products, `"4":`), strings.Index(products, `"100":`); a < 0 || b < a || c < b {
			t.Errorf("the products are not in the order in which they came: %s", products)
		}
		wantParts(t, first, map[string]string{
			"products.30.extended_attributes": `["<a>",{"k":null,"n":12345678901234567}]`,
			"products.30.extra":               `{"pickup_date":"","delivery_date":""}`,
			"products.4.extra":                `{"pickup_date":"28/02/2026","delivery_date":"01/03/2026"}`,
			"products.4.ean":                  `null`,
			"products.100.ean":                `"5901234123457"`,
			"products.100.total_price":        `"9.99"`,
			"products.100.amount":             `3`,
			"subtotal":                        `"29.99"`,
		})
		wantParts(t, v2.shown(t, s, o), map[string]string{
			"lineItems.0.id":                 "30",
			"lineItems.1.id":                 "4",
			"lineItems.2.id":                 "100",
			"lineItems.0.extendedAttributes": `["<a>",{"k":null,"n":12345678901234567}]`,
			"lineItems.1.extendedAttributes": `[]`,
			"lineItems.2.totalPrice":         "999",
			"lineItems.2.giftWrap":           "true",
			"lineItems.2.sfArticle39Valid":   "true",
			"subTotalItemsAmount":            "2999",
		})
	})
}

// TestCompany has the merchant's own id and name where v1 shows them
// (decision 4).
func TestCompany(t *testing.T) {
	const name = `Our "Store" & Υιοί <b>`
	onEveryBackend(t, func(t *testing.T, s *service) {
		if result := s.Run(t, "", "merchant", "add", "--id", "9007199254740993", "--name", name); result.Code != 0 {
			t.Fatal(result.Stderr)
		}
		other := *s
		other.token = s.Folder.Token(t, "--merchant", "9007199254740993")
		o := s.addOne(t, document{"merchantId": int64(9007199254740993)})
		wantParts(t, v1.shown(t, &other, o), map[string]string{
			"company_id": `"9007199254740993"`, "company_name": asJSON(t, name), "products.1.company_id": `"9007199254740993"`,
		})
		wantParts(t, other.do(t, get(v1.list())).ok(t), map[string]string{"orders.0.company_id": `"9007199254740993"`, "orders.0.company": `""`})
	})
}
