package ingest

import (
	"encoding/json"
	"math"

	"github.com/go-json-experiment/json/jsontext"

	"merchantorders/internal/order"
)

// lineItems returns the lines of an order and the sum of their totals.
func (r *reading) lineItems(given []lineItem) ([]order.LineItem, int64) {
	if len(given) == 0 {
		r.refuse("lineItems", "one or more are required")
		return nil, 0
	}
	lines := make([]order.LineItem, len(given))
	subtotal := int64(0)
	for i := range given {
		r.line = i
		lines[i] = r.lineItem(&given[i])
		var fits bool
		if subtotal, fits = sum(subtotal, lines[i].TotalPrice); !fits {
			r.refuse("totalPrice", "the sum of the lines' totals must fit into 64 bits")
		}
		// What follows may build on amounts that are in their bounds.
		if r.problem != nil {
			return nil, 0
		}
	}
	r.uniqueIDs(lines)
	r.line = -1
	return lines, subtotal
}

// uniqueIDs refuses a line whose id an earlier one has.
func (r *reading) uniqueIDs(lines []order.LineItem) {
	if len(lines) == 1 {
		return
	}
	seen := make(map[int64]bool, len(lines))
	for i := range lines {
		r.line = i
		if seen[lines[i].ID] {
			r.refuse("id", "is the id of an earlier line item")
		}
		seen[lines[i].ID] = true
	}
}

func (r *reading) lineItem(given *lineItem) order.LineItem {
	line := order.LineItem{
		ID:                r.required("id", given.ID, math.MinInt64),
		ProductID:         given.ProductID,
		ProductCode:       given.ProductCode,
		SKU:               given.SKU,
		MerchantSKU:       given.MerchantSKU,
		MerchantEAN:       given.MerchantEAN,
		ProductStatus:     given.ProductStatus,
		MasterProductCode: given.MasterProductCode,
		ProductURL:        given.ProductURL,
		EAN:               given.EAN,

		UnitPrice: r.required("unitPrice", given.UnitPrice, 0),
		Quantity:  r.required("quantity", given.Quantity, 1),

		Article39Status: given.Article39Status,
		Article39Valid:  given.Article39Valid,
		GiftWrap:        given.GiftWrap,

		ExtendedAttributes: r.attributes(given.ExtendedAttributes),

		PickupDate:   r.day("pickupDate", given.PickupDate),
		DeliveryDate: r.day("deliveryDate", given.DeliveryDate),
	}
	if given.ProductName == nil {
		r.refuse("productName", "is required")
	} else {
		line.ProductName = *given.ProductName
	}
	line.OriginalUnitPrice = r.optional("originalUnitPrice", given.OriginalUnitPrice, line.UnitPrice, 0)
	line.BasePrice = r.optional("basePrice", given.BasePrice, line.UnitPrice, 0)
	if r.problem != nil {
		return line
	}
	total, fits := product(line.UnitPrice, line.Quantity)
	if !fits {
		r.refuse("totalPrice", "unit price times quantity must fit into 64 bits")
	}
	line.TotalPrice = r.computed("totalPrice", given.TotalPrice, total, "must be unit price times quantity")
	return line
}

// maxNesting bounds the levels of extended attributes, since whoever reads an
// order has to go down them.
const maxNesting = 100

// noAttributes are the extended attributes of a line that has none.
const noAttributes = "[]"

// attributes returns extended attributes as they came, without white space
// between them.
func (r *reading) attributes(given jsontext.Value) json.RawMessage {
	switch given.Kind() {
	case '[':
	case 'n', jsontext.KindInvalid:
		return json.RawMessage(noAttributes)
	default:
		r.refuse("extendedAttributes", "must be an array")
		return nil
	}
	if nesting(given) > maxNesting {
		r.refuse("extendedAttributes", "must not be nested deeper than 100 levels")
		return nil
	}
	if err := given.Compact(); err != nil {
		r.refuse("extendedAttributes", "must be JSON")
		return nil
	}
	return json.RawMessage(given)
}

// nesting returns how many levels of arrays and objects a JSON value has.
func nesting(value []byte) int {
	level, deepest := 0, 0
	for i := 0; i < len(value); i++ {
		switch value[i] {
		case '"':
			i += quotedLength(value[i:]) - 1
		case '[', '{':
			level++
			deepest = max(deepest, level)
		case ']', '}':
			level--
		}
	}
	return deepest
}

// quotedLength returns the length of the JSON text that b begins with, its
// quotes included.
func quotedLength(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}
