package store

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"merchantorders/internal/order"
)

// testTime is the time at which things happen in these tests.
var testTime = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// testOrder is an order of common size: two lines, both addresses and an
// invoice request, about 2 KB of details.
func testOrder(merchantID int64, reference string) order.Incoming {
	address := order.Address{
		FirstName: "Μαρία", LastName: "Παπαδοπούλου", Street: "Λεωφόρος Βασιλίσσης Σοφίας", StreetNumber: "112",
		City: "Αθήνα", Region: "Αττική", RegionCode: "ATT", Country: "Greece", CountryCode: "GR", PostCode: "11527", Phone: "2100000000",
	}
	phone, company := "2100000000", "Παπαδοπούλου και Υιοί"
	o := order.Order{
		MerchantID: merchantID, Reference: reference, State: order.Registered, Currency: "EUR", CountryCode: "GR",
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
			ExtendedAttributes: json.RawMessage(`[{"name":"colour","value":"clear"},{"name":"size","value":"6.1"}]`),
			PickupDate:         20778, DeliveryDate: 20781,
		})
	}
	return order.Incoming{Order: o, Digest: sha256.Sum256([]byte(reference))}
}

// testBatch is n orders whose references begin alike.
func testBatch(merchantID int64, prefix string, n int) []order.Incoming {
	batch := make([]order.Incoming, n)
	for i := range batch {
		batch[i] = testOrder(merchantID, fmt.Sprintf("%s-%d", prefix, i))
	}
	return batch
}

func addTestMerchant(ctx context.Context, db *DB, id int64) error {
	return db.InTx(ctx, func(tx order.Tx) error {
		return tx.AddMerchant(ctx, order.Merchant{ID: id, Name: "Test Shop", CreatedAt: testTime}, order.AuditEntry{At: testTime})
	})
}

// transitionTest moves an order whatever the rules say.
func transitionTest(ctx context.Context, db *DB, merchantID, number int64, to order.State) error {
	return db.InTx(ctx, func(tx order.Tx) error {
		locked, err := tx.LockOrder(ctx, merchantID, order.ByLegacyID(number))
		if err != nil {
			return err
		}
		return tx.Transition(ctx, locked, to, order.Cause{By: order.Caller{Actor: order.ActorOperator}, At: testTime})
	})
}
