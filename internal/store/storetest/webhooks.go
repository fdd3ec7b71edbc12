package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

var webhookSubjects = []subject{
	{"webhooks/a whole life", testWebhookLife},
	{"webhooks/limit", testWebhookLimit},
	{"webhooks/e-mail addresses", testAddresses},
	{"webhooks/due", testWebhookDue},
	{"webhooks/lease", testWebhookLease},
	{"webhooks/progress", testWebhookProgress},
	{"webhooks/change during a lease", testWebhookChanged},
	{"webhooks/suspension during a lease", testWebhookSuspended},
	{"webhooks/delivery log", testWebhookDeliveries},
	{"webhooks/deliveries of an order", testOrderDeliveries},
}

// sampleEndpoint returns an endpoint with all fields set.
func sampleEndpoint(merchantID int64) webhook.Endpoint {
	return webhook.Endpoint{
		Key: webhook.Key{MerchantID: merchantID}, URL: "https://hooks.example.com/a?b=c", Description: "Λογιστήριο",
		Types: webhook.NewTypes(order.OrderCreated, order.InvoiceDeleted), CreatedAt: noon,
		Access: webhook.Access{Headers: map[string]webhook.Credential{"X-Api-Key": "k\"1", "Authorization": "Bearer b"}, Username: "u", Password: "p"},
		Secret: "whsec_new", OldSecret: "whsec_old", OldSecretUntil: noon.Add(time.Hour),
		State: webhook.Active, StateSet: noon.Add(time.Second), Acknowledged: order.MarketCursor{},
	}
}

func (f *fixture) addWebhook(e webhook.Endpoint) webhook.Endpoint {
	f.Helper()
	testenv.NoError(f, f.a.InWebhookTx(f.Context(), func(tx webhook.Tx) (err error) {
		e.ID, err = tx.AddWebhook(f.Context(), e)
		return err
	}))
	return e
}

func (f *fixture) expectWebhook(want webhook.Endpoint) {
	f.Helper()
	testenv.Of(f.b.Webhook(f.Context(), want.Key)).Want(f, "webhook", want)
}

func testWebhookLife(f *fixture) {
	e := f.addWebhook(sampleEndpoint(alpha))
	other := f.addWebhook(webhook.Endpoint{Key: webhook.Key{MerchantID: beta}, URL: "https://b.example", CreatedAt: noon, Secret: "s", State: webhook.Disabled})
	market := sampleEndpoint(webhook.Marketplace)
	market.Acknowledged = order.MarketCursor{History: 1, Position: 2, MerchantID: alpha, Seq: 3, Nonce: 4}
	market = f.addWebhook(market)
	f.expectWebhook(e)
	f.expectWebhook(other)
	f.expectWebhook(market)
	for merchantID, want := range map[int64][]webhook.Endpoint{alpha: {e}, beta: {other}, webhook.Marketplace: {market}, 404: nil} {
		testenv.Of(f.b.Webhooks(f.Context(), merchantID, false)).Want(f, fmt.Sprintf("webhooks of %d", merchantID), want, cmpopts.EquateEmpty())
	}
	foreign := webhook.Key{MerchantID: beta, ID: e.ID}
	err := f.a.InWebhookTx(f.Context(), func(tx webhook.Tx) error {
		if _, err := tx.LockWebhook(f.Context(), foreign); !errors.Is(err, webhook.ErrNotFound) {
			return fmt.Errorf("lock of another merchant's webhook: %w", err)
		}
		locked, err := tx.LockWebhook(f.Context(), e.Key)
		if err != nil {
			return err
		}
		e = locked
		e.URL, e.Description, e.Types, e.Secret, e.OldSecret, e.OldSecretUntil = "https://c.example", "", 0, "whsec_3", "", time.Time{}
		e.Orders, e.Access = true, webhook.Access{Headers: map[string]webhook.Credential{"X-Two": "2"}}
		e.State, e.Reason, e.StateSet = webhook.Failed, "gone", noon.Add(time.Hour)
		e.Acknowledged.Seq, e.Failures, e.FailingSince, e.NextAttempt = 7, 3, noon, noon.Add(time.Minute)
		e.Held = []webhook.Held{{MerchantID: beta, Event: 2, Failures: 2, FailingSince: noon, NextAttempt: noon.Add(time.Minute)}, {MerchantID: alpha, Event: 3, NextAttempt: noon.Add(time.Hour)}}
		if err := tx.UpdateWebhook(f.Context(), e); err != nil {
			return err
		}
		return tx.Audit(f.Context(), order.AuditEntry{MerchantID: alpha, At: noon, Action: webhook.AuditChanged, By: order.Caller{Actor: order.ActorMerchant}, SubjectID: e.ID})
	})
	testenv.NoError(f, err)
	f.expectWebhook(e)
	remove := func(key webhook.Key) error {
		return f.a.InWebhookTx(f.Context(), func(tx webhook.Tx) error { return tx.RemoveWebhook(f.Context(), key) })
	}
	testenv.Equal(f, "remove another merchant's webhook", webhook.ErrNotFound, remove(foreign))
	testenv.NoError(f, remove(e.Key))
	testenv.Of(f.b.Webhook(f.Context(), e.Key)).WantError(f, "after the removal", webhook.ErrNotFound)
}

