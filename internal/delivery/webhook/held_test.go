package webhook_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"merchantorders/client"
	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/deliverytest"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// marketplace is the server of a marketplace. It takes the events of each merchant in order,
// none twice but the last one.
type marketplace struct {
	testing.TB
	secret string

	mu      sync.Mutex
	lastID  string          // of the last delivery
	last    map[int64]int64 // number of the last event by merchant
	total   int
	refused int
	refuse  func(merchantID, seq int64) bool
}

// newMarketplace starts one with a webhook that gets so many events at once.
func newMarketplace(w *world, batch int, refuse func(merchantID, seq int64) bool) (*marketplace, delivery.Key) {
	m := &marketplace{TB: w, last: make(map[int64]int64), refuse: refuse}
	server := httptest.NewUnstartedServer(m)
	w.Cleanup(server.Close)
	e := testenv.Of(w.hooks.Add(w.Context(), order.Command(), delivery.Marketplace, webhook.Change{URL: new("http://" + server.Listener.Addr().String()), MaxEvents: &batch}, nil, order.Options[webhook.Endpoint]{})).Must(w)
	m.secret = string(e.Secret)
	server.Start()
	return m, e.Key
}

func (m *marketplace) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the worker was killed
	}
	var sent struct {
		marketEvent
		Events []marketEvent
	}
	_, err = client.WebhookEvents(r.Header, body, m.secret)
	if err = errors.Join(err, json.Unmarshal(body, &sent)); err != nil {
		m.Error(err)
	}
	id, events := r.Header.Get("Webhook-Id"), sent.Events
	if events == nil {
		events = []marketEvent{sent.marketEvent}
	}
	if want := "msg_1" + strings.TrimPrefix(events[0].ID, "evt"); len(events) == 1 && id != want {
		m.Errorf("message %s of event %s", id, events[0].ID)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	after := maps.Clone(m.last)
	for _, event := range events {
		if last := m.last[event.MerchantID]; id != m.lastID && event.Seq != last && event.Seq != after[event.MerchantID]+1 {
			m.Errorf("merchant %d: event %d comes after %d", event.MerchantID, event.Seq, last)
		}
		after[event.MerchantID] = event.Seq
	}
	if m.lastID = id; slices.ContainsFunc(events, func(e marketEvent) bool { return m.refuse(e.MerchantID, e.Seq) }) {
		m.refused++
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	for _, event := range events {
		m.total += int(max(event.Seq-m.last[event.MerchantID], 0))
		m.last[event.MerchantID] = max(m.last[event.MerchantID], event.Seq)
	}
}

// set changes what is refused and returns how many deliveries were refused until now.
func (m *marketplace) set(refuse func(merchantID, seq int64) bool) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refuse = refuse
	return m.refused
}

// begin expects all events again.
func (m *marketplace) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.last)
}

// wait waits until the last events of the merchants 1, 2, ... have arrived, and so many
// deliveries were refused.
func (m *marketplace) wait(refused int, last ...int64) {
	m.Helper()
	testenv.Eventually(m, fmt.Sprint("the events ", last), func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		for i, seq := range last {
			if m.last[int64(i+1)] != seq {
				return false
			}
		}
		return m.refused >= refused
	})
}

// onMarketplaces runs a test on each database, with single events and with batches.
func onMarketplaces(t *testing.T, test func(t *testing.T, database string, batch int)) {
	t.Helper()
	t.Parallel()
	for _, batch := range []int{1, webhook.MaxBatch} {
		t.Run(fmt.Sprint("sqlite/", batch), func(t *testing.T) { test(t, filepath.Join(t.TempDir(), "orders.db"), batch) })
		t.Run(fmt.Sprint("postgres/", batch), func(t *testing.T) {
			if pgtest.Distributed(t) {
				t.Skip("a cluster has no feed of all merchants")
			}
			test(t, pgtest.Database(t), batch)
		})
	}
}

// TestMarketplace delivers the events of several merchants to one endpoint, which refuses every
// seventh, with two workers while the events are written. In another history it begins again.
func TestMarketplace(t *testing.T) {
	onMarketplaces(t, func(t *testing.T, database string, batch int) {
		w := openWorld(t, database, webhook.NewClient(true))
		w.AddMerchants(3)
		w.AddEvents(1, "before", 1)
		posts := 0
		m, key := newMarketplace(w, batch, func(int64, int64) bool {
			posts++
			return posts%7 == 0
		})
		m.last[1] = 1 // the endpoint begins after it
		for range 2 { // a pause of any length would take a second
			w.Run(func(o *delivery.Options) { o.Wait = func(int) time.Duration { return 0 } })
		}
		var writing sync.WaitGroup
		for id := range int64(3) {
			writing.Go(func() {
				for i := range 4 {
					w.AddEvents(id+1, fmt.Sprint("B", i), 10)
				}
			})
		}
		writing.Wait()
		m.wait(1, 41, 40, 40)
		_, err := w.hooks.Redeliver(t.Context(), order.Command(), key, 4, 1, order.Options[delivery.Attempt]{})
		if !errors.Is(err, webhook.ErrNoEvent) {
			t.Errorf("redelivery of an event of no merchant: %v", err)
		}
		w.until("the last progress", key, func(e webhook.Endpoint) bool { return len(e.Held) == 0 && e.Failures == 0 })
		m.begin()
		w.store(key, func(e *webhook.Endpoint) {
			e.Acknowledged.History++
			e.Held = []delivery.Held{{MerchantID: 2, Event: 9, Backoff: delivery.Backoff{NextAttempt: time.Now().Add(time.Hour)}}}
		})
		m.wait(1, 41, 40, 40)
		if log, err := w.hooks.Deliveries(t.Context(), key, 1<<62, 1); err != nil || len(log) != 1 || log[0].EventMerchant == 0 {
			t.Errorf("delivery log: %+v, %v", log, err)
		}
	})
}

