package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"merchantorders/client"
	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestDelivery delivers to endpoints that fail now and then, with two workers: each gets
// every event in order, once it is acknowledged never again.
func TestDelivery(t *testing.T) {
	t.Parallel()
	r := newReceiver()
	w := openWorld(t, "", r)
	endpoints := w.addEndpoints(3, 2)
	var posts atomic.Int64
	r.answer = func(context.Context, string, client.Event) delivery.Result {
		if posts.Add(1)%3 == 0 {
			return delivery.Result{Status: 500, Error: delivery.ErrorStatus}
		}
		return delivery.Result{Status: 200}
	}
	w.Run(nil)
	w.Run(nil)
	for i := range 4 {
		for m := range int64(3) {
			w.AddEvents(m+1, fmt.Sprint("B", i), 10)
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
	key := endpoints[0].Key
	w.acknowledged(key, 40)
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
	w := openWorld(t, "", r)
	e := w.addEndpoints(1, 1)[0]
	w.change(e.Key, webhook.Change{Types: new(delivery.NewTypes(order.OrderStateChanged))})
	w.Run(nil)
	w.AddEvents(1, "A", 150)
	w.acknowledged(e.Key, 150)
	testenv.Of(w.Orders.ChangeOrder(t.Context(), order.Command(), 1, order.ByReference("A-1-0"), order.Update{To: order.Canceled}, order.Options[order.WriteResult]{})).Must(t)
	w.acknowledged(e.Key, 151)
	if r.last(e) != 151 || len(r.acked[fmt.Sprint(e.ID)]) != 1 {
		t.Error(r.acked)
	}
}

// TestReplayDuringDelivery sets the cursor back while a request is in flight: its
// acknowledgment does not move it again, and no second request begins meanwhile.
func TestReplayDuringDelivery(t *testing.T) {
	t.Parallel()
	r := newReceiver()
	w := openWorld(t, "", r)
	e := w.addEndpoints(1, 1)[0]
	entered, proceed := make(chan struct{}, 1), make(chan struct{})
	r.answer = func(_ context.Context, _ string, event client.Event) delivery.Result {
		if event.Seq == 5 {
			select {
			case entered <- struct{}{}:
				<-proceed
			default:
			}
		}
		return delivery.Result{Status: 204}
	}
	stop := w.Run(nil)
	w.AddEvents(1, "A", 5)
	<-entered
	testenv.Of(w.hooks.Replay(t.Context(), order.CommandFor(1), e.Key, order.MarketCursor{Seq: 2}, order.Options[webhook.Endpoint]{})).Must(t)
	close(proceed)
	w.acknowledged(e.Key, 5)
	stop()
	testenv.Equal(t, "acknowledged", []int64{1, 2, 3, 4, 5, 3, 4, 5}, r.acked[fmt.Sprint(e.ID)])
	testenv.Of(w.hooks.Replay(t.Context(), order.CommandFor(1), e.Key, order.MarketCursor{Seq: 6}, order.Options[webhook.Endpoint]{})).WantError(t, "replay after an event that does not exist", webhook.ErrNoEvent)
}

// TestDisabled checks 410 Gone, of which the other endpoints of the merchant get an
// event, a pause, and that a new URL ends the pause.
// Proves decision 5 (webhooks: pauses, end).
func TestDisabled(t *testing.T) {
	t.Parallel()
	r := newReceiver()
	w := openWorld(t, "", r)
	endpoints := w.addEndpoints(2, 1)
	watcher := testenv.Of(w.hooks.Add(t.Context(), order.CommandFor(1), 1, webhook.Change{URL: new("https://w.example.com"), Types: new(delivery.NewTypes(order.WebhookFailed))}, nil, order.Options[webhook.Endpoint]{})).Must(t)
	r.know(watcher)
	var status atomic.Int64
	status.Store(410)
	r.answer = func(_ context.Context, key string, event client.Event) delivery.Result {
		switch {
		case status.Load() == 204 || event.Type == client.WebhookFailed:
			return delivery.Result{Status: 204}
		case key == fmt.Sprint(endpoints[0].ID):
			return delivery.Result{Status: 410, Error: delivery.ErrorStatus}
		}
		return delivery.Result{Error: delivery.ErrorTimeout}
	}
	w.Run(func(o *delivery.Options) { o.Wait = func(int) time.Duration { return time.Hour } })
	w.AddEvents(1, "A", 2)
	w.AddEvents(2, "A", 2)
	w.until("a webhook is gone", endpoints[0].Key, func(e webhook.Endpoint) bool {
		return e.State == delivery.Failed && e.Reason == "the endpoint answered 410 Gone"
	})
	w.until("the other has failed once", endpoints[1].Key, func(e webhook.Endpoint) bool { return e.Failures == 1 })
	testenv.Eventually(t, "the event of the failure", func() bool { return r.last(watcher) == 3 })
	status.Store(204)
	w.change(endpoints[0].Key, webhook.Change{Enabled: new(true)})
	w.change(endpoints[1].Key, webhook.Change{URL: new("https://new.example.com")})
	for i, e := range endpoints {
		// The first one also gets the event of its own failure.
		testenv.Eventually(t, "both go on", func() bool { return r.last(e) == int64(3-i) })
	}
}

// TestHangingEndpoints has endpoints of which some never respond: the others get their
// events without waiting for them.
func TestHangingEndpoints(t *testing.T) {
	t.Parallel()
	r := newReceiver()
	// 12 at once, of which 9 hang for longer than the test waits, and 2 more for them.
	w := openWorld(t, "", r, func(o *webhook.Options) { o.Slots, o.Attempt = [2]int{12, 2}, 10*time.Minute })
	endpoints := w.addEndpoints(30, 1)
	hanging := func(key string) bool { return len(key) == 1 } // 1 to 9
	r.answer = func(ctx context.Context, key string, _ client.Event) delivery.Result {
		if hanging(key) {
			<-ctx.Done()
			return delivery.Result{Error: delivery.ErrorTimeout}
		}
		return delivery.Result{Status: 204}
	}
	stop := w.Run(func(o *delivery.Options) { o.Lease = 20 * time.Minute })
	for m := range int64(30) {
		w.AddEvents(m+1, "A", 3)
	}
	for _, e := range endpoints {
		if !hanging(fmt.Sprint(e.ID)) {
			testenv.Eventually(t, "the others", func() bool { return r.last(e) == 3 })
		}
	}
	ended := time.AfterFunc(2*time.Minute, func() { panic("the worker does not stop") })
	defer ended.Stop()
	stop() // cancels what hangs
	for _, e := range endpoints {
		if got, err := w.hooks.Get(t.Context(), e.Key); hanging(fmt.Sprint(e.ID)) && (err != nil || got.Failures != 0 || got.Acknowledged.Seq != 0) {
			t.Errorf("a canceled request counts: %+v, %v", got, err)
		}
		if _, err := w.DB.BorrowEndpoint(t.Context(), e.Key, time.Now(), time.Now()); err != nil {
			t.Errorf("webhook %d is not released: %v", e.ID, err)
		}
	}
}

// TestSingleDeliveries sends a test and an event beside a worker: never two requests at
// once.
// Proves decision 5 (webhooks: deliveries).
func TestSingleDeliveries(t *testing.T) {
	t.Parallel()
	r := newReceiver()
	w := openWorld(t, "", r)
	e := w.addEndpoints(1, 1)[0]
	w.Run(nil)
	w.AddEvents(1, "A", 200)
	for range 5 {
		d, err := w.hooks.Redeliver(t.Context(), order.Command(), e.Key, e.MerchantID, 7, order.Options[delivery.Attempt]{})
		if err != nil || d.Event != 7 || d.Error != "" || d.MessageID == "" {
			t.Errorf("redelivery: %+v, %v", d, err)
		}
	}
	w.acknowledged(e.Key, 200)
}

// slowPoster counts messages, and waits with each until it may end.
type slowPoster struct {
	sent atomic.Int64
	end  chan struct{}
}

func (p *slowPoster) Post(context.Context, webhook.Message) delivery.Result {
	p.sent.Add(1)
	<-p.end
	return delivery.Result{Status: 200}
}

// TestSingleDeliveryOnce sends the same request several times at once, the first time
// by a client that disconnects: one message is sent.
func TestSingleDeliveryOnce(t *testing.T) {
	t.Parallel()
	poster := &slowPoster{end: make(chan struct{})}
	w := openWorld(t, "", poster)
	e := w.addEndpoints(1, 1)[0]
	ctx, disconnect := context.WithCancel(t.Context())
	options := order.Options[delivery.Attempt]{
		Key:    order.Key{Text: "a key", Digest: [32]byte{1}},
		Record: func(delivery.Attempt, error) ([]byte, error) { return []byte("{}"), nil },
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
	delivery.Store
	leased, proceed chan struct{}
}

func (s lateStore) LeaseEndpoint(ctx context.Context, key delivery.Key, now, until time.Time) (delivery.Lease, error) {
	lease, err := s.Store.LeaseEndpoint(context.WithoutCancel(ctx), key, now, until)
	close(s.leased)
	<-s.proceed
	if ctx.Err() != nil {
		return delivery.Lease{}, ctx.Err()
	}
	return lease, err
}

// TestStopWhileLeasing stops a worker while the database gives it a lease: the webhook is due
// at once, not only when the lease ends.
func TestStopWhileLeasing(t *testing.T) {
	t.Parallel()
	r := newReceiver()
	w := openWorld(t, "", r)
	w.addEndpoints(1, 1)
	w.AddEvents(1, "A", 1)
	store := lateStore{w.DB, make(chan struct{}), make(chan struct{})}
	worker := delivery.NewWorker(delivery.Options{Store: store, Senders: w.Senders, Now: time.Now, Random: rand.Float64, Log: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { worker.Run(ctx) })
	<-store.leased
	cancel()
	close(store.proceed)
	running.Wait()
	testenv.Equal(t, "due after the stop", 1, len(testenv.Of(w.DB.DueEndpoints(t.Context(), nil, time.Now())).Must(t)))
}