// expectLinks checks which audit entries count as links to e-mail addresses.
func (f *fixture) expectLinks() {
	f.Helper()
	earlier := noon.Add(-time.Hour)
	err := f.a.InWebhookTx(f.Context(), func(tx webhook.Tx) error {
		for _, e := range []order.AuditEntry{
			{MerchantID: alpha, At: noon, Action: webhook.AuditMailAdded, Detail: "address=1"}, {MerchantID: alpha, At: noon, Action: webhook.AuditMailLink, Detail: "address=1 by=admin"},
			{MerchantID: alpha, At: noon, Action: webhook.AuditMailAdded, Detail: "address=2"}, {MerchantID: alpha, At: noon, Action: webhook.AuditMailRemoved, Detail: "address=1"},
			{MerchantID: alpha, At: noon, Action: webhook.AuditMailNotSent, Detail: "address=1 error=server"}, {MerchantID: alpha, At: noon, Action: webhook.AuditMailNotSent, Detail: "address=2 error=timeout"},
			{MerchantID: alpha, At: earlier, Action: webhook.AuditMailAdded, Detail: "address=1"}, {MerchantID: beta, At: noon, Action: webhook.AuditMailAdded, Detail: "address=1"},
		} {
			if err := tx.Audit(f.Context(), e); err != nil {
				return err
			}
		}
		return nil
	})
	testenv.NoError(f, err)
	var got webhook.Links
	err = f.b.InWebhookTx(f.Context(), func(tx webhook.Tx) (err error) {
		got, err = tx.Links(f.Context(), alpha, "address=1", earlier)
		return err
	})
	testenv.Equal(f, fmt.Sprint("links, error ", err), webhook.Links{ToAddress: 2, All: 3, ToAddressFailed: 1, Failed: 2}, got)
}

