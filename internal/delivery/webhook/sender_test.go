package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"merchantorders/client"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestDelivery delivers to endpoints that fail now and then, with two senders: each gets
// every event in order, once it is acknowledged never again.
func TestDelivery(t *testing.T) {
	t.Parallel()
	r := newReceiver()
	w := openWorld(t, r)
	endpoints := w.addEndpoints(3, 2)
	r.know(endpoints...)
	var posts atomic.Int64
	r.answer = func(context.Context, string, client.Event) webhook.Result {
		if posts.Add(1)%3 == 0 {
			return webhook.Result{Status: 500, Error: webhook.ErrorStatus}
		}
		return webhook.Result{Status: 200}
	}
	w.run(r, nil)
	w.run(r, nil)
	for i := range 4 {
		for m := range int64(3) {
			w.addEvents(m+1, fmt.Sprint("B", i), 10)
		}
	}
	for _, e := range endpoints {
		testenv.Eventually(t, fmt.Sprint("all events of ", e.ID), func() bool { return r.last(e) == 40 })
	}
	for _, e := range endpoints {
		got := r.acked[fmt.Sprint(e.ID)]
		for i, seq := range got {
			if seq != int64(i+1) {
				t.Fatalf("webhook %d has acknowledged %v", e.ID, got)
			}
		}
	}
	if len(r.problems) > 0 {
		t.Error(r.problems)
	}
	key := endpoints[0].Key
	testenv.Eventually(t, "the last progress", func() bool {
		e, err := w.hooks.Get(t.Context(), key)
		return err == nil && e.Acknowledged.Seq == 40
	})
	log, err := w.hooks.Deliveries(t.Context(), key, 1<<62, 200)
	if err != nil || len(log) < 40 || log[0].Event != 40 || log[0].Error != "" {
		t.Errorf("delivery log: %d rows, %v", len(log), err)
	}
}

// TestSkippedTypes checks that events of other types move the cursor without a
// delivery.
// Proves decision 5 (webhooks: deliveries).
func TestSkippedTypes(t *testing.T) {
	t.Parallel()
	r := newReceiver()
	w := openWorld(t, r)
	e := w.addEndpoints(1, 1)[0]
	r.know(e)
	types := webhook.NewTypes(order.OrderStateChanged)
	if _, err := w.hooks.Change(t.Context(), order.CommandFor(1), e.Key, webhook.Change{Types: &types}, order.Options[webhook.Endpoint]{}); err != nil {
		t.Fatal(err)
	}
	w.run(r, nil)
	w.addEvents(1, "A", 150)
	acknowledged := func(n int64) func() bool {
		return func() bool {
			got, err := w.hooks.Get(t.Context(), e.Key)
			return err == nil && got.Acknowledged.Seq == n
		}
	}
	testenv.Eventually(t, "all skipped", acknowledged(150))
	if _, err := w.orders.ChangeOrder(t.Context(), order.Command(), 1, order.ByReference("A-1-0"), order.Update{To: order.Canceled}, order.Options[order.WriteResult]{}); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, "the change of state", acknowledged(151))
	if r.last(e) != 151 || len(r.acked[fmt.Sprint(e.ID)]) != 1 || len(r.problems) > 0 {
		t.Errorf("%v %v", r.acked, r.problems)
	}
}

// TestReplayDuringDelivery sets the cursor back while a request is in flight: its
// acknowledgment does not move it again, and no second request begins meanwhile.
func TestReplayDuringDelivery(t *testing.T) {
	t.Parallel()
	r := newReceiver()
	w := openWorld(t, r)
	e := w.addEndpoints(1, 1)[0]
	r.know(e)
	entered, proceed := make(chan struct{}, 1), make(chan struct{})
	r.answer = func(_ context.Context, _ string, event client.Event) webhook.Result {
		if event.Seq == 5 {
			select {
			case entered <- struct{}{}:
				<-proceed
			default:
			}
		}
		return webhook.Result{Status: 204}
	}
	stop := w.run(r, nil)
	w.addEvents(1, "A", 5)
	<-entered
	if _, err := w.hooks.Replay(t.Context(), order.CommandFor(1), e.Key, order.MarketCursor{Seq: 2}, order.Options[webhook.Endpoint]{}); err != nil {
		t.Fatal(err)
	}
	close(proceed)
	testenv.Eventually(t, "the replay", func() bool {
		got, err := w.hooks.Get(t.Context(), e.Key)
		return err == nil && got.Acknowledged.Seq == 5
	})
	stop()
	if got := r.acked[fmt.Sprint(e.ID)]; !slices.Equal(got, []int64{1, 2, 3, 4, 5, 3, 4, 5}) || len(r.problems) > 0 {
		t.Errorf("acknowledged %v, %v", got, r.problems)
	}
	if _, err := w.hooks.Replay(t.Context(), order.CommandFor(1), e.Key, order.MarketCursor{Seq: 6}, order.Options[webhook.Endpoint]{}); !errors.Is(err, webhook.ErrNoEvent) {
		t.Errorf("replay after an event that does not exist: %v", err)
	}
}

