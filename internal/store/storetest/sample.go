package storetest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"merchantorders/internal/order"
)

// incoming is an order on its way in. Its digest is over everything but the
// number, as that of a document is.
func incoming(o order.Order) order.Incoming {
	content := o
	content.LegacyID = 0
	text, err := json.Marshal(content)
	if err != nil {
		panic(err)
	}
	return order.Incoming{Order: o, Digest: sha256.Sum256(text)}
}

// minimal is an order with as little as a document may give.
func minimal(merchantID int64, reference string) order.Order {
	return order.Order{
		MerchantID: merchantID, Reference: reference, State: order.Registered,
		Currency: "EUR", CreatedAt: noon, Subtotal: 100, Total: 100,
		LineItems: []order.LineItem{{
			ID: 1, ProductName: "Tea", UnitPrice: 100, TotalPrice: 100, Quantity: 1,
			ExtendedAttributes: json.RawMessage("[]"), PickupDate: order.NoDay, DeliveryDate: order.NoDay,
		}},
	}
}

// dated is a minimal order created at a time in a state.
func dated(merchantID int64, reference string, createdAt time.Time, state order.State) order.Order {
	o := minimal(merchantID, reference)
	o.CreatedAt, o.State = createdAt, state
	return o
}

// numbered are n minimal orders whose references begin alike.
func numbered(merchantID int64, prefix string, n int) []order.Incoming {
	batch := make([]order.Incoming, n)
	for i := range batch {
		batch[i] = incoming(minimal(merchantID, fmt.Sprintf("%s-%d", prefix, i)))
	}
	return batch
}

// rich is an order with everything that an order can have.
func rich(merchantID int64, reference string) order.Order {
	return order.Order{
		MerchantID: merchantID, LegacyID: 915664, Reference: reference, State: order.ReadyForShipment,
		Currency: "JPY", CountryCode: "GR",
		CreatedAt: noon, UpdatedAt: noon.Add(time.Hour), ExpiresAt: noon.Add(48 * time.Hour), DispatchUntil: noon.Add(24 * time.Hour),
		Subtotal: 1<<53 + 1, Discount: 150, Total: 1<<62 + 3,
		Notes: given("Κουδούνι \"Παπαδόπουλος\"\n<b>&\u2028 \\ 🎁"),
		Customer: order.Customer{
			UserID: 222039, Email: "maria@example.com", Phone: given(""),
			FirstName: "Μαρία", LastName: "O'Hara; DROP TABLE orders", Company: "Άλφα & Υιοί",
		},
		Billing: address("b", ""), Shipping: address("s", "residential"),
		Carrier: order.Carrier{
			ShipmentIDs: []int64{925746, 1<<53 + 1}, Name: "Courier", Method: "road", DeliveryName: "Next day",
			DeliveryKey: "courier", TrackingCodes: "A1,B2", Comments: given("leave at the door"),
			DeliveryToCourierEstimation: given("2026-11-21"), DeliveryToCustomerEstimation: given(""),
		},
		PaymentName: "cod",
		InvoiceDetails: &order.InvoiceDetails{
			TaxOfficeCode: given("1131"), TaxOfficeName: given("ΦΑΕ Αθηνών"), VATNumber: "000000000",
			Company: given("Άλφα"), Occupation: given(""), Address: given("Ερμού 1"), PostCode: given("10563"), City: given("Αθήνα"),
			Article39: given("Y"), Article39Eligible: false, Article39IdentityType: given("ADT"),
			Article39IdentityNo: given("ΑΒ 123456"), Article39MobilePhone: given("6900000000"),
			Article39OTP: given("0042"), Article39Valid: "",
		},
		LineItems: []order.LineItem{line(2), line(1)},
	}
}

func given(text string) *string { return &text }

// address has a different text in each field.
func address(prefix, kind string) order.Address {
	return order.Address{
		FirstName: prefix + "1", LastName: prefix + "2", Street: prefix + "3", StreetNumber: prefix + "4",
		Address2: prefix + "5", City: prefix + "6", Region: prefix + "7", RegionCode: prefix + "8",
		Country: prefix + "9", CountryCode: prefix + "10", PostCode: prefix + "11", Phone: prefix + "12", Type: kind,
	}
}

// line has a different value in each field.
func line(id int64) order.LineItem {
	prefix := fmt.Sprintf("line %d ", id)
	return order.LineItem{
		ID: id, ProductID: prefix + "a", ProductCode: prefix + "b", SKU: prefix + "c", MerchantSKU: prefix + "d",
		MerchantEAN: prefix + "e", ProductName: prefix + "f", ProductStatus: prefix + "g", MasterProductCode: prefix + "h",
		ProductURL: "https://shop.example/p?a=1&b=<2>", EAN: given(prefix + "i"),
		UnitPrice: 10 + id, OriginalUnitPrice: 20 + id, BasePrice: 30 + id, TotalPrice: 40 + id, Quantity: 50 + id,
		Article39Status: "0", Article39Valid: true, GiftWrap: true,
		ExtendedAttributes: json.RawMessage(`[{"b":1.50,"a":"<\u0041&>"},null,12345678901234567890]`),
		PickupDate:         -1, DeliveryDate: 20777,
	}
}

// asRead is an order as it comes back: with what the database adds.
func asRead(o order.Order, number int64, merchantName string) order.Order {
	o.LegacyID, o.MerchantName, o.Revision = number, merchantName, 1
	return o
}
