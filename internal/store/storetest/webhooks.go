package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"merchantorders/internal/delivery"
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
		Cursor: delivery.Cursor{
			Key: delivery.Key{MerchantID: merchantID}, Types: delivery.NewTypes(order.OrderCreated, order.InvoiceDeleted), CreatedAt: noon,
			State: delivery.Active, StateSet: noon.Add(time.Second),
		},
		URL: "https://hooks.example.com/a?b=c", Description: "Λογιστήριο",
		Access: webhook.Access{Headers: map[string]delivery.Secret{"X-Api-Key": "k\"1", "Authorization": "Bearer b"}, Username: "u", Password: "p"}, MaxEvents: 7,
		Secret: "whsec_new", OldSecret: "whsec_old", OldSecretUntil: noon.Add(time.Hour),
	}
}

// addWebhook adds sampleEndpoint with changes.
func (f *fixture) addWebhook(merchantID int64, changes ...func(*webhook.Endpoint)) webhook.Endpoint {
	f.Helper()
	e := sampleEndpoint(merchantID)
	for _, change := range changes {
		change(&e)
	}
	testenv.NoError(f, f.a.InWebhookTx(f.Context(), func(tx webhook.Tx) (err error) {
		e.ID, err = tx.Add(f.Context(), e)
		return err
	}))
	return e
}

// lease takes the lease of an endpoint for a minute.
func (f *fixture) lease(key delivery.Key, at time.Time) delivery.Lease {
	f.Helper()
	return testenv.Of(f.a.LeaseEndpoint(f.Context(), key, at, at.Add(time.Minute))).Must(f)
}

// borrow is lease for an endpoint that need not be due.
func (f *fixture) borrow(key delivery.Key, at time.Time) delivery.Lease {
	f.Helper()
	return testenv.Of(f.a.BorrowEndpoint(f.Context(), key, at, at.Add(time.Minute))).Must(f)
}

// lost saves progress under a lease that is lost.
func (f *fixture) lost(what string, lease delivery.Lease, p delivery.Progress) {
	f.Helper()
	testenv.Equal(f, what, delivery.ErrLeaseLost, f.a.SaveProgress(f.Context(), lease, p))
}

func (f *fixture) expectWebhook(want webhook.Endpoint) {
	f.Helper()
	got, err := f.b.Webhook(f.Context(), want.Key)
	testenv.Equal(f, fmt.Sprint("webhook, error ", err), want, got)
}

func testWebhookLife(f *fixture) {
	e := f.addWebhook(alpha)
	other := f.addWebhook(beta, func(e *webhook.Endpoint) {
		*e = webhook.Endpoint{Cursor: delivery.Cursor{Key: e.Key, CreatedAt: noon, State: delivery.Disabled}, URL: "https://b.example", MaxEvents: 1, Secret: "s"}
	})
	market := f.addWebhook(delivery.Marketplace, func(e *webhook.Endpoint) {
		e.Acknowledged = order.MarketCursor{History: 1, Position: 2, MerchantID: alpha, Seq: 3, Nonce: 4}
	})
	for merchantID, want := range map[int64][]webhook.Endpoint{alpha: {e}, beta: {other}, delivery.Marketplace: {market}, 404: nil} {
		got, err := f.b.Webhooks(f.Context(), merchantID)
		testenv.Equal(f, fmt.Sprintf("webhooks of %d, error %v", merchantID, err), want, got, cmpopts.EquateEmpty())
		for _, e := range want {
			f.expectWebhook(e)
		}
	}
	foreign := delivery.Key{MerchantID: beta, ID: e.ID}
	testenv.NoError(f, f.a.InWebhookTx(f.Context(), func(tx webhook.Tx) error {
		_, err := tx.Lock(f.Context(), foreign)
		testenv.Equal(f, "lock another merchant's webhook", delivery.ErrNotFound, err)
		if e, err = tx.Lock(f.Context(), e.Key); err != nil {
			return err
		}
		e.URL, e.Description, e.Types, e.Secret, e.OldSecret, e.OldSecretUntil = "https://c.example", "", 0, "whsec_3", "", time.Time{}
		e.Orders, e.Access = true, webhook.Access{Headers: map[string]delivery.Secret{"X-Two": "2"}}
		e.State, e.Reason, e.StateSet = delivery.Failed, "gone", noon.Add(time.Hour)
		e.Acknowledged.Seq, e.Backoff = 7, delivery.Backoff{Failures: 3, FailingSince: noon, NextAttempt: noon.Add(time.Minute)}
		e.Held = []delivery.Held{{MerchantID: beta, Event: 2, Backoff: e.Backoff}, {MerchantID: alpha, Event: 3, Backoff: delivery.Backoff{NextAttempt: noon.Add(time.Hour)}}}
		return errors.Join(tx.Update(f.Context(), e),
			tx.AppendAudit(f.Context(), order.AuditEntry{MerchantID: alpha, At: noon, Action: webhook.AuditChanged, By: order.Caller{Actor: order.ActorMerchant}, SubjectID: e.ID}))
	}))
	f.expectWebhook(e)
	for key, want := range map[delivery.Key]error{foreign: delivery.ErrNotFound, e.Key: nil} {
		testenv.Equal(f, "remove", want, f.a.InWebhookTx(f.Context(), func(tx webhook.Tx) error { return tx.Remove(f.Context(), key) }))
	}
	_, err := f.b.Webhook(f.Context(), e.Key)
	testenv.Equal(f, "after the removal", delivery.ErrNotFound, err)
}

