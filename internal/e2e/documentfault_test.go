package e2e

import (
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

// documentFaults are of each kind: of the JSON text, of its fields and of what the database
// knows. All rules of decision 7 are in ingest.TestParseRefusesBadValues and the tests beside it.
var documentFaults = []documentFault{
	{name: "no total", change: document{"total": nil}, field: "total"},
	{name: "no id in a line", change: inLine("id", nil), field: "lineItems[0].id"},
	{name: "unknown key", change: document{"colour": "red"}, field: "colour"},
	{name: "orderId beyond 64 bits", raw: `{"merchantId":355,"reference":"x","orderId":9223372036854775808}`, field: "orderId"},
	{name: "totalPrice is not the product", change: inLine("totalPrice", 999), field: "lineItems[0].totalPrice"},
	{name: "unknown merchant", change: document{"merchantId": 404404}, field: "merchant"},
	{name: "equal keys", raw: `{"merchantId":355,"total":1,"total":1}`, field: "total"},
	{name: "text after it", raw: `{"merchantId":355} {}`},
	{name: "invalid UTF-8", raw: "{\"notes\":\"\xff\"}"},
}
