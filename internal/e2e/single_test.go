package e2e

import (
	"strings"
	"testing"
)

// TestSingleOrder compares whole single orders (spec 2.3, 2.5, 2.6 and
// decision 4): every field, its type, and no field more.
// Proves decision 4 (times; addresses, regions, texts as imported; every field), decision
// 7 (absent and null), decision 9 (currency), spec 2.1, spec 2.3, spec 2.5, spec 2.6.
func TestSingleOrder(t *testing.T) {
	tests := []struct{ name, document, v1, v2 string }{
		{"everything an order can have", richDocument, richV1, richV2},
		{"only what is required", minimalDocument, minimalV1, minimalV2},
	}
	alone(t, bothDatabases, func(t *testing.T, s *service) {
		s = s.adding(t, 355, "Store 355")
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
// Proves decision 2 (expiresAt, dispatchUntil), decision 4, decision 7 (reference,
// orderId; texts; times), spec 2.3, spec 2.5, spec 2.6.
func TestSingleOrderValues(t *testing.T) {
	alone(t, bothDatabases, func(t *testing.T, s *service) {
		documents := make([]document, len(orderValues))
		for i, test := range orderValues {
			documents[i] = s.newDocument(test.change)
		}
		orders := s.add(t, documents...)
		for i, test := range orderValues {
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
// in both versions, and their extended attributes as they came.
// Proves decision 4 (lines), spec 2.3, spec 2.5.
func TestLineItems(t *testing.T) {
	onSQLite(t, func(t *testing.T, s *service) {
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

// TestCompany has the merchant's own id and name where v1 shows them.
// Proves decision 4 (guests, merchant), spec 2.2, spec 2.3, spec 2.5.
func TestCompany(t *testing.T) {
	const name = `Our "Store" & Υιοί <b>`
	onSQLite(t, func(t *testing.T, s *service) {
		s = s.adding(t, 9007199254740993, name)
		o := s.addOne(t)
		wantParts(t, v1.shown(t, s, o), map[string]string{
			"company_id": `"9007199254740993"`, "company_name": asJSON(t, name), "products.1.company_id": `"9007199254740993"`,
		})
		wantParts(t, s.do(t, get(v1.list())).ok(t), map[string]string{"orders.0.company_id": `"9007199254740993"`, "orders.0.company": `""`})
	})
}