// testAddresses adds e-mail addresses of the same merchant as a webhook: neither is taken
// for the other.
func testAddresses(f *fixture) {
	hook := f.addWebhook(sampleEndpoint(alpha))
	e := webhook.Endpoint{
		Key: webhook.Key{MerchantID: alpha, Mail: true}, URL: "a@example.com", Types: webhook.NewTypes(order.OrderCreated), CreatedAt: noon, Secret: "s", State: webhook.Pending,
		Language: "el", Every: time.Hour, SentAt: noon.Add(-time.Minute), LinkHash: "h", LinkUntil: noon.Add(48 * time.Hour),
	}
	add := func(e webhook.Endpoint) error {
		return f.a.InWebhookTx(f.Context(), func(tx webhook.Tx) error {
			_, err := tx.AddWebhook(f.Context(), e)
			return err
		})
	}
	first := f.addWebhook(e)
	testenv.Equal(f, "an address twice", webhook.ErrAddressExists, add(e))
	f.expectWebhook(first)
	f.expectLinks()
	for _, key := range []webhook.Key{{MerchantID: alpha, ID: first.ID}, {MerchantID: alpha, ID: hook.ID, Mail: true}, {MerchantID: beta, ID: first.ID, Mail: true}} {
		testenv.Of(f.b.Webhook(f.Context(), key)).WantError(f, fmt.Sprintf("%+v", key), webhook.ErrNotFound)
	}
	for mail, want := range map[bool]webhook.Endpoint{true: first, false: hook} {
		testenv.Of(f.b.Webhooks(f.Context(), alpha, mail)).Want(f, fmt.Sprintf("mail %t", mail), []webhook.Endpoint{want})
	}
	testenv.Of(f.b.WebhookPage(f.Context(), 0, 0, 10)).Want(f, "page", []webhook.Endpoint{hook})
	first.State, first.LinkHash, first.LinkUntil = webhook.Active, "", time.Time{}
	testenv.NoError(f, f.a.InWebhookTx(f.Context(), func(tx webhook.Tx) error { return tx.UpdateWebhook(f.Context(), first) }))
	f.expectWebhook(first)
	f.create(minimal(alpha, "R"))
	f.expectDue("an address", alpha, noon, webhook.Due{Key: hook.Key}, webhook.Due{Key: first.Key})
	lease := testenv.Of(f.a.LeaseWebhook(f.Context(), first.Key, noon, noon.Add(time.Minute))).Must(f)
	first.Acknowledged.Seq, first.SentAt, first.DigestEnd = 1, noon, 2
	p := webhook.Progress{Acknowledged: first.Acknowledged, State: webhook.Active, SentAt: noon, DigestEnd: 2}
	testenv.NoError(f, f.a.SaveProgress(f.Context(), lease, p, nil))
	f.expectWebhook(first)
	last, err := f.b.LastMail(f.Context())
	testenv.Equal(f, fmt.Sprint("the last e-mail, error ", err), noon, last)
	for i := range webhook.MaxAddresses - 1 {
		e.URL = fmt.Sprint(i, "@example.com")
		testenv.NoError(f, add(e))
	}
	if e.URL = "one@more.example"; !errors.Is(add(e), webhook.ErrTooMany) {
		f.Error("more addresses than allowed")
	}
}

// testWebhookLimit adds endpoints at the same time: no more than allowed exist.
func testWebhookLimit(f *fixture) {
	var added, refused atomic.Int64
	var adding sync.WaitGroup
	for i := range webhook.MaxEndpoints + 4 {
		adding.Go(func() {
			err := []Store{f.a, f.b}[i%2].InWebhookTx(f.Context(), func(tx webhook.Tx) error {
				_, err := tx.AddWebhook(f.Context(), sampleEndpoint(alpha))
				return err
			})
			switch {
			case err == nil:
				added.Add(1)
			case errors.Is(err, webhook.ErrTooMany):
				refused.Add(1)
			default:
				f.Errorf("add: %v", err)
			}
		})
	}
	adding.Wait()
	if added.Load() != webhook.MaxEndpoints || refused.Load() != 4 {
		f.Errorf("%d endpoints added, %d refused", added.Load(), refused.Load())
	}
	testenv.Equal(f, "unknown merchant", webhook.ErrNoMerchant, f.a.InWebhookTx(f.Context(), func(tx webhook.Tx) error {
		_, err := tx.NewestEvent(f.Context(), 404)
		return err
	}))
}

// anyMerchant stands for all merchants in expectDue.
const anyMerchant = -1

func (f *fixture) expectDue(when string, merchantID int64, at time.Time, want ...webhook.Due) {
	f.Helper()
	of := &merchantID
	if merchantID == anyMerchant {
		of = nil
	}
	testenv.Of(f.b.DueWebhooks(f.Context(), of, at)).Want(f, when+": due", want, cmpopts.EquateEmpty(), cmpopts.SortSlices(func(a, b webhook.Due) bool { return a.ID < b.ID }))
}

