package webhook_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// TestManyEndpoints delivers to 1,000 endpoints, of which 50 never respond, or all of
// every other merchant respond after 9 seconds, with the settings of the service. It
// measures the delay of the others. It depends on the speed of the machine, so only
// scripts/soak runs it.
func TestManyEndpoints(t *testing.T) {
	if !testenv.Soak() {
		t.Skip("depends on the speed of the machine; TestHangingEndpoints and TestSlowReceivers check that nobody waits for others")
	}
	for name, load := range map[string]load{
		"50 never respond":      {slow: func(i int) bool { return i%20 == 0 }, took: time.Hour},
		"500 respond after 9 s": {slow: func(i int) bool { return i/20%2 == 0 }, took: 9 * time.Second, pause: 2 * time.Second},
	} {
		t.Run("sqlite/"+name, func(t *testing.T) { deliverToMany(t, filepath.Join(t.TempDir(), "orders.db"), load) })
		t.Run("postgres/"+name, func(t *testing.T) { deliverToMany(t, pgtest.Database(t), load) })
	}
}

// load says how endpoints respond.
type load struct {
	slow  func(i int) bool
	took  time.Duration // of the slow ones
	pause time.Duration // between rounds of events
}

func deliverToMany(t *testing.T, database string, load load) {
	const merchants, each, rounds, limit = 50, 20, 20, 2 * time.Second
	var mu sync.Mutex
	begun := time.Time{} // of the round
	var delays []time.Duration
	slow, release := make(map[string]bool), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		mu.Lock()
		slow := slow[r.URL.Path]
		if !slow {
			delays = append(delays, time.Since(begun))
		}
		mu.Unlock()
		if slow {
			select {
			case <-time.After(load.took):
			case <-r.Context().Done():
			case <-release:
			}
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(release) })
	w := openWorld(t, database, webhook.NewClient(true))
	endpoints := w.addEndpoints(merchants, each)
	for i, e := range endpoints {
		url := server.URL + "/" + strconv.Itoa(i)
		if load.slow(i) {
			slow[url[len(server.URL):]] = true
		}
		w.change(e.Key, webhook.Change{URL: &url})
	}
	w.Run(func(o *delivery.Options) { o.Poll, o.Wait = 0, nil })
	var all []time.Duration
	for round := range rounds {
		mu.Lock()
		begun, delays = time.Now(), nil
		mu.Unlock()
		for m := range int64(merchants) {
			w.AddEvents(m+1, "R"+strconv.Itoa(round), 1)
		}
		testenv.Eventually(t, "the endpoints that respond", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(delays) >= len(endpoints)-len(slow)
		})
		mu.Lock()
		all = append(all, delays...)
		mu.Unlock()
		time.Sleep(load.pause)
	}
	slices.Sort(all)
	t.Logf("%d deliveries to %d endpoints, %d of which are slow: delay p50 %v, p99 %v, at most %v", len(all), len(endpoints), len(slow),
		all[len(all)/2].Round(time.Millisecond), all[len(all)*99/100].Round(time.Millisecond), all[len(all)-1].Round(time.Millisecond))
	if worst := all[len(all)-1]; worst > limit {
		t.Errorf("a delivery was %v late", worst)
	}
}
