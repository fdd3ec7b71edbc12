package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"merchantorders/internal/ingest"
	"merchantorders/internal/testenv"
)

// repeated joins n texts with commas. Each %d in the text is the number of the text.
func repeated(text string, n int) string {
	var all strings.Builder
	for i := range n {
		if i > 0 {
			all.WriteByte(',')
		}
		if strings.Contains(text, "%d") {
			fmt.Fprintf(&all, text, i)
		} else {
			all.WriteString(text)
		}
	}
	return all.String()
}

// TestTooManyValues checks that a document with too many members and elements is
// refused before it is decoded, wherever they are. It counts allocations, so it does
// not run in parallel.
// Proves decision 7 (size).
func TestTooManyValues(t *testing.T) {
	const many = 50_002
	members := repeated(`"%d":1`, many)
	for name, document := range map[string]string{
		"unknown members": adding(members),
		"in an array":     "[{" + members + "}]",
		"in a text":       adding(`"notes":{` + members + "}"),
		"in any value":    adding(`"invoiceDetails":{"vatNumber":"1","article39Eligible":{` + members + "}}"),
		"attributes":      inLine(`"extendedAttributes":[{` + members + "}]"),
		"empty lines":     strings.TrimSuffix(minimal, "]}") + "," + repeated("{}", many) + "]}",
		"elements":        adding(`"carrier":{"shipmentIds":[` + repeated("1", many) + "]}"),
		"nested":          inLine(`"extendedAttributes":` + strings.Repeat("[", many) + strings.Repeat("]", many)),
	} {
		text := []byte(document)
		_, err := ingest.Parse(text)
		if err == nil || err.Error() != "has more than 50,000 members and elements" {
			t.Errorf("%s: %.200v", name, err)
		}
		if allocated := testing.AllocsPerRun(1, func() { _, _ = ingest.Parse(text) }); allocated > 2 {
			t.Errorf("%s: %v allocations", name, allocated)
		}
	}
}

// TestManyValues parses a document with as many values as are allowed, and one whose
// texts contain what separates values.
func TestManyValues(t *testing.T) {
	t.Parallel()
	elements := mustParse(t, adding(`"carrier":{"shipmentIds":[`+repeated("1", 49_900)+"]}"))
	testenv.Equal(t, "elements", 49_900, len(elements.Order.Carrier.ShipmentIDs))
	note := strings.Repeat(`,{[\"`, 1500)
	lines := mustParse(t, strings.TrimSuffix(minimal, "]}")+","+
		repeated(`{"id":1%d,"productName":"`+note+`","unitPrice":1,"quantity":1}`, 500)+"]}")
	testenv.Equal(t, "lines", 501, len(lines.Order.LineItems))
}

// TestEmailIsTrimmed checks that an address is stored without what surrounds it, and that the
// document has the digest that earlier versions gave it.
func TestEmailIsTrimmed(t *testing.T) {
	t.Parallel()
	plain := mustParse(t, with(t, `"customer":{}`, `"customer":{"email":"a@example.com"}`))
	spaced := mustParse(t, with(t, `"customer":{}`, `"customer":{"email":"\t\u00a0a@example.com \ufeff"}`))
	if spaced.Order.Customer.Email != "a@example.com" || spaced.Digest == plain.Digest {
		t.Errorf("stored %q, equal digests: %t", spaced.Order.Customer.Email, spaced.Digest == plain.Digest)
	}
}