func testWebhookDue(f *fixture) {
	idle := f.addWebhook(sampleEndpoint(alpha))
	f.expectDue("no events", anyMerchant, noon)
	f.create(minimal(alpha, "R"))
	f.create(minimal(beta, "S"))
	first := webhook.Due{Key: idle.Key}
	f.expectDue("an event", anyMerchant, noon, first)
	f.expectDue("an event of the merchant", alpha, noon, first)
	f.expectDue("another merchant", beta, noon)
	e := sampleEndpoint(beta)
	e.State, e.NextAttempt, e.Failures = webhook.Failing, noon.Add(time.Minute), 2
	waiting := f.addWebhook(e)
	e = sampleEndpoint(beta)
	e.State = webhook.Disabled
	f.addWebhook(e)
	e = sampleEndpoint(beta)
	e.Acknowledged.Seq = 1
	f.addWebhook(e)
	f.expectDue("before the pause is over", anyMerchant, noon.Add(59*time.Second), first)
	f.expectDue("after the pause", anyMerchant, noon.Add(time.Minute), first, webhook.Due{Key: waiting.Key, Failing: true})
	f.suspend("5")
	f.expectDue("the merchant is suspended", anyMerchant, noon)
	f.suspend("NULL")
	f.expectDue("the merchant is resumed", anyMerchant, noon, first)
	testenv.Of(f.b.LeaseWebhook(f.Context(), waiting.Key, noon.Add(time.Minute), noon.Add(time.Hour))).Must(f)
	f.expectMarketDue()
	merchants, err := f.b.WebhookMerchants(f.Context())
	if err != nil || len(merchants) != 2 {
		f.Errorf("merchants with webhooks: %v, %v", merchants, err)
	}
}

// expectMarketDue adds an endpoint of the marketplace that has acknowledged all events and
// one whose cursor is of another history, and then an event.
func (f *fixture) expectMarketDue() {
	f.Helper()
	end, err := f.a.MarketEnd(f.Context())
	if errors.Is(err, order.ErrOnCluster) {
		return
	}
	testenv.NoError(f, err)
	e := sampleEndpoint(webhook.Marketplace)
	e.Acknowledged = end.Cursor
	idle := webhook.Due{Key: f.addWebhook(e).Key}
	e.Acknowledged.History++
	lost := f.addWebhook(e)
	f.expectDue("the marketplace, no event", webhook.Marketplace, noon, webhook.Due{Key: lost.Key})
	lease := testenv.Of(f.a.LeaseWebhook(f.Context(), idle.Key, noon, noon.Add(time.Minute))).Must(f)
	progress := webhook.Progress{Acknowledged: end.Cursor, State: webhook.Active, Held: []webhook.Held{{MerchantID: beta, Event: 1, NextAttempt: noon.Add(time.Second)}}}
	testenv.NoError(f, f.a.SaveProgress(f.Context(), lease, progress, nil))
	f.expectDue("the marketplace, a merchant is held", webhook.Marketplace, noon, webhook.Due{Key: lost.Key})
	f.expectDue("the marketplace, a held merchant is due", webhook.Marketplace, noon.Add(time.Second), webhook.Due{Key: idle.Key}, webhook.Due{Key: lost.Key})
	f.create(minimal(beta, "T"))
	testenv.Eventually(f, "an event of any merchant is due", func() bool {
		due, err := f.b.DueWebhooks(f.Context(), new(int64(webhook.Marketplace)), noon)
		return err == nil && len(due) == 2 && (due[0] == idle || due[1] == idle)
	})
	for _, key := range []webhook.Key{idle.Key, lost.Key} {
		testenv.NoError(f, f.a.InWebhookTx(f.Context(), func(tx webhook.Tx) error { return tx.RemoveWebhook(f.Context(), key) }))
	}
}

