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

	"merchantorders/internal/order"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
	"merchantorders/internal/webhook"
)

// TestManyEndpoints delivers to 1,000 endpoints, of which 50 never respond, with the
// settings of the service, and measures the delay of the others. It depends on the
// speed of the machine, so only scripts/soak runs it.
func TestManyEndpoints(t *testing.T) {
	if !testenv.Soak() {
		t.Skip("depends on the speed of the machine; TestHangingEndpoints checks that nobody waits for those that hang")
	}
	t.Run("sqlite", func(t *testing.T) { deliverToMany(t, filepath.Join(t.TempDir(), "orders.db")) })
	t.Run("postgres", func(t *testing.T) { deliverToMany(t, pgtest.Database(t)) })
}

func deliverToMany(t *testing.T, database string) {
	const merchants, each, hanging, rounds, limit = 50, 20, 50, 20, 2 * time.Second
	var mu sync.Mutex
	begun := time.Time{} // of the round
	var delays []time.Duration
	stuck, release := make(map[string]bool), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		mu.Lock()
		hangs := stuck[r.URL.Path]
		if !hangs {
			delays = append(delays, time.Since(begun))
		}
		mu.Unlock()
		if hangs {
			select {
			case <-r.Context().Done():
			case <-release:
			}
		}
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(release) })
	poster := webhook.NewClient(true)
	w := openWorldOn(t, database, poster)
	endpoints := w.addEndpoints(merchants, each)
	for i, e := range endpoints {
		url := server.URL + "/" + strconv.Itoa(i)
		if i%(len(endpoints)/hanging) == 0 {
			stuck[url[len(server.URL):]] = true
		}
		if _, err := w.hooks.Change(t.Context(), order.CommandFor(1), e.Key, webhook.Change{URL: &url}, order.Options[webhook.Endpoint]{}); err != nil {
			t.Fatal(err)
		}
	}
	w.run(poster, func(o *webhook.Options) { o.Poll, o.Wait = 0, nil })
	var all []time.Duration
	for round := range rounds {
		mu.Lock()
		begun, delays = time.Now(), nil
		mu.Unlock()
		for m := range int64(merchants) {
			w.addEvents(m+1, "R"+strconv.Itoa(round), 1)
		}
		testenv.Eventually(t, "the endpoints that respond", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(delays) >= len(endpoints)-hanging
		})
		mu.Lock()
		all = append(all, delays...)
		mu.Unlock()
	}
	slices.Sort(all)
	t.Logf("%d deliveries to %d endpoints, %d of which hang: delay p50 %v, p99 %v, at most %v", len(all), len(endpoints), hanging,
		all[len(all)/2].Round(time.Millisecond), all[len(all)*99/100].Round(time.Millisecond), all[len(all)-1].Round(time.Millisecond))
	if worst := all[len(all)-1]; worst > limit {
		t.Errorf("a delivery was %v late", worst)
	}
}