// TestDisabled checks 410 Gone, of which the other endpoints of the merchant get an
// event, a pause, and that a new URL ends the pause.
// Proves decision 5 (webhooks: pauses, end).
func TestDisabled(t *testing.T) {
	t.Parallel()
	r := newReceiver()
	w := openWorld(t, r)
	endpoints := w.addEndpoints(2, 1)
	types := webhook.NewTypes(order.WebhookFailed)
	watcher, err := w.hooks.Add(t.Context(), order.CommandFor(1), webhook.Addition{MerchantID: 1, URL: "https://w.example.com", Types: types}, order.Options[webhook.Endpoint]{})
	testenv.NoError(t, err)
	r.know(append(endpoints, watcher)...)
	var status atomic.Int64
	status.Store(410)
	r.answer = func(_ context.Context, key string, event client.Event) webhook.Result {
		switch {
		case status.Load() == 204 || event.Type == client.WebhookFailed:
			return webhook.Result{Status: 204}
		case key == fmt.Sprint(endpoints[0].ID):
			return webhook.Result{Status: 410, Error: webhook.ErrorStatus}
		}
		return webhook.Result{Error: webhook.ErrorTimeout}
	}
	w.run(r, func(o *webhook.Options) { o.Wait = func(int) time.Duration { return time.Hour } })
	w.addEvents(1, "A", 2)
	w.addEvents(2, "A", 2)
	testenv.Eventually(t, "both have failed", func() bool {
		gone, err := w.hooks.Get(t.Context(), endpoints[0].Key)
		late, err2 := w.hooks.Get(t.Context(), endpoints[1].Key)
		return err == nil && err2 == nil && gone.State == webhook.Failed && gone.Reason != "" && late.Failures == 1
	})
	testenv.Eventually(t, "the event of the failure", func() bool { return r.last(watcher) == 3 })
	status.Store(204)
	yes, url := true, "https://new.example.com"
	if _, err := w.hooks.Change(t.Context(), order.CommandFor(1), endpoints[0].Key, webhook.Change{Enabled: &yes}, order.Options[webhook.Endpoint]{}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.hooks.Change(t.Context(), order.CommandFor(1), endpoints[1].Key, webhook.Change{URL: &url}, order.Options[webhook.Endpoint]{}); err != nil {
		t.Fatal(err)
	}
	for i, e := range endpoints {
		// The first one also gets the event of its own failure.
		testenv.Eventually(t, "both go on", func() bool { return r.last(e) == int64(3-i) })
	}
	if len(r.problems) > 0 {
		t.Error(r.problems)
	}
}

// TestHangingEndpoints has endpoints of which some never respond: the others get their
// events without waiting for them.
func TestHangingEndpoints(t *testing.T) {
	t.Parallel()
	r := newReceiver()
	w := openWorld(t, r)
	endpoints := w.addEndpoints(30, 1)
	r.know(endpoints...)
	hanging := func(key string) bool { return len(key) == 1 } // 1 to 9
	r.answer = func(ctx context.Context, key string, _ client.Event) webhook.Result {
		if hanging(key) {
			<-ctx.Done()
			return webhook.Result{Error: webhook.ErrorTimeout}
		}
		return webhook.Result{Status: 204}
	}
	// 12 at once, of which 9 hang for longer than the test waits, and 2 more for them.
	stop := w.run(r, func(o *webhook.Options) {
		o.Lanes, o.Attempt, o.Lease = [2]int{12, 2}, 10*time.Minute, 20*time.Minute
	})
	for m := range int64(30) {
		w.addEvents(m+1, "A", 3)
	}
	for _, e := range endpoints {
		if !hanging(fmt.Sprint(e.ID)) {
			testenv.Eventually(t, "the others", func() bool { return r.last(e) == 3 })
		}
	}
	ended := time.AfterFunc(2*time.Minute, func() { panic("the sender does not stop") })
	defer ended.Stop()
	stop() // cancels what hangs
	for _, e := range endpoints {
		if got, err := w.hooks.Get(t.Context(), e.Key); hanging(fmt.Sprint(e.ID)) && (err != nil || got.Failures != 0 || got.Acknowledged.Seq != 0) {
			t.Errorf("a canceled request counts: %+v, %v", got, err)
		}
		if _, err := w.db.BorrowWebhook(t.Context(), e.Key, time.Now(), time.Now()); err != nil {
			t.Errorf("webhook %d is not released: %v", e.ID, err)
		}
	}
}

// TestSingleDeliveries sends a test and an event beside a sender: never two requests at
// once.
// Proves decision 5 (webhooks: deliveries).
func TestSingleDeliveries(t *testing.T) {
	t.Parallel()
	r := newReceiver()
	w := openWorld(t, r)
	e := w.addEndpoints(1, 1)[0]
	r.know(e)
	w.run(r, nil)
	w.addEvents(1, "A", 200)
	for range 5 {
		d, err := w.hooks.Redeliver(t.Context(), order.Command(), e.Key, e.MerchantID, 7, order.Options[webhook.Delivery]{})
		if err != nil || d.Event != 7 || d.Error != "" || d.MessageID == "" {
			t.Errorf("redelivery: %+v, %v", d, err)
		}
	}
	testenv.Eventually(t, "all events", func() bool {
		got, err := w.hooks.Get(t.Context(), e.Key)
		return err == nil && got.Acknowledged.Seq == 200
	})
	if len(r.problems) > 0 {
		t.Error(r.problems)
	}
}

// slowPoster counts messages, and waits with each until it may end.
type slowPoster struct {
	sent atomic.Int64
	end  chan struct{}
}

func (p *slowPoster) Post(context.Context, webhook.Message) webhook.Result {
	p.sent.Add(1)
	<-p.end
	return webhook.Result{Status: 200}
}

// TestSingleDeliveryOnce sends the same request several times at once, the first time
// by a client that disconnects: one message is sent.
func TestSingleDeliveryOnce(t *testing.T) {
	t.Parallel()
	poster := &slowPoster{end: make(chan struct{})}
	w := openWorld(t, poster)
	e := w.addEndpoints(1, 1)[0]
	ctx, disconnect := context.WithCancel(t.Context())
	options := order.Options[webhook.Delivery]{
		Key:    order.Key{Text: "a key", Digest: [32]byte{1}},
		Record: func(webhook.Delivery, error) ([]byte, error) { return []byte("{}"), nil },
	}
	results := make(chan error, 4)
	test := func(ctx context.Context) {
		_, err := w.hooks.Test(ctx, order.Command(), e.Key, options)
		results <- err
	}
	go test(ctx)
	testenv.Eventually(t, "the first message", func() bool { return poster.sent.Load() == 1 })
	disconnect()
	for range 3 {
		go test(t.Context())
	}
	close(poster.end)
	succeeded := 0
	for range cap(results) {
		err := <-results
		switch {
		case err == nil:
			succeeded++
		case !errors.As(err, new(*order.ReplayError)) && !errors.Is(err, webhook.ErrBusy):
			t.Error(err)
		}
	}
	if poster.sent.Load() != 1 || succeeded != 1 {
		t.Errorf("%d messages, %d requests succeeded", poster.sent.Load(), succeeded)
	}
}

// lateStore takes leases, but returns them only when the test says so, or the error of a
// context that has ended by then.
type lateStore struct {
	webhook.Store
	leased, proceed chan struct{}
}

func (s lateStore) LeaseWebhook(ctx context.Context, key webhook.Key, now, until time.Time) (webhook.Lease, error) {
	lease, err := s.Store.LeaseWebhook(context.WithoutCancel(ctx), key, now, until)
	close(s.leased)
	<-s.proceed
	if ctx.Err() != nil {
		return webhook.Lease{}, ctx.Err()
	}
	return lease, err
}

// TestStopWhileLeasing stops a sender while the database gives it a lease: the webhook is due
// at once, not only when the lease ends.
func TestStopWhileLeasing(t *testing.T) {
	t.Parallel()
	r := newReceiver()
	w := openWorld(t, r)
	w.addEndpoints(1, 1)
	w.addEvents(1, "A", 1)
	store := lateStore{w.db, make(chan struct{}), make(chan struct{})}
	sender := webhook.NewSender(webhook.Options{
		Store: store, Poster: r, Encoder: plainEncoder{}, Now: time.Now, Random: rand.Float64, Log: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { sender.Run(ctx) })
	<-store.leased
	cancel()
	close(store.proceed)
	running.Wait()
	if due, err := w.db.DueWebhooks(t.Context(), nil, time.Now()); err != nil || len(due) != 1 {
		t.Errorf("due after the stop: %v, %v", due, err)
	}
}
