package webhook_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"merchantorders/client"
	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/testenv"
)

// TestSlowReceivers has endpoints with a backlog that acknowledge slowly. Everybody
// else's events arrive within two seconds, and no slow endpoint waits for ever.
func TestSlowReceivers(t *testing.T) {
	t.Parallel()
	const others, backlog, rounds, limit = 2, 10, 100, 2 * time.Second
	for name, c := range map[string]struct {
		merchants, each int // slow ones
		took            time.Duration
	}{
		"few merchants with many endpoints": {25, 20, 9 * time.Second},
		"many merchants":                    {200, 1, 9 * time.Second},
		"not slow enough to be slow":        {200, 1, 900 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				slow := make(map[string]bool)
				var fast atomic.Int64 // messages to the others
				r := &recorder{took: func(url string) time.Duration {
					if slow[url] {
						return c.took
					}
					fast.Add(1)
					return 50 * time.Millisecond
				}}
				w := openWorld(t, "", r)
				endpoints := w.addEndpoints(c.merchants+others, c.each)
				for m := range int64(c.merchants) {
					slow[fmt.Sprintf("https://m%d.example.com", m+1)] = true
					w.AddEvents(m+1, "A", backlog)
				}
				w.Run(func(o *delivery.Options) { o.Poll = 0 })
				for i := range rounds {
					for m := range int64(others) {
						w.AddEvents(int64(c.merchants)+m+1, fmt.Sprint("B", i), 1)
					}
					time.Sleep(limit)
					if got, want := fast.Load(), int64(others*c.each*(i+1)); got != want {
						t.Fatalf("%v after event %d of the others: %d deliveries, not %d", limit, i+1, got, want)
					}
				}
				sent := make(map[string]int) // by the beginning of the message's id, with the webhook's
				for _, m := range r.after(0) {
					sent[strings.Join(strings.Split(m.ID, "_")[:2], "_")]++
				}
				for _, e := range endpoints {
					if n := sent[fmt.Sprintf("msg_%d", e.ID)]; n < 2 {
						t.Errorf("webhook %d has had %d deliveries in %v", e.ID, n, rounds*limit)
					}
				}
			})
		})
	}
}

// TestBatchesKeepUp has receivers that respond after 100 ms: one with a long backlog, and more
// than there are slots. What bounds the first are its responses, one after the other, and the
// others the slots; the database takes no time here.
func TestBatchesKeepUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		merchants, events int
		limit             time.Duration
	}{
		"10,000 events":   {1, 10_000, 12 * time.Second},
		"2,000 endpoints": {testenv.Count(200, 2000), 100, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := &recorder{took: func(string) time.Duration { return 100 * time.Millisecond }}
				w := openWorld(t, "", r)
				for _, e := range w.addEndpoints(c.merchants, 1) {
					w.change(e.Key, webhook.Change{MaxEvents: new(webhook.MaxBatch)})
					for i := 0; i < c.events; i += 1000 {
						w.AddEvents(e.MerchantID, fmt.Sprint("A", i), min(c.events, 1000))
					}
				}
				w.Run(nil)
				time.Sleep(c.limit)
				last := make(map[int64]int64)
				for _, m := range r.after(0) {
					var sent struct{ Events []client.Event }
					testenv.NoError(t, json.Unmarshal(m.Body, &sent))
					var id int64
					testenv.Of(fmt.Sscanf(m.ID, "msg_%d_", &id)).Must(t)
					for _, event := range sent.Events {
						if last[id]++; event.Seq != last[id] {
							t.Fatalf("webhook %d: event %d in place of %d", id, event.Seq, last[id])
						}
					}
				}
				for id := range int64(c.merchants) {
					testenv.Equal(t, fmt.Sprintf("events of webhook %d in %v", id+1, c.limit), int64(c.events), last[id+1])
				}
			})
		})
	}
}
