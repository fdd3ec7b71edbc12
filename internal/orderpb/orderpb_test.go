package orderpb

import (
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/order/ordertest"
	"merchantorders/internal/testenv"
)

// detailsOf returns the fields of an order that details have.
func detailsOf(o order.Order) order.Order {
	return order.Order{
		ExpiresAt: o.ExpiresAt, DispatchUntil: o.DispatchUntil, Subtotal: o.Subtotal, Discount: o.Discount, Notes: o.Notes,
		Billing: o.Billing, Shipping: o.Shipping, Carrier: o.Carrier, PaymentName: o.PaymentName,
		InvoiceDetails: o.InvoiceDetails, LineItems: o.LineItems, ShippingAmount: o.ShippingAmount, ShippingVATRate: o.ShippingVATRate,
	}
}

// TestDetails encodes details and decodes them again.
func TestDetails(t *testing.T) {
	t.Parallel()
	text, empty := "text", ""
	flags := ordertest.Rich()
	flags.InvoiceDetails = &order.InvoiceDetails{
		TaxOfficeCode: &text, TaxOfficeName: &empty, Article39Eligible: "Y", Article39Valid: false,
	}
	flags.Carrier.ShipmentIDs = []int64{0, 1, 1 << 60, -1}
	epoch := ordertest.Rich()
	epoch.ExpiresAt, epoch.DispatchUntil = time.Unix(0, 0).UTC(), time.Unix(0, 0).UTC()
	epoch.LineItems[0].PickupDate, epoch.LineItems[0].DeliveryDate = 0, order.NoDay
	emptyText := ordertest.Rich()
	emptyText.Notes, emptyText.Carrier.Comments, emptyText.LineItems[1].EAN = &empty, &empty, &empty
	emptyText.InvoiceDetails = &order.InvoiceDetails{Article39Eligible: "", Article39Valid: true}
	for name, o := range map[string]order.Order{
		"typical": ordertest.Rich(), "flags": flags, "1970-01-01": epoch, "empty texts": emptyText,
		"nothing": {LineItems: []order.LineItem{}},
	} {
		encoded := testenv.Of(EncodeDetails(&o)).Must(t)
		var got order.Order
		if err := DecodeDetails(encoded, &got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		testenv.Equal(t, name, detailsOf(o), got)
	}
}

// FuzzDetails decodes the details of a damaged database: the result is an error
// or an order that can be encoded.
func FuzzDetails(f *testing.F) {
	o := ordertest.Rich()
	encoded := testenv.Of(EncodeDetails(&o)).Must(f)
	f.Add(encoded)
	f.Add([]byte("{}"))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, encoded []byte) {
		var first, second order.Order
		if DecodeDetails(encoded, &first) != nil {
			return
		}
		again := testenv.Of(EncodeDetails(&first)).Must(t)
		testenv.NoError(t, DecodeDetails(again, &second))
		testenv.Equal(t, "decoded again", first, second)
	})
}
