package ingest

import (
	"math"

	"github.com/go-json-experiment/json/jsontext"

	"merchantorders/internal/order"
)

type lineItem struct {
	ID                *int64  `json:"id"`
	ProductID         string  `json:"productId"`
	ProductCode       string  `json:"productCode"`
	SKU               string  `json:"sku"`
	MerchantSKU       string  `json:"merchantSku"`
	MerchantEAN       string  `json:"merchantEan"`
	ProductName       *string `json:"productName"`
	ProductStatus     string  `json:"productStatus"`
	MasterProductCode string  `json:"masterProductCode"`
	ProductURL        string  `json:"productUrl"`
	EAN               *string `json:"ean"`

	UnitPrice         *int64 `json:"unitPrice"`
	OriginalUnitPrice *int64 `json:"originalUnitPrice"`
	BasePrice         *int64 `json:"basePrice"`
	TotalPrice        *int64 `json:"totalPrice"`
	Quantity          *int64 `json:"quantity"`
	VATRate           string `json:"vatRate,omitzero"` // omitted for earlier versions, which refuse it

	Article39Status string `json:"article39Status"`
	Article39Valid  bool   `json:"article39Valid"`
	GiftWrap        bool   `json:"giftWrap"`

	ExtendedAttributes jsontext.Value `json:"extendedAttributes"`

	PickupDate   *string `json:"pickupDate"`
	DeliveryDate *string `json:"deliveryDate"`
}

// lineItems returns the lines of an order and the sum of their totals.
func (r *reader) lineItems(given []lineItem) ([]order.LineItem, int64) {
	if len(given) == 0 {
		r.require("lineItems", "one or more are required")
		return nil, 0
	}
	lines := make([]order.LineItem, len(given))
	subtotal := int64(0)
	for i := range given {
		r.line = i
		lines[i] = r.lineItem(&given[i])
		if r.refused() {
			continue // the sum is valid only if the amounts are within their bounds
		}
		if lines[i].TotalPrice > math.MaxInt64-subtotal {
			r.refuse("totalPrice", "the sum of the lines' totals must fit into 64 bits")
		}
		subtotal += lines[i].TotalPrice
	}
	if !r.refused() {
		r.uniqueIDs(lines)
	}
	r.line = -1
	return lines, subtotal
}

// uniqueIDs refuses a line item with the id of an earlier one.
func (r *reader) uniqueIDs(lines []order.LineItem) {
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

func (r *reader) lineItem(given *lineItem) order.LineItem {
	if given.ID == nil {
		r.require("id", "is required")
	}
	line := order.LineItem{
		ID:                r.id("id", given.ID, -order.MaxID),
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
		VATRate:   r.vatRate("vatRate", given.VATRate),

		Article39Status: given.Article39Status,
		Article39Valid:  given.Article39Valid,
		GiftWrap:        given.GiftWrap,

		ExtendedAttributes: r.attributes(given.ExtendedAttributes),

		PickupDate:   r.day("pickupDate", given.PickupDate),
		DeliveryDate: r.day("deliveryDate", given.DeliveryDate),
	}
	if given.ProductName == nil {
		r.require("productName", "is required")
	} else {
		line.ProductName = *given.ProductName
	}
	line.OriginalUnitPrice = r.optional("originalUnitPrice", given.OriginalUnitPrice, line.UnitPrice, 0)
	line.BasePrice = r.optional("basePrice", given.BasePrice, line.UnitPrice, 0)
	if r.refused() {
		return line
	}
	if line.UnitPrice > math.MaxInt64/line.Quantity {
		r.refuse("totalPrice", "unit price times quantity must fit into 64 bits")
	}
	line.TotalPrice = r.computed("totalPrice", given.TotalPrice, line.UnitPrice*line.Quantity, "must be unit price times quantity")
	return line
}

func encodeLine(l *order.LineItem) lineItem {
	return lineItem{
		ID: &l.ID, ProductID: l.ProductID, ProductCode: l.ProductCode, SKU: l.SKU, MerchantSKU: l.MerchantSKU, MerchantEAN: l.MerchantEAN,
		ProductName: &l.ProductName, ProductStatus: l.ProductStatus, MasterProductCode: l.MasterProductCode, ProductURL: l.ProductURL, EAN: l.EAN,
		UnitPrice: &l.UnitPrice, OriginalUnitPrice: &l.OriginalUnitPrice, BasePrice: &l.BasePrice, TotalPrice: &l.TotalPrice, Quantity: &l.Quantity, VATRate: l.VATRate,
		Article39Status: l.Article39Status, Article39Valid: l.Article39Valid, GiftWrap: l.GiftWrap,
		ExtendedAttributes: jsontext.Value(l.ExtendedAttributes),
		PickupDate:         dayText(l.PickupDate), DeliveryDate: dayText(l.DeliveryDate),
	}
}

// vatRate returns a VAT rate as it is given; empty if absent.
func (r *reader) vatRate(field, given string) string {
	if given != "" && !order.ValidVATRate(given) {
		r.refuse(field, "must be a percentage from 0 to 100 with at most 3 decimals, as text such as \"6.5\"")
	}
	return given
}
