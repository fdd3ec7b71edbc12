package storetest

import (
	"fmt"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/digest"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// testAddresses adds e-mail addresses of the same merchant as a webhook: neither is taken
// for the other.
func testAddresses(f *fixture) {
	hook := f.addWebhook(alpha)
	a := digest.Address{
		Cursor: delivery.Cursor{
			Key: delivery.Key{MerchantID: alpha, Kind: digest.Kind}, Types: delivery.NewTypes(order.OrderCreated), CreatedAt: noon, State: delivery.Pending, SentAt: noon.Add(-time.Minute),
		},
		Email: "a@example.com", Secret: "s", Language: "el", Every: time.Hour, LinkHash: "h", LinkUntil: noon.Add(48 * time.Hour),
	}
	add := func(email string) error {
		return f.a.InAddressTx(f.Context(), func(tx digest.Tx) (err error) {
			next := a
			next.Email = email
			next.ID, err = tx.Add(f.Context(), next)
			if err == nil && a.ID == 0 {
				a = next
			}
			return err
		})
	}
	expect := func() {
		f.Helper()
		got, err := f.b.Addresses(f.Context(), alpha)
		testenv.Equal(f, fmt.Sprint("addresses, error ", err), []digest.Address{a}, got)
	}
	testenv.NoError(f, add(a.Email))
	testenv.Equal(f, "an address twice", digest.ErrAddressExists, add(a.Email))
	expect()
	f.expectLinks()
	for _, key := range []delivery.Key{{MerchantID: alpha, ID: a.ID}, {MerchantID: alpha, ID: hook.ID, Kind: digest.Kind}, {MerchantID: beta, ID: a.ID, Kind: digest.Kind}} {
		_, err := f.b.Webhook(f.Context(), key)
		testenv.Equal(f, fmt.Sprintf("%+v", key), delivery.ErrNotFound, err)
		testenv.Equal(f, fmt.Sprintf("lock %+v", key), delivery.ErrNotFound, f.a.InAddressTx(f.Context(), func(tx digest.Tx) error {
			_, err := tx.Lock(f.Context(), key)
			return err
		}))
	}
	hooks, err := f.b.Webhooks(f.Context(), alpha)
	testenv.Equal(f, fmt.Sprint("webhooks, error ", err), []webhook.Endpoint{hook}, hooks)
	hooks, err = f.b.WebhookPage(f.Context(), 0, 0, 10)
	testenv.Equal(f, fmt.Sprint("page of webhooks, error ", err), []webhook.Endpoint{hook}, hooks)
	a.State, a.LinkHash, a.LinkUntil = delivery.Active, "", time.Time{}
	testenv.NoError(f, f.a.InAddressTx(f.Context(), func(tx digest.Tx) error { return tx.Update(f.Context(), a) }))
	expect()
	f.create(minimal(alpha, "R"))
	f.expectDue("an address", alpha, noon, delivery.Due{Key: hook.Key}, delivery.Due{Key: a.Key})
	lease := f.lease(a.Key, noon)
	testenv.Equal[any](f, "lease", a, lease.To)
	a.Acknowledged.Seq, a.SentAt, a.Batch = 1, noon, 2
	testenv.NoError(f, f.a.SaveProgress(f.Context(), lease, delivery.Progress{Cursor: a.Cursor}))
	expect()
	last, err := f.b.LastMail(f.Context())
	testenv.Equal(f, fmt.Sprint("the last e-mail, error ", err), noon, last)
	for i := range digest.MaxAddresses - 1 {
		testenv.NoError(f, add(fmt.Sprint(i, "@example.com")))
	}
	testenv.Equal(f, "more addresses than allowed", delivery.ErrTooMany, add("one@more.example"))
}

// expectLinks checks which audit entries count as links to e-mail addresses.
func (f *fixture) expectLinks() {
	f.Helper()
	earlier := noon.Add(-time.Hour)
	testenv.NoError(f, f.a.InAddressTx(f.Context(), func(tx digest.Tx) error {
		for _, e := range []order.AuditEntry{
			{MerchantID: alpha, At: noon, Action: digest.AuditAdded, Detail: "address=1"}, {MerchantID: alpha, At: noon, Action: digest.AuditLink, Detail: "address=1 by=admin"},
			{MerchantID: alpha, At: noon, Action: digest.AuditAdded, Detail: "address=2"}, {MerchantID: alpha, At: noon, Action: digest.AuditRemoved, Detail: "address=1"},
			{MerchantID: alpha, At: noon, Action: digest.AuditNotSent, Detail: "address=1 error=server"}, {MerchantID: alpha, At: noon, Action: digest.AuditNotSent, Detail: "address=2 error=timeout"},
			{MerchantID: alpha, At: earlier, Action: digest.AuditAdded, Detail: "address=1"}, {MerchantID: beta, At: noon, Action: digest.AuditAdded, Detail: "address=1"},
		} {
			if err := tx.AppendAudit(f.Context(), e); err != nil {
				return err
			}
		}
		return nil
	}))
	var got digest.Links
	err := f.b.InAddressTx(f.Context(), func(tx digest.Tx) (err error) {
		got, err = tx.Links(f.Context(), alpha, "address=1", earlier)
		return err
	})
	testenv.Equal(f, fmt.Sprint("links, error ", err), digest.Links{ToAddress: 2, All: 3, ToAddressFailed: 1, Failed: 2}, got)
}
