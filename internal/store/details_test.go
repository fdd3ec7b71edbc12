package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
)

// TestDetails stores the details of orders and reads them back.
func TestDetails(t *testing.T) {
	t.Parallel()
	text, empty := "text", ""
	whole := testOrder(1, "R").Order
	either := testOrder(1, "R").Order
	either.InvoiceDetails = &order.InvoiceDetails{
		TaxOfficeCode: &text, TaxOfficeName: &empty, Article39Eligible: "Y", Article39Valid: false,
	}
	either.Carrier.ShipmentIDs = []int64{0, 1, 1 << 60}
	for name, o := range map[string]order.Order{"whole": whole, "either": either, "nothing": {LineItems: []order.LineItem{}}} {
		stored, err := encodeDetails(o)
		if err != nil {
			t.Fatal(err)
		}
		// What columns have is not the details' affair.
		var got order.Order
		if err := decodeDetails(stored, &got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := order.Order{
			ExpiresAt: o.ExpiresAt, DispatchUntil: o.DispatchUntil, Subtotal: o.Subtotal, Discount: o.Discount, Notes: o.Notes,
			Billing: o.Billing, Shipping: o.Shipping, Carrier: o.Carrier, PaymentName: o.PaymentName,
			InvoiceDetails: o.InvoiceDetails, LineItems: o.LineItems,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestDetailsOfTheFirstSchema reads what was stored as JSON.
func TestDetailsOfTheFirstSchema(t *testing.T) {
	t.Parallel()
	var got order.Order
	err := decodeDetails([]byte(`{"expires":60,"subtotal":2780,"billing":{"first":"Maria"},"shipping":{"type":"home"},
		"carrier":{"shipments":[7]},"payment":"cod","invoice":{"vat":"1","a39Valid":true},
		"lines":[{"id":1,"name":"Lamp","unit":1390,"originalUnit":1390,"base":1390,"total":2780,"quantity":2,"attributes":[],"pickup":20000,"delivery":20001}]}`), &got)
	if err != nil {
		t.Fatal(err)
	}
	want := order.Order{
		ExpiresAt: fromUnix(60), Subtotal: 2780,
		Billing: order.Address{FirstName: "Maria"}, Shipping: order.Address{Type: "home"},
		Carrier: order.Carrier{ShipmentIDs: []int64{7}}, PaymentName: "cod",
		InvoiceDetails: &order.InvoiceDetails{VATNumber: "1", Article39Valid: true},
		LineItems: []order.LineItem{{
			ID: 1, ProductName: "Lamp", UnitPrice: 1390, OriginalUnitPrice: 1390, BasePrice: 1390, TotalPrice: 2780, Quantity: 2,
			ExtendedAttributes: []byte("[]"), PickupDate: 20000, DeliveryDate: 20001,
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
}

// FuzzDetails reads what may lie in a broken database: an error or an order, and
// nothing worse.
func FuzzDetails(f *testing.F) {
	stored, err := encodeDetails(testOrder(1, "R").Order)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(stored)
	f.Add([]byte("{}"))
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, stored []byte) {
		var first, second order.Order
		if decodeDetails(stored, &first) != nil || len(stored) > 0 && stored[0] == '{' {
			return
		}
		again, err := encodeDetails(first)
		if err != nil {
			t.Fatal(err)
		}
		if err := decodeDetails(again, &second); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkDetails(b *testing.B) {
	stored, err := encodeDetails(testOrder(1, "R").Order)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var o order.Order
			if err := decodeDetails(stored, &o); err != nil {
				b.Fatal(err)
			}
		}
	})
	o := testOrder(1, "R").Order
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := encodeDetails(o); err != nil {
				b.Fatal(err)
			}
		}
	})
}
