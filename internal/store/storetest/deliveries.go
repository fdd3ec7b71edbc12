package storetest

import (
	"fmt"
	"time"

	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// testOrderDeliveries has deliveries of two orders and of another merchant's order,
// whose events have the same numbers.
func testOrderDeliveries(f *fixture) {
	first, second, theirs := f.create(minimal(alpha, "R")), f.create(minimal(alpha, "S")), f.create(minimal(beta, "T"))
	f.upload(f.a, order.ByLegacyID(first), "a.pdf") // event 3
	one, other := f.addWebhook(sampleEndpoint(alpha)), f.addWebhook(sampleEndpoint(alpha))
	foreign := f.addWebhook(sampleEndpoint(beta))
	deliver := func(e webhook.Endpoint, event int64, after time.Duration) webhook.OrderDelivery {
		f.Helper()
		at := noon.Add(after)
		lease := testenv.Of(f.a.BorrowWebhook(f.Context(), e.Key, at, at.Add(time.Second))).Must(f)
		d := webhook.OrderDelivery{WebhookID: e.ID, Delivery: webhook.Delivery{
			At: at, MessageID: "msg", Event: event, Type: "order.created",
			Result: webhook.Result{Status: 500, Error: "status", Took: 12 * time.Millisecond, Response: "ναι"},
		}}
		testenv.NoError(f, f.a.SaveProgress(f.Context(), lease, webhook.Progress{State: webhook.Active}, &d.Delivery))
		return d
	}
	deliver(one, 0, 0) // a test
	failed := deliver(one, 1, 2*time.Second)
	repeated := deliver(one, 1, 2*time.Second)
	ofSecond := deliver(one, 2, 3*time.Second)
	uploaded := deliver(one, 3, 4*time.Second)
	toOther := deliver(other, 1, time.Second)
	ofTheirs := deliver(foreign, 1, time.Second)
	for _, test := range []struct {
		merchantID, legacyID int64
		limit                int
		want                 []webhook.OrderDelivery
	}{
		{alpha, first, 9, []webhook.OrderDelivery{uploaded, repeated, failed, toOther}},
		{alpha, first, 2, []webhook.OrderDelivery{uploaded, repeated}},
		{alpha, second, 9, []webhook.OrderDelivery{ofSecond}},
		{beta, theirs, 9, []webhook.OrderDelivery{ofTheirs}},
		{beta, first, 9, nil},
	} {
		testenv.Of(f.b.OrderDeliveries(f.Context(), test.merchantID, test.legacyID, test.limit)).Want(f, fmt.Sprintf("order %d of merchant %d", test.legacyID, test.merchantID), test.want)
	}
}
