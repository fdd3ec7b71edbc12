package ingest

import (
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"merchantorders/internal/order"
)

// Encode returns an order as the order document from which it could be imported, with
// all fields.
func Encode(o *order.Order) ([]byte, error) {
	c, billing := customer(o.Customer), address(o.Billing)
	shipping := shippingAddress{address: address(o.Shipping), Type: o.Shipping.Type}
	state := o.State.String()
	doc := document{
		MerchantID: &o.MerchantID, Reference: &o.Reference, OrderID: &o.LegacyID, State: &state,
		Currency: &o.Currency, CountryCode: &o.CountryCode,
		CreatedAt: timestampText(o.CreatedAt), UpdatedAt: timestampText(o.UpdatedAt),
		ExpiresAt: timestampText(o.ExpiresAt), DispatchUntil: timestampText(o.DispatchUntil),
		Subtotal: &o.Subtotal, Discount: o.Discount, Total: &o.Total, Notes: o.Notes,
		Customer: &c, Billing: &billing, Shipping: &shipping, Payment: payment{Name: o.PaymentName},
		Carrier: carrier{
			ShipmentIDs: []*int64{}, Name: o.Carrier.Name, Method: o.Carrier.Method, DeliveryName: o.Carrier.DeliveryName,
			DeliveryKey: o.Carrier.DeliveryKey, TrackingCodes: o.Carrier.TrackingCodes, Comments: o.Carrier.Comments,
			DeliveryToCourierEstimation:  o.Carrier.DeliveryToCourierEstimation,
			DeliveryToCustomerEstimation: o.Carrier.DeliveryToCustomerEstimation,
		},
	}
	for i := range o.Carrier.ShipmentIDs {
		doc.Carrier.ShipmentIDs = append(doc.Carrier.ShipmentIDs, &o.Carrier.ShipmentIDs[i])
	}
	if o.InvoiceDetails != nil {
		details := invoiceDetails(*o.InvoiceDetails)
		doc.Invoice = &details
	}
	for i := range o.LineItems {
		doc.LineItems = append(doc.LineItems, encodeLine(&o.LineItems[i]))
	}
	return json.Marshal(&doc)
}

func encodeLine(l *order.LineItem) lineItem {
	return lineItem{
		ID: &l.ID, ProductID: l.ProductID, ProductCode: l.ProductCode, SKU: l.SKU, MerchantSKU: l.MerchantSKU, MerchantEAN: l.MerchantEAN,
		ProductName: &l.ProductName, ProductStatus: l.ProductStatus, MasterProductCode: l.MasterProductCode, ProductURL: l.ProductURL, EAN: l.EAN,
		UnitPrice: &l.UnitPrice, OriginalUnitPrice: &l.OriginalUnitPrice, BasePrice: &l.BasePrice, TotalPrice: &l.TotalPrice, Quantity: &l.Quantity,
		Article39Status: l.Article39Status, Article39Valid: l.Article39Valid, GiftWrap: l.GiftWrap,
		ExtendedAttributes: jsontext.Value(l.ExtendedAttributes),
		PickupDate:         dayText(l.PickupDate), DeliveryDate: dayText(l.DeliveryDate),
	}
}

// timestampText returns a time as text; nil for the zero time.
func timestampText(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(time.RFC3339)
	return &text
}

// dayText returns a day as text; nil for none.
func dayText(d order.Day) *string {
	if d == order.NoDay {
		return nil
	}
	text := d.String()
	return &text
}
