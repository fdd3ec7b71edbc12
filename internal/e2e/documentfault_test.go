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
func (f documentFault) text(t testing.TB, s *service) string {
	t.Helper()
	if f.raw != "" {
		return f.raw
	}
	doc := s.newDocument(f.change)
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

// documentFaults have one for each rule of decision 7; all of them are in
// ingest.TestParseRefusesBadValues and the tests beside it.
var documentFaults = []documentFault{
	{name: "no total", change: document{"total": nil}, field: "total"},
	{name: "lineItems empty", change: document{"lineItems": []any{}}, field: "lineItems"},
	{name: "no id in a line", change: inLine("id", nil), field: "lineItems[0].id"},
	{name: "unknown key", change: document{"colour": "red"}, field: "colour"},
	{name: "key in another letter case", change: document{"Notes": "x"}, field: "Notes"},
	{name: "total with a fraction", change: document{"total": 10.5}, field: "total"},
	{name: "orderId beyond 64 bits", raw: `{"merchantId":355,"reference":"x","orderId":9223372036854775808}`, field: "orderId"},
	{name: "negative total", change: document{"total": -1}, field: "total"},
	{name: "quantity 0", change: inLine("quantity", 0), field: "lineItems[0].quantity"},
	{name: "totalPrice is not the product", change: inLine("totalPrice", 999), field: "lineItems[0].totalPrice"},
	{name: "subtotal is not the sum", change: document{"subtotal": 999}, field: "subtotal"},
	{name: "same line id twice", change: document{"lineItems": []any{line(nil), line(nil)}}, field: "lineItems[1].id"},
	{name: "unknown merchant", change: document{"merchantId": 404404}, field: "merchant"},
	{name: "currency in small letters", change: document{"currency": "eur"}, field: "currency"},
	{name: "createdAt without zone", change: document{"createdAt": "2026-05-01T12:00:00"}, field: "createdAt"},
	{name: "createdAt in a leap second", change: document{"createdAt": "2026-06-30T23:59:60Z"}, field: "createdAt"},
	{name: "reference of 65", change: document{"reference": strings.Repeat("x", 65)}, field: "reference"},
	{name: "text over 10,000 characters", change: document{"notes": strings.Repeat("α", 10_001)}, field: "notes"},
	{name: "NUL in a text", change: document{"notes": "a\x00b"}, field: "notes"},
	{name: "extended attributes nested 101 deep", change: inLine("extendedAttributes", json.RawMessage(strings.Repeat("[", 101)+strings.Repeat("]", 101))), field: "extendedAttributes"},
	{name: "equal keys", raw: `{"merchantId":355,"total":1,"total":1}`, field: "total"},
	{name: "text after it", raw: `{"merchantId":355} {}`},
	{name: "invalid UTF-8", raw: "{\"notes\":\"\xff\"}"},
	{name: "lone surrogate", raw: `{"notes":"\ud800"}`},
}
