package maintenancetest

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/token"
)

// The merchants of a filled installation. The third has nothing.
const (
	Alpha int64 = 355
	Beta  int64 = 356
	Gamma int64 = 1 << 40
)

// Reference is that of the nth order of a merchant, n from 0.
func Reference(merchantID int64, n int) string { return fmt.Sprintf("M%d-%d", merchantID, n) }

// Incoming is an order on its way in. Every third has an invoice request and
// texts of all kinds, every seventh asks for a number of its own.
func Incoming(merchantID int64, n int) order.Incoming {
	o := order.Order{
		MerchantID: merchantID, Reference: Reference(merchantID, n), State: order.Registered,
		Currency: "EUR", CountryCode: "GR", CreatedAt: Now.AddDate(0, 0, -n%40), Subtotal: 100, Total: int64(100 + n),
		Customer: order.Customer{Email: "a@example.com", FirstName: "Μαρία", LastName: "O'Hara"},
		LineItems: []order.LineItem{{
			ID: 1, ProductName: "Tea", UnitPrice: 100, TotalPrice: 100, Quantity: 1,
			ExtendedAttributes: json.RawMessage("[]"), PickupDate: order.NoDay, DeliveryDate: order.NoDay,
		}},
	}
	if n%3 == 0 {
		phone, notes := "2100000000", "Κουδούνι \"Παπαδόπουλος\"\n<b>&\u2028 \\ 🎁"
		o.Customer.Phone, o.Notes = &phone, &notes
		o.InvoiceDetails = &order.InvoiceDetails{VATNumber: "000000000", Article39Eligible: false}
		o.CreatedAt = time.Date(1969, 12, 31, 23, 0, n%60, 0, time.UTC)
		o.UpdatedAt = Now
	}
	if n%7 == 0 {
		o.LegacyID = 1<<60 + merchantID*1000 + int64(n)
	}
	return order.Incoming{Order: o, Digest: sha256.Sum256([]byte(o.Reference))}
}

// Fill puts into an empty installation all that there can be: so many orders of
// Alpha, fewer of Beta, in several states, invoice files active, withdrawn and
// purged, places reserved, given up and given back, answers kept, and tokens of
// all kinds.
func (in *Installation) Fill(t testing.TB, orders int) {
	t.Helper()
	for _, merchant := range []int64{Alpha, Beta, Gamma} {
		if err := in.Orders.AddMerchant(t.Context(), merchant, fmt.Sprintf("Μαγαζί %d", merchant)); err != nil {
			t.Fatal(err)
		}
	}
	in.Add(t, Alpha, 0, orders)
	in.Add(t, Beta, 0, orders/10+4)
	for _, merchant := range []int64{Alpha, Beta} {
		in.Delete(t, merchant, 2, in.Upload(t, merchant, 2, "b.jpg", "purged"))
	}
	if _, err := in.Orders.PurgeDeletedFiles(t.Context(), Now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, merchant := range []int64{Alpha, Beta} {
		in.live(t, merchant)
	}
	in.addTokens(t)
}

// Import takes in the orders of a merchant from one to before another.
func (in *Installation) Add(t testing.TB, merchantID int64, from, to int) {
	t.Helper()
	for from < to {
		var batch []order.Incoming
		for ; from < to && len(batch) < 100; from++ {
			batch = append(batch, Incoming(merchantID, from))
		}
		outcomes, err := in.Orders.Import(t.Context(), batch)
		if err != nil {
			t.Fatal(err)
		}
		for _, outcome := range outcomes {
			if outcome.Status != order.Created {
				t.Fatalf("order is %v: %s", outcome.Status, outcome.Reason)
			}
		}
	}
}

// live does with the first orders of a merchant what merchants and the service
// itself do.
func (in *Installation) live(t testing.TB, merchantID int64) {
	t.Helper()
	key := func(n int) order.Identifier { return order.ByReference(Reference(merchantID, n)) }
	_, acceptErr := in.Orders.Accept(t.Context(), merchantID, key(0), attempt("accept"))
	_, rejectErr := in.Orders.Reject(t.Context(), merchantID, key(1), order.Reason("out-of-stock"), attempt("reject"))
	if err := errors.Join(acceptErr, rejectErr); err != nil {
		t.Fatal(err)
	}
	in.Upload(t, merchantID, 0, "a.pdf", "first of "+Reference(merchantID, 0))
	in.Upload(t, merchantID, 0, "τιμολόγιο Νο 5?.PNG", "second")
	in.Delete(t, merchantID, 0, in.Upload(t, merchantID, 0, "a.pdf", "withdrawn"))
	in.Reserve(t, merchantID, 3, "on its way.pdf")
	given := in.Reserve(t, merchantID, 3, "given up.pdf")
	if _, err := in.DB.ExpireReservation(t.Context(), given, Now); err != nil {
		t.Fatal(err)
	}
}

// attempt is one under a key of its own.
func attempt(key string) order.WriteOptions {
	return order.WriteOptions{
		IdempotencyKey: key, RequestDigest: sha256.Sum256([]byte(key)),
		Response: func(order.WriteResult, error) ([]byte, error) { return []byte("answer to " + key), nil },
	}
}

// Upload stores an invoice file for the nth order and returns its id.
func (in *Installation) Upload(t testing.TB, merchantID int64, n int, name, content string) int64 {
	t.Helper()
	draft, err := in.Orders.StageFile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer draft.Abort()
	if _, err := draft.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	done, err := in.Orders.Upload(t.Context(), merchantID, order.ByReference(Reference(merchantID, n)), name,
		order.Content{Staged: draft, Size: int64(len(content)), SHA256: sha256.Sum256([]byte(content))}, order.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return done.Invoice.ID
}

// Delete withdraws an invoice file of the nth order.
func (in *Installation) Delete(t testing.TB, merchantID int64, n int, id int64) {
	t.Helper()
	_, err := in.Orders.DeleteInvoice(t.Context(), merchantID, order.ByReference(Reference(merchantID, n)), id, order.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// Reserve takes a place for a file of the nth order that never comes.
func (in *Installation) Reserve(t testing.TB, merchantID int64, n int, name string) order.StoredInvoice {
	t.Helper()
	var reserved order.StoredInvoice
	err := in.DB.InTx(t.Context(), func(tx order.Tx) error {
		head, err := tx.LockOrder(t.Context(), merchantID, order.ByReference(Reference(merchantID, n)))
		if err != nil {
			return err
		}
		reserved = order.StoredInvoice{MerchantID: merchantID, OrderLegacyID: head.LegacyID, Reference: head.Reference, Name: name}
		reserved.ID, err = tx.ReserveInvoice(t.Context(), head, order.Invoice{Name: name, Size: 1, CreatedAt: Now})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return reserved
}

func (in *Installation) addTokens(t testing.TB) {
	t.Helper()
	_, kept, err := in.Tokens.Create(t.Context(), Alpha, token.AllScopes, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, ended, err := in.Tokens.Create(t.Context(), Beta, token.AllScopes, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = in.Tokens.CreateOperator(t.Context(), time.Hour)
	err = errors.Join(err, in.DB.RevokeToken(t.Context(), ended.ID, Now),
		in.DB.RecordTokenUse(t.Context(), map[int64]time.Time{kept.ID: Now.Add(time.Minute)}))
	if err != nil {
		t.Fatal(err)
	}
}
