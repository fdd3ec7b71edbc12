package webhook_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
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

// The test program starts itself as an instance that delivers. The variable has its
// database.
const childVariable = "WEBHOOK_TEST_DATABASE"

// childMain delivers until it is killed. It retries at once, and its leases are short.
func childMain(database string) int {
	ctx := context.Background()
	db, err := deliverytest.OpenStore(ctx, database)
	if err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		return 1
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	hooks := webhook.NewService(webhook.Options{Store: db, Poster: webhook.NewClient(true), Encoder: plainEncoder{}, Now: time.Now, Log: log, Attempt: time.Second})
	delivery.NewWorker(delivery.Options{
		Store: db, Senders: map[delivery.Kind]delivery.Sender{webhook.Kind: hooks}, Now: time.Now, Random: rand.Float64, Log: log,
		Poll: 50 * time.Millisecond, Wait: func(int) time.Duration { return 0 }, Lease: 3 * time.Second,
	}).Run(ctx)
	return 0
}

// shop is a merchant's server. It refuses some deliveries, before or after it has processed
// their events.
type shop struct {
	mu       sync.Mutex
	secrets  []string // the first one, and those of a rotation, which signs with both
	batch    int
	inFlight int
	refused  string // id of the delivery that was refused last; empty: a later one was not
	id       string // of the last delivery processed
	last     int64  // number of the last event processed
	repeated int    // deliveries that were processed already
	largest  int    // number of events in a delivery
}

// shops are all of them, as one HTTP server. The path is the number of the shop.
type shops struct {
	testing.TB
	byPath    map[string]*shop
	attempts  atomic.Int64
	processed atomic.Int64
	refused   atomic.Int64
	rotated   atomic.Bool // a delivery was signed with a new secret
}

func (s *shops) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.attempts.Add(1)
	shop := s.byPath[r.URL.Path]
	shop.mu.Lock()
	shop.inFlight++
	testenv.Equal(s, r.URL.Path+": requests in flight", 1, shop.inFlight)
	shop.mu.Unlock()
	defer func() {
		shop.mu.Lock()
		defer shop.mu.Unlock()
		shop.inFlight--
	}()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the worker was killed
	}
	shop.mu.Lock()
	defer shop.mu.Unlock()
	events, err := client.WebhookEvents(r.Header, body, shop.secrets[0])
	if err != nil {
		s.Errorf("%s: %v", r.URL.Path, err)
	}
	if _, err = client.WebhookEvents(r.Header, body, shop.secrets[len(shop.secrets)-1]); err == nil && len(shop.secrets) > 1 {
		s.rotated.Store(true)
	}
	id := r.Header.Get("Webhook-Id")
	if list := bytes.HasPrefix(body, []byte(`{"events":[`)); list != (shop.batch > 1) || len(events) > shop.batch || shop.refused != "" && shop.refused != id {
		s.Errorf("%s: %d events in %s after %s was refused; batch %d", r.URL.Path, len(events), id, shop.refused, shop.batch)
	}
	refuse := rand.IntN(10)
	if refuse >= 2 {
		shop.process(s, r.URL.Path, id, events)
	}
	if shop.refused = ""; refuse < 3 { // one of them after the events were processed
		shop.refused = id
		s.refused.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// process processes events, which must be the next ones or those of the last delivery again.
func (p *shop) process(s *shops, path, id string, events []client.Event) {
	if id == p.id {
		p.repeated++
		if n := len(events); events[n-1].Seq != p.last {
			s.Errorf("%s: %s ends with event %d, not %d", path, id, events[n-1].Seq, p.last)
		}
		return
	}
	for _, event := range events {
		if event.Seq != p.last+1 {
			s.Errorf("%s: event %d comes after %d", path, event.Seq, p.last)
		}
		p.last = event.Seq
	}
	p.id, p.largest = id, max(p.largest, len(events))
	s.processed.Add(int64(len(events)))
}

// rotate adds a secret.
func (p *shop) rotate(secret string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.secrets = append(p.secrets, secret)
}

// TestKilledSenders delivers to servers that refuse 30 % of the deliveries, with two
// instances that are killed at random, and with new secrets in between: every event arrives,
// alone or in batches, in order, with a good signature, and never two at once; a delivery that
// was refused is repeated. With testenv.Soak these are 100,000 events on each database.
func TestKilledSenders(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		killSenders(t, filepath.Join(t.TempDir(), "orders.db"))
	})
	t.Run("postgres", func(t *testing.T) {
		if !testenv.Soak() && !pgtest.Distributed(t) {
			t.Skip("takes long: storetest tests the leases on PostgreSQL; scripts/soak runs this, and a cluster does")
		}
		killSenders(t, pgtest.Database(t))
	})
}

