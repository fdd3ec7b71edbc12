package maintenancetest

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/digest"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

// The merchants of a filled installation. Gamma has no orders.
const (
	Alpha int64 = 355
	Beta  int64 = 356
	Gamma int64 = 1 << 40
)

// Reference returns the reference of order n of a merchant; n starts at 0.
func Reference(merchantID int64, n int) string { return fmt.Sprintf("M%d-%d", merchantID, n) }

// Incoming returns order n of a merchant for an import. Every third order has
// invoice details and optional texts, every seventh has a legacy id.
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

// Fill fills an empty installation with rows of every kind: orders of Alpha and
// fewer of Beta in several states, active, soft-deleted, purged, reserved and
// expired invoices, idempotency records, and tokens.
func (in *Installation) Fill(t testing.TB, orders int) {
	t.Helper()
	for _, merchant := range []int64{Alpha, Beta, Gamma} {
		testenv.NoError(t, in.Merchants.Add(t.Context(), order.Command(), merchant, fmt.Sprintf("Μαγαζί %d", merchant), order.Options[order.Merchant]{}))
	}
	in.Import(t, Alpha, 0, orders)
	in.Import(t, Beta, 0, orders/10+4)
	for _, merchant := range []int64{Alpha, Beta} {
		in.Delete(t, merchant, 2, in.Upload(t, merchant, 2, "b.jpg", "purged"))
	}
	testenv.Of(in.Orders.PurgeDeletedFiles(t.Context(), Now.Add(time.Hour))).Must(t)
	for _, merchant := range []int64{Alpha, Beta} {
		in.process(t, merchant)
	}
	in.addTokens(t)
	in.addWebhooks(t)
}

// addWebhooks adds webhooks with a delivery each, and e-mail addresses.
func (in *Installation) addWebhooks(t testing.TB) {
	t.Helper()
	for _, merchantID := range []int64{Alpha, Beta} {
		for range 2 {
			e := webhook.Endpoint{
				Cursor: delivery.Cursor{
					Key: delivery.Key{MerchantID: merchantID}, Types: delivery.NewTypes(order.OrderCreated), CreatedAt: Now, State: delivery.Active, Acknowledged: order.MarketCursor{Seq: 1},
				},
				URL: "https://hooks.example.com/Ω", Secret: "whsec_a", OldSecret: "whsec_b", OldSecretUntil: Now.Add(time.Hour),
			}
			testenv.NoError(t, in.Store.InWebhookTx(t.Context(), func(tx webhook.Tx) (err error) {
				e.ID, err = tx.Add(t.Context(), e)
				return err
			}))
			lease := testenv.Of(in.Store.BorrowEndpoint(t.Context(), e.Key, Now, Now)).Must(t)
			p := delivery.Progress{Cursor: lease.Cursor, Attempt: &delivery.Attempt{
				At: Now, MessageID: "msg", Event: 3, Type: "order.created", Result: delivery.Result{Status: 500, Error: delivery.ErrorStatus, Response: "Σφάλμα"},
			}}
			p.Acknowledged.Seq, p.Backoff = 2, delivery.Backoff{Failures: 1, FailingSince: Now, NextAttempt: Now}
			p.Held = []delivery.Held{{MerchantID: Alpha, Event: 1, Backoff: delivery.Backoff{NextAttempt: Now}}}
			testenv.NoError(t, in.Store.SaveProgress(t.Context(), lease, p))
		}
	}
	for _, merchantID := range []int64{Alpha, Beta} {
		testenv.NoError(t, in.Store.InAddressTx(t.Context(), func(tx digest.Tx) error {
			_, err := tx.Add(t.Context(), digest.Address{
				Cursor: delivery.Cursor{
					Key: delivery.Key{MerchantID: merchantID, Kind: digest.Kind}, Types: delivery.NewTypes(order.OrderCreated), CreatedAt: Now, State: delivery.Pending, SentAt: Now,
				},
				Email: "orders@example.com", Secret: "a", Language: "el", Every: time.Hour, LinkHash: "h", LinkUntil: Now,
			})
			return err
		}))
	}
}

// Import imports the orders from <= n < to of a merchant.
func (in *Installation) Import(t testing.TB, merchantID int64, from, to int) {
	t.Helper()
	for from < to {
		var batch []order.Incoming
		for ; from < to && len(batch) < 100; from++ {
			batch = append(batch, Incoming(merchantID, from))
		}
		results := testenv.Of(in.Orders.Import(t.Context(), order.Command(), batch)).Must(t)
		for _, result := range results {
			if result.Status != order.Created {
				t.Fatalf("order is %v: %s", result.Status, result.Reason)
			}
		}
	}
}

