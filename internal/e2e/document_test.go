package e2e

import (
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
)

// document is an order document (decision 7).
type document map[string]any

// lastNumber is the number of the last order made, so that none is used twice.
var lastNumber atomic.Int64

// newDocument returns a document of the merchant with what is required and a number. Each
// change may add to it.
func (s *service) newDocument(changes ...document) document {
	n := lastNumber.Add(1)
	doc := document{
		"merchantId": s.merchant, "reference": fmt.Sprintf("SF-%06d", n), "orderId": 700_000 + n,
		"createdAt": "2026-05-01T12:00:00Z", "total": 1000,
		"customer":        map[string]any{"email": "buyer@example.com", "firstName": "Maria", "lastName": "Pappa"},
		"shippingAddress": map[string]any{"street": "Ermou", "streetNumber": "12", "city": "Athens", "countryCode": "GR"},
		"lineItems":       []any{line(nil)},
	}
	for _, change := range changes {
		maps.Copy(doc, change)
	}
	return doc
}

// line returns a line item with what is required, and a change to it.
func line(change document) map[string]any {
	item := map[string]any{"id": 1, "productName": "Case", "unitPrice": 1000, "quantity": 1}
	maps.Copy(item, change)
	return item
}

// text is the document on one line.
func (d document) text(t testing.TB) string { return asJSON(t, d) }

// placed returns the names of the order that the document makes.
func (d document) placed(t testing.TB) placed {
	t.Helper()
	text := d.text(t)
	return placed{number: numberAt(t, text, "orderId"), reference: textAt(t, text, "reference")}
}

// add takes orders in and returns their names.
func (s *service) add(t testing.TB, documents ...document) []placed {
	t.Helper()
	orders := make([]placed, len(documents))
	var lines strings.Builder
	for i, doc := range documents {
		orders[i] = doc.placed(t)
		lines.WriteString(doc.text(t) + "\n")
	}
	sent := s.do(t, post("/operator/orders/import", lines.String()).by(s.operator)).ok(t)
	if strings.Count(sent, `"status":"created"`) != len(documents) {
		t.Fatalf("not all orders are created: %s", sent)
	}
	return orders
}

// addOne takes in one order with changes.
func (s *service) addOne(t testing.TB, changes ...document) placed {
	t.Helper()
	return s.add(t, s.newDocument(changes...))[0]
}

// addMany takes in a number of orders with the same changes.
func (s *service) addMany(t testing.TB, count int, changes ...document) []placed {
	t.Helper()
	documents := make([]document, count)
	for i := range documents {
		documents[i] = s.newDocument(changes...)
	}
	return s.add(t, documents...)
}
