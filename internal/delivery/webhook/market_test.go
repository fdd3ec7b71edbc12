package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// marketReceiver is the marketplace's receiver. It refuses some deliveries.
type marketReceiver struct {
	mu       sync.Mutex
	posts    int
	acked    map[int64][]string // ids of events by merchant
	problems []string
}

// Post implements webhook.Poster.
func (r *marketReceiver) Post(_ context.Context, m webhook.Message) webhook.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.posts++
	var e marketEvent
	if err := json.Unmarshal(m.Body, &e); err != nil || m.ID != "msg_1"+e.ID[len("evt"):] {
		r.problems = append(r.problems, fmt.Sprintf("message %s: %s, %v", m.ID, m.Body, err))
	}
	if r.posts%7 == 0 {
		return webhook.Result{Status: 500, Error: webhook.ErrorStatus}
	}
	r.acked[e.MerchantID] = append(r.acked[e.MerchantID], e.ID)
	return webhook.Result{Status: 204}
}

// total returns how many deliveries were acknowledged.
func (r *marketReceiver) total() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ids := range r.acked {
		n += len(ids)
	}
	return n
}

// TestMarketplace delivers the events of several merchants to one endpoint, with two
// senders while the events are written: exactly those of the table, each merchant's in
// their order. In another history it begins again.
func TestMarketplace(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { testMarketplace(t, filepath.Join(t.TempDir(), "orders.db")) })
	t.Run("postgres", func(t *testing.T) {
		if pgtest.Distributed(t) {
			t.Skip("a cluster has no feed of all merchants")
		}
		testMarketplace(t, pgtest.Database(t))
	})
}

func testMarketplace(t *testing.T, database string) {
	const merchants, batches, batch = 3, 4, 10
	r := &marketReceiver{acked: make(map[int64][]string)}
	w := openWorldOn(t, database, r)
	w.addEndpoints(merchants, 0)
	w.addEvents(1, "before", 1)
	e, err := w.hooks.Add(t.Context(), order.Command(), webhook.Addition{URL: "https://market.example.com"}, order.Options[webhook.Endpoint]{})
	testenv.NoError(t, err)
	w.run(r, nil)
	w.run(r, nil)
	var writing sync.WaitGroup
	for m := range int64(merchants) {
		writing.Go(func() {
			for i := range batches {
				if err := addEvents(t.Context(), w.orders, m+1, fmt.Sprint("B", i), batch); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	wantAll := func(after int64, times int) {
		t.Helper()
		n := times * (merchants*batches*batch + int(1-after))
		testenv.Eventually(t, fmt.Sprint(n, " deliveries"), func() bool { return r.total() >= n })
		for m := range int64(merchants) {
			if m > 0 {
				after = 0
			}
			feed, err := w.orders.Events(t.Context(), m+1, order.FeedQuery{After: after, Limit: order.MaxFeedLimit})
			testenv.NoError(t, err)
			var ids []string
			for _, e := range feed.Events {
				ids = append(ids, e.ID())
			}
			testenv.Equal(t, fmt.Sprint("events of merchant ", m+1), ids, r.acked[m+1])
		}
	}
	wantAll(1, 1) // the endpoint began after the first event
	if _, err := w.hooks.Redeliver(t.Context(), order.Command(), e.Key, 4, 1, order.Options[webhook.Delivery]{}); err == nil {
		t.Error("redelivered an event of no merchant")
	}
	r.mu.Lock()
	clear(r.acked)
	r.mu.Unlock()
	w.store(e.Key, func(e *webhook.Endpoint) {
		e.Acknowledged.History++
		e.Held = []webhook.Held{{MerchantID: 2, Event: 9, NextAttempt: time.Now().Add(time.Hour)}}
	})
	wantAll(0, 1)
	if log, err := w.hooks.Deliveries(t.Context(), e.Key, 1<<62, 1); err != nil || len(log) != 1 || log[0].EventMerchant == 0 {
		t.Errorf("delivery log: %+v, %v", log, err)
	}
	if len(r.problems) > 0 {
		t.Error(slices.Compact(r.problems))
	}
}
