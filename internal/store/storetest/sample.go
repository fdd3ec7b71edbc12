package storetest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/order/ordertest"
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

// rich is an order with everything that an order can have, among it what encodings
// break.
func rich(merchantID int64, reference string) order.Order {
	o := ordertest.Rich()
	o.MerchantID, o.MerchantName, o.Reference, o.Currency, o.Revision = merchantID, "", reference, "JPY", 0
	o.Subtotal, o.Total = 1<<53+1, 1<<62+3
	o.Notes = given("Κουδούνι \"Παπαδόπουλος\"\n<b>&\u2028 \\ 🎁")
	o.Customer.LastName, o.Customer.Phone = "O'Hara; DROP TABLE orders", given("")
	o.Carrier.ShipmentIDs[1] = 1<<53 + 1
	o.InvoiceDetails.Occupation, o.InvoiceDetails.Article39Eligible, o.InvoiceDetails.Article39Valid = given(""), false, ""
	first := &o.LineItems[0]
	first.ProductCode, first.MerchantEAN, first.MasterProductCode = "code", "merchant's EAN", "master code"
	first.UnitPrice, first.Quantity, first.PickupDate = 1391, 3, -1
	return o
}

func given(text string) *string { return &text }

// asRead is an order as it comes back: with what the database adds.
func asRead(o order.Order, number int64, merchantName string) order.Order {
	o.LegacyID, o.MerchantName, o.Revision = number, merchantName, 1
	return o
}