// testWebhookLimit adds endpoints at the same time: no more than allowed exist.
func testWebhookLimit(f *fixture) {
	var added, refused atomic.Int64
	var adding sync.WaitGroup
	for i := range webhook.MaxEndpoints + 4 {
		adding.Go(func() {
			err := []Store{f.a, f.b}[i%2].InWebhookTx(f.Context(), func(tx webhook.Tx) error {
				_, err := tx.Add(f.Context(), sampleEndpoint(alpha))
				return err
			})
			switch {
			case err == nil:
				added.Add(1)
			case errors.Is(err, delivery.ErrTooMany):
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
	testenv.Equal(f, "unknown merchant", delivery.ErrNoMerchant, f.a.InWebhookTx(f.Context(), func(tx webhook.Tx) error {
		_, err := tx.NewestEvent(f.Context(), 404)
		return err
	}))
}

// anyMerchant stands for all merchants in expectDue.
const anyMerchant = -1

func (f *fixture) expectDue(when string, merchantID int64, at time.Time, want ...delivery.Due) {
	f.Helper()
	of := &merchantID
	if merchantID == anyMerchant {
		of = nil
	}
	got, err := f.b.DueEndpoints(f.Context(), of, at)
	testenv.Equal(f, fmt.Sprintf("due, %s, error %v", when, err), want, got, cmpopts.EquateEmpty(), cmpopts.SortSlices(func(a, b delivery.Due) bool { return a.ID < b.ID }))
}

func testWebhookDue(f *fixture) {
	first := delivery.Due{Key: f.addWebhook(alpha).Key}
	f.expectDue("no events", anyMerchant, noon)
	f.create(minimal(alpha, "R"))
	f.create(minimal(beta, "S"))
	f.expectDue("an event", anyMerchant, noon, first)
	f.expectDue("an event of the merchant", alpha, noon, first)
	f.expectDue("another merchant", beta, noon)
	minute := noon.Add(time.Minute)
	waiting := f.addWebhook(beta, func(e *webhook.Endpoint) {
		e.State, e.NextAttempt, e.Failures = delivery.Failing, minute, 2
	})
	f.addWebhook(beta, func(e *webhook.Endpoint) { e.State = delivery.Disabled })
	f.addWebhook(beta, func(e *webhook.Endpoint) { e.Acknowledged.Seq = 1 })
	f.expectDue("before the pause is over", anyMerchant, noon.Add(59*time.Second), first)
	f.expectDue("after the pause", anyMerchant, minute, first, delivery.Due{Key: waiting.Key, Failing: true})
	f.expectDue("the longest pause", anyMerchant, minute.Add(-delivery.LongestWait), first)
	f.expectDue("a pause of a clock that was ahead", anyMerchant, minute.Add(-delivery.LongestWait-time.Second), first, delivery.Due{Key: waiting.Key, Failing: true})
	testenv.NoError(f, f.a.ReleaseEndpoint(f.Context(), f.lease(waiting.Key, minute.Add(-delivery.LongestWait-time.Second))))
	f.suspend("5")
	f.expectDue("the merchant is suspended", anyMerchant, noon)
	f.suspend("NULL")
	f.expectDue("the merchant is resumed", anyMerchant, noon, first)
	f.lease(waiting.Key, minute)
	f.expectMarketDue()
	testenv.Equal(f, "merchants with webhooks", 2, len(testenv.Of(f.b.EndpointMerchants(f.Context())).Must(f)))
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
	idle := delivery.Due{Key: f.addWebhook(delivery.Marketplace, func(e *webhook.Endpoint) { e.Acknowledged = end.Cursor }).Key}
	lost := delivery.Due{Key: f.addWebhook(delivery.Marketplace, func(e *webhook.Endpoint) {
		e.Acknowledged = end.Cursor
		e.Acknowledged.History++
	}).Key}
	f.expectDue("the marketplace, no event", delivery.Marketplace, noon, lost)
	lease := f.lease(idle.Key, noon)
	p := delivery.Progress{Cursor: lease.Cursor}
	p.Held = []delivery.Held{{MerchantID: beta, Event: 1, Backoff: delivery.Backoff{NextAttempt: noon.Add(time.Second)}}}
	testenv.NoError(f, f.a.SaveProgress(f.Context(), lease, p))
	f.expectDue("the marketplace, a merchant is held", delivery.Marketplace, noon, lost)
	f.expectDue("the marketplace, a held merchant is due", delivery.Marketplace, noon.Add(time.Second), idle, lost)
	f.expectDue("the marketplace, a clock that was ahead has held a merchant", delivery.Marketplace, noon.Add(-delivery.LongestWait), idle, lost)
	f.create(minimal(beta, "T"))
	testenv.Eventually(f, "an event of any merchant is due", func() bool {
		due, err := f.b.DueEndpoints(f.Context(), new(int64(delivery.Marketplace)), noon)
		return err == nil && len(due) == 2 && (due[0] == idle || due[1] == idle)
	})
	for _, due := range []delivery.Due{idle, lost} {
		testenv.NoError(f, f.a.InWebhookTx(f.Context(), func(tx webhook.Tx) error { return tx.Remove(f.Context(), due.Key) }))
	}
}

func testWebhookLease(f *fixture) {
	e := f.addWebhook(alpha)
	f.create(minimal(alpha, "R"))
	until := noon.Add(time.Minute)
	lease := f.lease(e.Key, noon)
	testenv.Equal(f, "lease", delivery.Lease{Cursor: e.Cursor, To: e, Number: 1}, lease)
	f.expectDue("during the lease", anyMerchant, until.Add(-time.Second))
	f.expectDue("a lease of a clock that was ahead", anyMerchant, until.Add(-delivery.LongestWait-time.Second), delivery.Due{Key: e.Key})
	for _, at := range []time.Time{noon, until.Add(-time.Second)} {
		_, err := f.b.LeaseEndpoint(f.Context(), e.Key, at, until)
		_, err2 := f.b.BorrowEndpoint(f.Context(), e.Key, at, until)
		testenv.Equal(f, "lease while another has it", delivery.ErrNotDue, err)
		testenv.Equal(f, "borrow while another has the lease", delivery.ErrNotDue, err2)
	}
	f.expectDue("after the lease", anyMerchant, until, delivery.Due{Key: e.Key})
	second := f.lease(e.Key, until)
	testenv.Equal(f, "number of the second lease", int64(2), second.Number)
	// The first holder comes back: it can neither move the cursor nor end the lease.
	f.lost("progress of a lost lease", lease, delivery.Progress{Cursor: lease.Cursor})
	testenv.NoError(f, f.a.ReleaseEndpoint(f.Context(), lease))
	f.expectDue("after the release of a lost lease", anyMerchant, until)
	testenv.NoError(f, f.b.ReleaseEndpoint(f.Context(), second))
	f.expectDue("after the release", anyMerchant, until, delivery.Due{Key: e.Key})
	f.lease(e.Key, noon)
	testenv.NoError(f, f.b.ReleaseEndpoints(f.Context()))
	f.expectDue("after all were released", anyMerchant, noon, delivery.Due{Key: e.Key})
	disabled := f.addWebhook(alpha, func(e *webhook.Endpoint) { e.State = delivery.Disabled })
	for key, want := range map[delivery.Key]error{disabled.Key: delivery.ErrNotDue, {MerchantID: alpha, ID: 404}: delivery.ErrNotFound} {
		_, err := f.a.LeaseEndpoint(f.Context(), key, noon, until)
		testenv.Equal(f, "lease of a disabled endpoint, or of none", want, err)
	}
	f.borrow(disabled.Key, noon)
}

func testWebhookProgress(f *fixture) {
	e := f.addWebhook(alpha)
	f.create(minimal(alpha, "R"))
	f.create(minimal(alpha, "S"))
	lease, at := f.lease(e.Key, noon), noon.Add(time.Second)
	e.Acknowledged.Seq = 1
	p := delivery.Progress{Cursor: e.Cursor, LeaseUntil: noon.Add(time.Hour)}
	testenv.NoError(f, f.a.SaveProgress(f.Context(), lease, p))
	f.expectWebhook(e)
	f.expectDue("the lease was extended", anyMerchant, noon.Add(30*time.Minute))
	f.lost("progress from an old cursor", lease, p)
	lease.Cursor = e.Cursor
	e.State, e.Reason, e.StateSet, e.Backoff = delivery.Failed, "gone", at, delivery.Backoff{Failures: 2, FailingSince: at, NextAttempt: at}
	e.Held = []delivery.Held{{MerchantID: beta, Event: 2, Backoff: e.Backoff}}
	failed := delivery.Progress{Cursor: e.Cursor, Failure: failure(e.Key, at)}
	testenv.NoError(f, f.a.SaveProgress(f.Context(), lease, failed))
	f.expectWebhook(e)
	f.lost("progress of an endpoint whose state has changed", lease, p)
	f.lost("a second failure of one lease", lease, failed)
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
	e := f.addWebhook(alpha)
	lease := f.lease(e.Key, noon)
	e.Description = "changed"
	testenv.NoError(f, f.b.InWebhookTx(f.Context(), func(tx webhook.Tx) error { return tx.Update(f.Context(), e) }))
	p := delivery.Progress{
		Cursor: delivery.Cursor{State: delivery.Failed, Reason: "gone"}, Failure: failure(e.Key, noon),
		Attempt: &delivery.Attempt{At: noon, MessageID: "msg", Event: 1, Type: "order.created", Result: delivery.Result{Error: delivery.ErrorTimeout}},
	}
	f.lost("progress after a change", lease, p)
	d := *p.Attempt
	d.WebhookID = e.ID
	testenv.Equal(f, "id of the delivery", int64(1), d.ID)
	p.Attempt = nil
	f.lost("progress without a delivery after a change", lease, p)
	f.expectWebhook(e)
	log, err := f.b.WebhookDeliveries(f.Context(), e.Key, 1<<62, 10)
	testenv.Equal(f, fmt.Sprint("delivery log, error ", err), []delivery.Attempt{d}, log)
	f.expectFeed(0, 10, []order.EventRecord{})
	_, err = f.b.BorrowEndpoint(f.Context(), e.Key, noon, noon.Add(time.Minute))
	testenv.Equal(f, "borrow after the change, which does not end the lease", delivery.ErrNotDue, err)
	testenv.NoError(f, f.a.ReleaseEndpoint(f.Context(), lease))
	testenv.Equal[any](f, "the next lease", e, f.lease(e.Key, noon).To)
}

// testWebhookSuspended suspends a merchant during a lease: the holder saves what it has
// done and has to stop.
func testWebhookSuspended(f *fixture) {
	e := f.addWebhook(alpha)
	f.create(minimal(alpha, "R"))
	lease := f.lease(e.Key, noon)
	f.suspend("5")
	e.Acknowledged.Seq = 1
	f.lost("progress after a suspension", lease, delivery.Progress{Cursor: e.Cursor})
	f.expectWebhook(e)
	_, err := f.a.LeaseEndpoint(f.Context(), e.Key, noon, noon.Add(time.Minute))
	testenv.Equal(f, "lease of a suspended merchant's endpoint", delivery.ErrNotDue, err)
	f.suspend("NULL")
	f.lease(e.Key, noon)
}

// failure is what is recorded of an endpoint that the service disables.
func failure(key delivery.Key, at time.Time) *delivery.Failure {
	failure := &delivery.Failure{
		Audit: order.AuditEntry{MerchantID: key.MerchantID, At: at, Action: webhook.AuditFailed, By: order.Caller{Actor: order.ActorSystem}, SubjectID: key.ID},
	}
	if key.MerchantID != delivery.Marketplace {
		failure.Event = order.Event{Type: order.WebhookFailed, By: order.Caller{Actor: order.ActorSystem}, At: at, Reason: "gone", WebhookID: key.ID}
	}
	return failure
}

// attempt returns an attempt to deliver an event.
func attempt(event int64, at time.Time) delivery.Attempt {
	return delivery.Attempt{
		At: at, MessageID: "msg", Event: event, Events: 1, LastEvent: event, Type: "order.created", Result: delivery.Result{Status: 500, Error: "status", Took: 12 * time.Millisecond, Response: "ok ναι"},
	}
}

func testWebhookDeliveries(f *fixture) {
	e, other := f.addWebhook(alpha), f.addWebhook(alpha)
	second := func(i int64) time.Time { return noon.Add(time.Duration(i) * time.Second) }
	lease := f.borrow(e.Key, noon)
	const extra = 3
	for i := range int64(webhook.MaxDeliveries + extra) {
		d := attempt(i+1, second(i+1))
		testenv.NoError(f, f.a.SaveProgress(f.Context(), lease, delivery.Progress{Cursor: lease.Cursor, LeaseUntil: noon.Add(time.Hour), Attempt: &d}))
	}
	all, err := f.b.WebhookDeliveries(f.Context(), e.Key, 1<<62, 2*webhook.MaxDeliveries)
	if err != nil || len(all) != webhook.MaxDeliveries {
		f.Fatalf("%d deliveries, %v", len(all), err)
	}
	for i, d := range all {
		n := webhook.MaxDeliveries + extra - int64(i)
		want := attempt(n, second(n))
		if want.ID, want.WebhookID = n, e.ID; d != want {
			f.Fatalf("delivery %d is %+v, not %+v", i, d, want)
		}
	}
	page, err := f.b.WebhookDeliveries(f.Context(), e.Key, 10, 2)
	if err != nil || len(page) != 2 || page[0].ID != 9 || page[1].ID != 8 {
		f.Errorf("page below 10: %+v, %v", page, err)
	}
	testenv.Of(f.b.DeleteWebhookDeliveries(f.Context(), e.Key, second(10))).Want(f, "deliveries deleted", 10-1-extra)
	testenv.Equal(f, "deliveries of another endpoint", 0, len(testenv.Of(f.b.WebhookDeliveries(f.Context(), other.Key, 1<<62, 10)).Must(f)))
}

// testOrderDeliveries has deliveries of two orders and of another merchant's order, whose
// events have the same numbers. One has several events, of types that its webhook wants.
func testOrderDeliveries(f *fixture) {
	first, second, theirs := f.create(minimal(alpha, "R")), f.create(minimal(alpha, "S")), f.create(minimal(beta, "T"))
	f.upload(f.a, order.ByLegacyID(first), "a.pdf") // event 3
	third := f.create(minimal(alpha, "U"))
	one, other, foreign := f.addWebhook(alpha), f.addWebhook(alpha), f.addWebhook(beta)
	deliver := func(e webhook.Endpoint, event int64, after time.Duration, changes ...func(*delivery.Attempt)) delivery.Attempt {
		f.Helper()
		lease, d := f.borrow(e.Key, noon.Add(after)), attempt(event, noon.Add(after))
		for _, change := range changes {
			change(&d)
		}
		testenv.NoError(f, f.a.SaveProgress(f.Context(), lease, delivery.Progress{Cursor: lease.Cursor, Attempt: &d}))
		d.WebhookID = e.ID
		return d
	}
	deliver(one, 0, 0) // a test
	failed := deliver(one, 1, 2*time.Second)
	repeated := deliver(one, 1, 2*time.Second)
	ofSecond := deliver(one, 2, 3*time.Second)
	uploaded := deliver(one, 3, 4*time.Second)
	toOther := deliver(other, 1, time.Second)
	ofTheirs := deliver(foreign, 1, time.Second)
	batch := deliver(other, 1, 5*time.Second, func(d *delivery.Attempt) { d.Events, d.LastEvent = 2, 3 })
	for _, test := range []struct {
		merchantID, legacyID int64
		limit                int
		want                 []delivery.Attempt
	}{
		{alpha, first, 9, []delivery.Attempt{batch, uploaded, repeated, failed, toOther}},
		{alpha, first, 2, []delivery.Attempt{batch, uploaded}},
		{alpha, second, 9, []delivery.Attempt{batch, ofSecond}},
		{alpha, third, 9, nil},
		{beta, theirs, 9, []delivery.Attempt{ofTheirs}},
		{beta, first, 9, nil},
	} {
		testenv.Of(f.b.OrderDeliveries(f.Context(), test.merchantID, test.legacyID, test.limit)).Want(f, fmt.Sprintf("order %d of merchant %d", test.legacyID, test.merchantID), test.want)
	}
}