// TestHeldMerchant refuses the events of a merchant, which does not hold up those of others,
// and then all of them for some time, during which the held one has no attempt before the
// others: in the end each has arrived in order.
func TestHeldMerchant(t *testing.T) {
	onMarketplaces(t, func(t *testing.T, database string, batch int) {
		w := openWorld(t, database, webhook.NewClient(true))
		w.AddMerchants(4)
		m, key := newMarketplace(w, batch, func(merchantID, seq int64) bool { return merchantID == 2 && seq > 3 })
		for range 2 {
			w.Run(nil)
		}
		added := 0
		add := func() {
			added++
			for id := range int64(4) {
				w.AddEvents(id+1, "B"+strconv.Itoa(added), 10)
			}
		}
		add()
		m.wait(3, 10, 3, 10, 10)
		add()
		m.wait(5, 20, 3, 20, 20)
		held := func(want ...int64) {
			t.Helper()
			w.until(fmt.Sprint("held ", want), key, func(e webhook.Endpoint) bool {
				slices.SortFunc(e.Held, func(a, b delivery.Held) int { return int(a.MerchantID - b.MerchantID) })
				var got []int64
				for _, h := range e.Held {
					got = append(got, h.MerchantID, h.Event)
				}
				return fmt.Sprint(got) == fmt.Sprint(want) && (e.Failures > 0) == (len(want) > 2)
			})
		}
		held(2, 4)
		var down []int64 // merchants whose events were refused
		refused := m.set(func(merchantID, _ int64) bool {
			down = append(down, merchantID)
			return true
		})
		for _, id := range []int64{1, 3, 4} {
			w.AddEvents(id, "DOWN", 1)
		}
		m.wait(refused + 8)
		held(1, 21, 2, 4, 3, 21, 4, 21)
		add()
		m.set(func(int64, int64) bool { return false })
		begin := slices.Index(down, 1)
		if batch > 1 { // how many are sent as one depends on when they are written
			if got := slices.Compact(down[begin:]); !slices.Equal(got[:3], []int64{1, 3, 4}) && !slices.Equal(got[:2], []int64{1, 3}) {
				t.Errorf("refused while it is down: %d", down)
			}
		} else if !slices.Equal(down[begin:begin+6], []int64{1, 1, 3, 3, 4, 4}) {
			t.Errorf("refused while it is down: %d", down)
		}
		m.wait(0, 31, 30, 31, 31)
		held()
	})
}

// TestHeldUpToCursor refuses the first event of a merchant twice, which has more events than
// the cursor has reached when it acknowledges that event.
func TestHeldUpToCursor(t *testing.T) {
	onMarketplaces(t, func(t *testing.T, database string, batch int) {
		w := openWorld(t, database, webhook.NewClient(true))
		w.AddMerchants(2)
		failed := 0
		m, _ := newMarketplace(w, batch, func(merchantID, seq int64) bool {
			if merchantID == 2 && seq == 1 {
				failed++
			}
			return merchantID == 2 && seq == 1 && failed <= 2
		})
		for i := range 20 {
			w.AddEvents(2, fmt.Sprint("B", i), 4)
			w.AddEvents(1, fmt.Sprint("B", i), 4)
		}
		w.Run(func(o *delivery.Options) { o.Wait = func(int) time.Duration { return 0 } })
		m.wait(2, 80, 80)
	})
}

// TestHeldByClockAhead has a clock hold two merchants, and the second one when it is a year ahead:
// that one does not wait until the first one is no longer held.
func TestHeldByClockAhead(t *testing.T) {
	onMarketplaces(t, func(t *testing.T, database string, batch int) {
		w := openWorld(t, database, webhook.NewClient(true))
		w.AddMerchants(3)
		m, key := newMarketplace(w, batch, func(int64, int64) bool { return false })
		w.Run(nil)
		for id := range int64(2) {
			w.AddEvents(id+1, "B", 1)
		}
		m.wait(0, 1, 1)
		w.until("the last progress", key, func(e webhook.Endpoint) bool { return e.Acknowledged.MerchantID == 2 })
		m.begin()
		w.store(key, func(e *webhook.Endpoint) {
			for i, ahead := range []time.Duration{time.Hour, 365 * 24 * time.Hour} {
				at := time.Now().Add(ahead)
				e.Held = append(e.Held, delivery.Held{MerchantID: int64(i + 1), Event: 1, Backoff: delivery.Backoff{Failures: 2, FailingSince: at, NextAttempt: at}})
			}
		})
		w.AddEvents(3, "B", 1)
		m.wait(0, 0, 1, 1)
	})
}