func testWebhookLease(f *fixture) {
	e := f.addWebhook(sampleEndpoint(alpha))
	f.create(minimal(alpha, "R"))
	until := noon.Add(20 * time.Second)
	lease, err := f.a.LeaseWebhook(f.Context(), e.Key, noon, until)
	if diff := cmp.Diff(webhook.Lease{Endpoint: e, Number: 1}, lease); err != nil || diff != "" {
		f.Fatalf("lease: error %v (-want +got):\n%s", err, diff)
	}
	f.expectDue("during the lease", anyMerchant, until.Add(-time.Second))
	for _, at := range []time.Time{noon, until.Add(-time.Second)} {
		testenv.Of(f.b.LeaseWebhook(f.Context(), e.Key, at, until)).WantError(f, "lease while another has it", webhook.ErrNotDue)
		testenv.Of(f.b.BorrowWebhook(f.Context(), e.Key, at, until)).WantError(f, "borrow while another has the lease", webhook.ErrNotDue)
	}
	f.expectDue("after the lease", anyMerchant, until, webhook.Due{Key: e.Key})
	second, err := f.b.LeaseWebhook(f.Context(), e.Key, until, until.Add(20*time.Second))
	if err != nil || second.Number != 2 {
		f.Fatalf("lease after the end: %+v, %v", second, err)
	}
	// The first holder comes back: it can neither move the cursor nor end the lease.
	p := webhook.Progress{Acknowledged: order.MarketCursor{Seq: 1}, State: webhook.Active}
	testenv.Equal(f, "progress of a lost lease", webhook.ErrLeaseLost, f.a.SaveProgress(f.Context(), lease, p, nil))
	testenv.NoError(f, f.a.ReleaseWebhook(f.Context(), lease))
	f.expectDue("after the release of a lost lease", anyMerchant, until)
	testenv.NoError(f, f.b.ReleaseWebhook(f.Context(), second))
	f.expectDue("after the release", anyMerchant, until, webhook.Due{Key: e.Key})
	testenv.Of(f.a.LeaseWebhook(f.Context(), e.Key, noon, until)).Must(f)
	testenv.NoError(f, f.b.ReleaseWebhooks(f.Context()))
	f.expectDue("after all were released", anyMerchant, noon, webhook.Due{Key: e.Key})
	disabled := sampleEndpoint(alpha)
	disabled.State = webhook.Disabled
	disabled = f.addWebhook(disabled)
	testenv.Of(f.a.LeaseWebhook(f.Context(), disabled.Key, noon, until)).WantError(f, "lease of a disabled endpoint", webhook.ErrNotDue)
	testenv.Of(f.a.BorrowWebhook(f.Context(), disabled.Key, noon, until)).Must(f)
	testenv.Of(f.a.LeaseWebhook(f.Context(), webhook.Key{MerchantID: alpha, ID: 404}, noon, until)).WantError(f, "lease of no endpoint", webhook.ErrNotFound)
}

