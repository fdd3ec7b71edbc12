package orderpb

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

var testTime = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// testOrder is an order of typical size: two lines, both addresses and invoice
// details, about 2 KB of details.
func testOrder() order.Order {
	address := order.Address{
		FirstName: "Μαρία", LastName: "Παπαδοπούλου", Street: "Λεωφόρος Βασιλίσσης Σοφίας", StreetNumber: "112",
		City: "Αθήνα", Region: "Αττική", RegionCode: "ATT", Country: "Greece", CountryCode: "GR", PostCode: "11527", Phone: "2100000000",
	}
	phone, company := "2100000000", "Παπαδοπούλου και Υιοί"
	o := order.Order{
		MerchantID: 1, Reference: "R", State: order.Registered, Currency: "EUR", CountryCode: "GR",
		CreatedAt: testTime, ExpiresAt: testTime.Add(48 * time.Hour), Subtotal: 2780, Total: 3180,
		Customer: order.Customer{
			UserID: 222039, Email: "buyer@example.com", Phone: &phone, FirstName: "Μαρία", LastName: "Παπαδοπούλου",
		},
		Billing: address, Shipping: address,
		Carrier: order.Carrier{
			ShipmentIDs: []int64{925746}, Name: "Courier", Method: "road", DeliveryName: "Next day", DeliveryKey: "courier",
		},
		PaymentName:    "cod",
		InvoiceDetails: &order.InvoiceDetails{VATNumber: "000000000", Company: &company, Occupation: &company, Article39Eligible: false},
	}
	for id := range int64(2) {
		o.LineItems = append(o.LineItems, order.LineItem{
			ID: 1688147140 + id, ProductID: "20000906", ProductCode: "5904622494337", SKU: "SF-12540217", MerchantSKU: "3MK-CF",
			MerchantEAN: "5904622494337", ProductName: "Προστατευτικό οθόνης από σκληρυμένο γυαλί", ProductStatus: "A",
			MasterProductCode: "SF-12540217", ProductURL: "https://shop.example/p/20000906/prostateftiko-othonis",
			UnitPrice: 695, OriginalUnitPrice: 695, BasePrice: 695, TotalPrice: 1390, Quantity: 2, Article39Status: "0",
			ExtendedAttributes: json.RawMessage(`[{"name":"color","value":"clear"},{"name":"size","value":"6.1"}]`),
			PickupDate:         20778, DeliveryDate: 20781,
		})
	}
	return o
}

// detailsOf returns the fields of an order that details have.
func detailsOf(o order.Order) order.Order {
	return order.Order{
		ExpiresAt: o.ExpiresAt, DispatchUntil: o.DispatchUntil, Subtotal: o.Subtotal, Discount: o.Discount, Notes: o.Notes,
		Billing: o.Billing, Shipping: o.Shipping, Carrier: o.Carrier, PaymentName: o.PaymentName,
		InvoiceDetails: o.InvoiceDetails, LineItems: o.LineItems,
	}
}

// TestDetails encodes details and decodes them again.
func TestDetails(t *testing.T) {
	t.Parallel()
	text, empty := "text", ""
	flags := testOrder()
	flags.InvoiceDetails = &order.InvoiceDetails{
		TaxOfficeCode: &text, TaxOfficeName: &empty, Article39Eligible: "Y", Article39Valid: false,
	}
	flags.Carrier.ShipmentIDs = []int64{0, 1, 1 << 60, -1}
	epoch := testOrder()
	epoch.ExpiresAt, epoch.DispatchUntil = time.Unix(0, 0).UTC(), time.Unix(0, 0).UTC()
	epoch.LineItems[0].PickupDate, epoch.LineItems[0].DeliveryDate = 0, order.NoDay
	emptyText := testOrder()
	emptyText.Notes, emptyText.Carrier.Comments, emptyText.LineItems[1].EAN = &empty, &empty, &empty
	emptyText.InvoiceDetails = &order.InvoiceDetails{Article39Eligible: "", Article39Valid: true}
	for name, o := range map[string]order.Order{
		"typical": testOrder(), "flags": flags, "1970-01-01": epoch, "empty texts": emptyText,
		"nothing": {LineItems: []order.LineItem{}},
	} {
		encoded, err := EncodeDetails(&o)
		testenv.NoError(t, err)
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
	o := testOrder()
	encoded, err := EncodeDetails(&o)
	testenv.NoError(f, err)
	f.Add(encoded)
	f.Add([]byte("{}"))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, encoded []byte) {
		var first, second order.Order
		if DecodeDetails(encoded, &first) != nil {
			return
		}
		again, err := EncodeDetails(&first)
		testenv.NoError(t, err)
		testenv.NoError(t, DecodeDetails(again, &second))
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("decoded again (-first +second):\n%s", diff)
		}
	})
}