func killSenders(t *testing.T, database string) {
	merchants, events, kills := testenv.Count(10, 100), testenv.Count(100, 1000), testenv.Count(2, 50)
	w := openWorld(t, database, nil)
	s := &shops{TB: t, byPath: make(map[string]*shop)}
	server := httptest.NewUnstartedServer(s)
	t.Cleanup(server.Close)
	endpoints := w.addEndpoints(merchants, 1)
	for i, e := range endpoints {
		path, batch := fmt.Sprint("/", e.MerchantID), []int{1, 7, webhook.MaxBatch}[i%3]
		w.change(e.Key, webhook.Change{URL: new("http://" + server.Listener.Addr().String() + path), MaxEvents: &batch})
		s.byPath[path] = &shop{secrets: []string{string(e.Secret)}, batch: batch}
	}
	server.Start()
	started := time.Now()
	var children [2]*exec.Cmd
	for i := range children {
		children[i] = startChild(t, database)
		defer func() { killChild(children[i]) }()
	}
	go func() {
		const some = 20
		for i := 0; i < events; i += some {
			for m := range merchants {
				w.AddEvents(int64(1+m), fmt.Sprint("B", i), some)
			}
		}
	}()
	total := int64(merchants * events)
	for k := range kills {
		reached := total * int64(k+1) / int64(kills+1)
		waitLong(t, s, reached)
		i := rand.IntN(len(children))
		killChild(children[i])
		children[i] = startChild(t, database)
		if k == 0 {
			for _, e := range endpoints {
				e = testenv.Of(w.hooks.RotateSecret(t.Context(), order.Command(), e.Key, webhook.MaxOverlap, order.Options[webhook.Endpoint]{})).Must(t)
				s.byPath[fmt.Sprint("/", e.MerchantID)].rotate(string(e.Secret))
			}
		}
	}
	waitLong(t, s, total)
	repeated := 0
	for path, shop := range s.byPath {
		shop.mu.Lock()
		repeated += shop.repeated
		if shop.last != int64(events) || (shop.largest > 1) != (shop.batch > 1) {
			t.Errorf("%s has %d events, at most %d at once; batch %d", path, shop.last, shop.largest, shop.batch)
		}
		shop.mu.Unlock()
	}
	if !s.rotated.Load() {
		t.Error("no delivery is signed with a new secret")
	}
	t.Logf("%d events, %d attempts, %d refused, %d repeated, %d kills, %v", s.processed.Load(), s.attempts.Load(), s.refused.Load(),
		repeated, kills, time.Since(started).Round(time.Second))
}

// startChild starts an instance that delivers.
func startChild(t *testing.T, database string) *exec.Cmd {
	t.Helper()
	program := testenv.Of(os.Executable()).Must(t)
	child := exec.CommandContext(t.Context(), program)
	child.Env = append(os.Environ(), childVariable+"="+database)
	child.Stderr = os.Stderr
	testenv.NoError(t, child.Start())
	return child
}

func killChild(child *exec.Cmd) {
	_ = child.Process.Kill()
	_ = child.Wait() // the error says that it was killed
}

// waitLong waits until the shops have processed a number of events. It fails if they
// process none for a minute.
func waitLong(t *testing.T, s *shops, wanted int64) {
	t.Helper()
	seen, at := int64(-1), time.Now()
	for s.processed.Load() < wanted {
		if n := s.processed.Load(); n != seen {
			seen, at = n, time.Now()
		}
		if time.Since(at) > time.Minute {
			t.Fatalf("no event for a minute; %d of %d have arrived", seen, wanted)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