func testWebhookProgress(f *fixture) {
	e := f.addWebhook(sampleEndpoint(alpha))
	f.create(minimal(alpha, "R"))
	f.create(minimal(alpha, "S"))
	lease := testenv.Of(f.a.LeaseWebhook(f.Context(), e.Key, noon, noon.Add(time.Minute))).Must(f)
	at := noon.Add(time.Second)
	p := webhook.Progress{Acknowledged: order.MarketCursor{Seq: 1}, State: webhook.Active, StateSet: e.StateSet, LeaseUntil: noon.Add(time.Hour)}
	testenv.NoError(f, f.a.SaveProgress(f.Context(), lease, p, nil))
	e.Acknowledged.Seq = 1
	f.expectWebhook(e)
	f.expectDue("the lease was extended", anyMerchant, noon.Add(30*time.Minute))
	testenv.Equal(f, "progress from an old cursor", webhook.ErrLeaseLost, f.a.SaveProgress(f.Context(), lease, p, nil))
	lease.Endpoint = e
	failed := webhook.Progress{
		Acknowledged: order.MarketCursor{Seq: 1}, State: webhook.Failed, Reason: "gone", StateSet: at, Failures: 2, FailingSince: at, NextAttempt: at,
		Held: []webhook.Held{{MerchantID: beta, Event: 2, Failures: 2, FailingSince: at, NextAttempt: at}}, Failure: failure(e.Key, at),
	}
	testenv.NoError(f, f.a.SaveProgress(f.Context(), lease, failed, nil))
	e.Held = failed.Held
	e.State, e.Reason, e.StateSet, e.Failures, e.FailingSince, e.NextAttempt = webhook.Failed, "gone", at, 2, at, at
	f.expectWebhook(e)
	testenv.Equal(f, "progress of an endpoint whose state has changed", webhook.ErrLeaseLost, f.a.SaveProgress(f.Context(), lease, p, nil))
	testenv.Equal(f, "a second failure of one lease", webhook.ErrLeaseLost, f.a.SaveProgress(f.Context(), lease, failed, nil))
	// The event is the only one of the failure, and no order has it.
	f.expectFeed(2, 10, []order.EventRecord{{Event: order.Event{
		Seq: 3, Type: order.WebhookFailed, By: order.Caller{Actor: order.ActorSystem}, At: at, Reason: "gone", WebhookID: e.ID,
	}}})
	if log := f.auditLog(order.AuditQuery{MerchantID: &e.MerchantID, Limit: 1}); len(log) == 0 ||
		log[0].Action != webhook.AuditFailed || log[0].SubjectID != e.ID || log[0].Reference != "" {
		f.Errorf("the newest audit entry is %+v", log)
	}
}

// suspend suspends the merchant alpha at a time, or resumes it for "NULL".
func (f *fixture) suspend(at string) {
	f.Helper()
	testenv.Of(f.tables.sql.ExecContext(f.Context(), "UPDATE merchants SET suspended_at = "+at+" WHERE id = 355")).Must(f)
}

// testWebhookChanged changes an endpoint during a lease: the holder can add a delivery to
// the log and end the lease, and change nothing else.
func testWebhookChanged(f *fixture) {
	e := f.addWebhook(sampleEndpoint(alpha))
	lease := testenv.Of(f.a.LeaseWebhook(f.Context(), e.Key, noon, noon.Add(time.Minute))).Must(f)
	e.Description = "changed"
	testenv.NoError(f, f.b.InWebhookTx(f.Context(), func(tx webhook.Tx) error { return tx.UpdateWebhook(f.Context(), e) }))
	p := webhook.Progress{State: webhook.Failed, Reason: "gone", Failures: 1, Failure: failure(e.Key, noon)}
	d := webhook.Delivery{At: noon, MessageID: "msg", Event: 1, Type: "order.created", Result: webhook.Result{Error: webhook.ErrorTimeout}}
	if err := f.a.SaveProgress(f.Context(), lease, p, &d); !errors.Is(err, webhook.ErrLeaseLost) || d.ID != 1 {
		f.Errorf("progress after a change: %v, delivery %d", err, d.ID)
	}
	testenv.Equal(f, "progress without a delivery after a change", webhook.ErrLeaseLost, f.a.SaveProgress(f.Context(), lease, p, nil))
	f.expectWebhook(e)
	if log, err := f.b.WebhookDeliveries(f.Context(), e.Key, 1<<62, 10); err != nil || len(log) != 1 || log[0] != d {
		f.Errorf("delivery log: %+v, %v", log, err)
	}
	f.expectFeed(0, 10, []order.EventRecord{})
	testenv.Of(f.b.BorrowWebhook(f.Context(), e.Key, noon, noon.Add(time.Minute))).WantError(f, "the change has ended the lease", webhook.ErrNotDue)
	testenv.NoError(f, f.a.ReleaseWebhook(f.Context(), lease))
	if next, err := f.b.LeaseWebhook(f.Context(), e.Key, noon, noon.Add(time.Minute)); err != nil || !cmp.Equal(next.Endpoint, e) {
		f.Errorf("the next lease: %+v, %v", next, err)
	}
}