// TestHeldFull has as many merchants held as an endpoint may hold while it refuses the event
// at the cursor, and then acknowledges those of the held ones.
func TestHeldFull(t *testing.T) {
	onMarketplaces(t, func(t *testing.T, database string, batch int) {
		w := openWorld(t, database, webhook.NewClient(true))
		const refused, last = delivery.MaxHeld + 1, delivery.MaxHeld + 2
		w.AddMerchants(last)
		held, want := make([]delivery.Held, delivery.MaxHeld), make([]int64, last)
		for i := range held {
			w.AddEvents(int64(i+1), "HELD", 1)
			held[i], want[i] = delivery.Held{MerchantID: int64(i + 1), Event: 1, Backoff: delivery.Backoff{Failures: 2, FailingSince: deliverytest.Noon, NextAttempt: deliverytest.Noon}}, 1
		}
		want[last-1] = 1
		m, key := newMarketplace(w, batch, func(merchantID, _ int64) bool { return merchantID == refused })
		w.AddEvents(refused, "REFUSED", 1)
		w.AddEvents(last, "LAST", 1)
		w.store(key, func(e *webhook.Endpoint) { e.Held, e.Failures, e.FailingSince = held, 1, deliverytest.Noon })
		w.Run(nil)
		m.wait(1, want...)
	})
}

// TestHeldChanges changes an endpoint that holds two merchants, between the instances that
// deliver to it.
func TestHeldChanges(t *testing.T) {
	onMarketplaces(t, func(t *testing.T, database string, batch int) {
		w := openWorld(t, database, webhook.NewClient(true))
		w.AddMerchants(4)
		none := func(int64, int64) bool { return false }
		m, key := newMarketplace(w, batch, nil)
		// run delivers more events, of which those of two merchants are refused from one on.
		var events int64
		run := func() (stop func()) {
			last := events + 3
			refused := m.set(func(merchantID, seq int64) bool { return (merchantID == 2 || merchantID == 3) && seq > last })
			for id := range int64(4) {
				w.AddEvents(id+1, fmt.Sprint("B", events), 10)
			}
			events += 10
			stop = w.Run(func(o *delivery.Options) {
				o.Wait = func(failures int) time.Duration { return time.Duration(failures-1) * time.Hour }
			})
			m.wait(refused+4, events, last, last, events)
			return stop
		}
		nothingHeld := func() {
			t.Helper()
			w.until("nothing is held", key, func(e webhook.Endpoint) bool { return len(e.Held) == 0 })
		}

		run()()
		w.change(key, webhook.Change{Enabled: new(false)})
		m.set(none)
		stop := w.Run(nil)
		w.change(key, webhook.Change{Enabled: new(true)}) // which ends the pauses
		m.wait(0, events, events, events, events)
		nothingHeld()
		stop()

		run()()
		m.set(none)
		m.begin()
		testenv.Of(w.hooks.Replay(t.Context(), order.Command(), key, order.MarketCursor{}, order.Options[webhook.Endpoint]{})).Must(t)
		stop = w.Run(nil)
		m.wait(0, events, events, events, events)
		nothingHeld()
		stop()

		run()
		refused := m.set(func(int64, int64) bool { return true })
		w.change(key, webhook.Change{Types: new(delivery.NewTypes(order.OrderUpdated)), Enabled: new(true)})
		nothingHeld()
		testenv.Equal(t, "deliveries of types that it does not want", refused, m.set(none))
	})
}

// TestKilledMarketplace refuses every eighth event of the first half three times, while
// instances that deliver are killed.
func TestKilledMarketplace(t *testing.T) {
	onMarketplaces(t, func(t *testing.T, database string, batch int) {
		const merchants, some = 3, 4
		events, kills := testenv.Count(60, 1000), testenv.Count(3, 50)
		w := openWorld(t, database, webhook.NewClient(true))
		w.AddMerchants(merchants)
		failed := make(map[[2]int64]int)
		m, key := newMarketplace(w, batch, func(merchantID, seq int64) bool {
			at := [2]int64{merchantID, seq}
			failed[at]++
			return (merchantID+seq)%8 == 0 && seq < int64(events/2) && failed[at] <= 3
		})
		for i := 0; i < events; i += some {
			for id := range int64(merchants) {
				w.AddEvents(id+1, fmt.Sprint("B", i), some)
			}
		}
		for k := range kills {
			child := startChild(t, database)
			other := startChild(t, database)
			testenv.Eventually(t, "deliveries", func() bool {
				m.mu.Lock()
				defer m.mu.Unlock()
				return m.total >= merchants*events*(k+1)/kills-rand.IntN(2)
			})
			killChild(child)
			killChild(other)
		}
		child := startChild(t, database)
		defer killChild(child)
		m.wait(0, int64(events), int64(events), int64(events))
		w.until("nothing is held", key, func(e webhook.Endpoint) bool { return len(e.Held) == 0 })
	})
}