// process accepts and rejects orders of a merchant and changes their invoices.
func (in *Installation) process(t testing.TB, merchantID int64) {
	t.Helper()
	id := func(n int) order.Identifier { return order.ByReference(Reference(merchantID, n)) }
	_, acceptErr := in.Orders.Accept(t.Context(), order.CommandFor(merchantID), id(0), writeOptions("accept"))
	_, rejectErr := in.Orders.Reject(t.Context(), order.CommandFor(merchantID), id(1), order.Reason("out-of-stock"), writeOptions("reject"))
	testenv.NoError(t, errors.Join(acceptErr, rejectErr))
	own := "W/4711 Ω"
	update := order.MerchantDataUpdate{Reference: order.To(&own), Note: order.To(&own)}
	testenv.Of(in.Orders.UpdateMerchantData(t.Context(), order.CommandFor(merchantID), id(1), update, order.Options[order.WriteResult]{})).Must(t)
	first := in.Upload(t, merchantID, 0, "a.pdf", "first of "+Reference(merchantID, 0))
	testenv.Of(in.Links.Add(t.Context(), order.CommandFor(merchantID), id(0), first, order.Options[order.WriteResult]{})).Must(t)
	in.Upload(t, merchantID, 0, "τιμολόγιο Νο 5?.PNG", "second")
	in.Delete(t, merchantID, 0, in.Upload(t, merchantID, 0, "a.pdf", "deleted"))
	in.Reserve(t, merchantID, 3, "on its way.pdf")
	expired := in.Reserve(t, merchantID, 3, "given up.pdf")
	testenv.Of(in.Store.ExpireReservation(t.Context(), expired, Now)).Must(t)
}

// writeOptions returns options with an idempotency key.
func writeOptions(key string) order.Options[order.WriteResult] {
	return order.Options[order.WriteResult]{
		Key:    order.Key{Text: key, Digest: sha256.Sum256([]byte(key))},
		Record: func(order.WriteResult, error) ([]byte, error) { return []byte("response to " + key), nil },
	}
}

// Upload stores an invoice file for order n and returns its id.
func (in *Installation) Upload(t testing.TB, merchantID int64, n int, name, content string) int64 {
	t.Helper()
	staged := testenv.Of(in.Orders.StageFile(t.Context())).Must(t)
	defer staged.Abort()
	testenv.Of(staged.Write([]byte(content))).Must(t)
	result := testenv.Of(in.Orders.Upload(t.Context(), order.CommandFor(merchantID), order.ByReference(Reference(merchantID, n)), name,
		order.Content{Staged: staged, Size: int64(len(content)), SHA256: sha256.Sum256([]byte(content))}, order.Options[order.WriteResult]{})).Must(t)
	return result.Invoice.ID
}

// Delete soft-deletes an invoice of order n.
func (in *Installation) Delete(t testing.TB, merchantID int64, n int, id int64) {
	t.Helper()
	testenv.Of(in.Orders.DeleteInvoice(t.Context(), order.CommandFor(merchantID), order.ByReference(Reference(merchantID, n)), id, order.Options[order.WriteResult]{})).Must(t)
}

// Reserve reserves an invoice for order n, whose file is never uploaded.
func (in *Installation) Reserve(t testing.TB, merchantID int64, n int, name string) order.StoredInvoice {
	t.Helper()
	var reserved order.StoredInvoice
	testenv.NoError(t, in.Store.InTx(t.Context(), func(tx order.Tx) error {
		locked, err := tx.LockOrder(t.Context(), merchantID, order.ByReference(Reference(merchantID, n)))
		if err != nil {
			return err
		}
		reserved = order.StoredInvoice{MerchantID: merchantID, OrderLegacyID: locked.LegacyID, Reference: locked.Reference, Name: name}
		reserved.ID, err = tx.ReserveInvoice(t.Context(), locked, order.Invoice{Name: name, Size: 1, CreatedAt: Now})
		return err
	}))
	return reserved
}

func (in *Installation) addTokens(t testing.TB) {
	t.Helper()
	_, used, err := in.Tokens.Create(t.Context(), Alpha, order.DefaultScopes, 0)
	testenv.NoError(t, err)
	_, revoked, err := in.Tokens.Create(t.Context(), Beta, order.DefaultScopes, time.Hour)
	testenv.NoError(t, err)
	request := token.Request{Operator: true, Scopes: order.OperatorScopes, Expiry: token.Expiry{After: time.Hour}}
	_, err = in.Tokens.Add(t.Context(), order.Command(), request, order.Options[token.Created]{})
	_, revokeErr := in.Tokens.RevokeID(t.Context(), order.Command(), revoked.ID, order.Options[int64]{})
	err = errors.Join(err, revokeErr,
		in.Store.RecordTokenUse(t.Context(), map[int64]token.Use{used.ID: {At: Now.Add(time.Minute), From: netip.MustParseAddr("192.0.2.7")}}))
	testenv.NoError(t, err)
}