// testWebhookSuspended suspends a merchant during a lease: the holder saves what it has
// done and has to stop.
func testWebhookSuspended(f *fixture) {
	e := f.addWebhook(sampleEndpoint(alpha))
	f.create(minimal(alpha, "R"))
	lease := testenv.Of(f.a.LeaseWebhook(f.Context(), e.Key, noon, noon.Add(time.Minute))).Must(f)
	f.suspend("5")
	p := webhook.Progress{Acknowledged: order.MarketCursor{Seq: 1}, State: webhook.Active, StateSet: e.StateSet}
	testenv.Equal(f, "progress after a suspension", webhook.ErrLeaseLost, f.a.SaveProgress(f.Context(), lease, p, nil))
	e.Acknowledged.Seq = 1
	f.expectWebhook(e)
	testenv.Of(f.a.LeaseWebhook(f.Context(), e.Key, noon, noon.Add(time.Minute))).WantError(f, "lease of a suspended merchant's endpoint", webhook.ErrNotDue)
	f.suspend("NULL")
	testenv.Of(f.a.LeaseWebhook(f.Context(), e.Key, noon, noon.Add(time.Minute))).Must(f)
}

// failure is what is recorded of an endpoint that the service disables.
func failure(key webhook.Key, at time.Time) *webhook.Failure {
	failure := &webhook.Failure{
		Audit: order.AuditEntry{MerchantID: key.MerchantID, At: at, Action: webhook.AuditFailed, By: order.Caller{Actor: order.ActorSystem}, SubjectID: key.ID},
	}
	if key.MerchantID != webhook.Marketplace {
		failure.Event = order.Event{Type: order.WebhookFailed, By: order.Caller{Actor: order.ActorSystem}, At: at, Reason: "gone", WebhookID: key.ID}
	}
	return failure
}

func testWebhookDeliveries(f *fixture) {
	e, other := f.addWebhook(sampleEndpoint(alpha)), f.addWebhook(sampleEndpoint(alpha))
	sent := func(i int) webhook.Delivery {
		return webhook.Delivery{
			At: noon.Add(time.Duration(i) * time.Second), MessageID: "msg", Event: int64(i), Type: "order.created",
			Result: webhook.Result{Status: 200 + i, Error: "status", Took: 12 * time.Millisecond, Response: "ok ναι"},
		}
	}
	lease := testenv.Of(f.a.BorrowWebhook(f.Context(), e.Key, noon, noon.Add(time.Hour))).Must(f)
	p := webhook.Progress{State: webhook.Active, LeaseUntil: noon.Add(time.Hour)}
	const extra = 3
	for i := range webhook.MaxDeliveries + extra {
		d := sent(i + 1)
		testenv.NoError(f, f.a.SaveProgress(f.Context(), lease, p, &d))
	}
	all, err := f.b.WebhookDeliveries(f.Context(), e.Key, 1<<62, 2*webhook.MaxDeliveries)
	if err != nil || len(all) != webhook.MaxDeliveries {
		f.Fatalf("%d deliveries, %v", len(all), err)
	}
	for i, d := range all {
		want := sent(webhook.MaxDeliveries + extra - i)
		want.ID = want.Event
		if d != want {
			f.Fatalf("delivery %d is %+v, not %+v", i, d, want)
		}
	}
	page, err := f.b.WebhookDeliveries(f.Context(), e.Key, 10, 2)
	if err != nil || len(page) != 2 || page[0].ID != 9 || page[1].ID != 8 {
		f.Errorf("page below 10: %+v, %v", page, err)
	}
	deleted, err := f.b.DeleteWebhookDeliveries(f.Context(), e.Key, noon.Add(10*time.Second))
	if err != nil || deleted != 10-1-extra {
		f.Errorf("%d deliveries deleted, %v", deleted, err)
	}
	if rest, err := f.b.WebhookDeliveries(f.Context(), other.Key, 1<<62, 10); err != nil || len(rest) != 0 {
		f.Errorf("deliveries of another endpoint: %+v, %v", rest, err)
	}
}
