package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"merchantorders/client"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/testenv"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// plainEncoder encodes only what these tests look at.
type plainEncoder struct{}

func (plainEncoder) Event(e order.EventRecord, _ bool) ([]byte, error) {
	return json.Marshal(client.Event{Seq: e.Seq, Type: client.EventType(e.Type.String()), OrderReference: e.Reference, At: e.At, Data: json.RawMessage("{}")})
}

// marketEvent is the body of an event for the marketplace.
type marketEvent struct {
	ID              string
	MerchantID, Seq int64
}

func (plainEncoder) MarketEvent(e order.EventRecord, _ bool) ([]byte, error) {
	return json.Marshal(marketEvent{e.ID(), e.MerchantID, e.Seq})
}

func (plainEncoder) Test(time.Time) ([]byte, string, error) { return []byte(`{}`), "webhook.test", nil }

// world is a database with senders.
type world struct {
	*testing.T
	db        *store.DB
	orders    *order.Service
	merchants *order.Merchants
	hooks     *webhook.Service
}

func openWorld(t *testing.T, poster webhook.Poster) *world {
	t.Helper()
	return openWorldOn(t, filepath.Join(t.TempDir(), "orders.db"), poster)
}

// openWorldOn is openWorld on a database of either kind.
func openWorldOn(t *testing.T, database string, poster webhook.Poster) *world {
	t.Helper()
	db, err := openStore(t.Context(), database)
	testenv.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	testenv.NoError(t, db.WatchCommits(t.Context()))
	w := &world{T: t, db: db, orders: order.NewService(db, nil, time.Now, slog.New(slog.DiscardHandler))}
	w.merchants = order.NewMerchants(db, time.Now, func(int64) {})
	w.hooks = webhook.NewService(webhook.ServiceOptions{Store: db, Poster: poster, Encoder: plainEncoder{}, Now: time.Now})
	return w
}

// addEvents imports orders of a merchant, which makes as many events.
func addEvents(ctx context.Context, orders *order.Service, merchantID int64, prefix string, n int) error {
	batch := make([]order.Incoming, n)
	for i := range batch {
		batch[i] = order.Incoming{Order: order.Order{
			MerchantID: merchantID, Reference: fmt.Sprintf("%s-%d-%d", prefix, merchantID, i), State: order.Registered, Currency: "EUR", CreatedAt: noon,
		}}
	}
	_, err := orders.Import(ctx, order.Command(), batch)
	return err
}

func (w *world) addEvents(merchantID int64, prefix string, n int) {
	w.Helper()
	if err := addEvents(w.Context(), w.orders, merchantID, prefix, n); err != nil {
		w.Fatal(err)
	}
}

// addEndpoints adds merchants with endpoints that get all events.
func (w *world) addEndpoints(merchants, each int) []webhook.Endpoint {
	w.Helper()
	var endpoints []webhook.Endpoint
	for m := range merchants {
		id := int64(1 + m)
		if err := w.merchants.Add(w.Context(), order.Command(), id, "Shop", order.Options[order.Merchant]{}); err != nil {
			w.Fatal(err)
		}
		for range each {
			e, err := w.hooks.Add(w.Context(), order.CommandFor(1), webhook.Addition{MerchantID: id, URL: fmt.Sprintf("https://m%d.example.com", id)}, order.Options[webhook.Endpoint]{})
			if err != nil {
				w.Fatal(err)
			}
			endpoints = append(endpoints, e)
		}
	}
	return endpoints
}

// store stores what a function changes of an endpoint.
func (w *world) store(key webhook.Key, change func(*webhook.Endpoint)) {
	w.Helper()
	testenv.NoError(w, w.db.InWebhookTx(w.Context(), func(tx webhook.Tx) error {
		e, err := tx.LockWebhook(w.Context(), key)
		if err != nil {
			return err
		}
		change(&e)
		return tx.UpdateWebhook(w.Context(), e)
	}))
}

// run starts a sender until the returned function is called, or the test ends.
func (w *world) run(poster webhook.Poster, change func(*webhook.Options)) (stop func()) {
	w.Helper()
	options := webhook.Options{
		Store: w.db, Poster: poster, Encoder: plainEncoder{}, Now: time.Now, Random: rand.Float64, Log: slog.New(slog.DiscardHandler),
		Poll: 20 * time.Millisecond, Wait: func(int) time.Duration { return time.Millisecond },
	}
	if change != nil {
		change(&options)
	}
	sender := webhook.NewSender(options)
	w.orders.OnChange(sender.Changed)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { sender.Run(ctx) })
	stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
	})
	w.Cleanup(stop)
	return stop
}

// receiver is a Poster that records what arrives. It verifies each signature.
type receiver struct {
	mu       sync.Mutex
	secrets  map[string]string  // by URL and webhook id: see key
	acked    map[string][]int64 // numbers of events, in the order of their acknowledgment
	inFlight map[string]int
	problems []string
	// answer decides about a message; nil: it is acknowledged.
	answer func(ctx context.Context, key string, event client.Event) webhook.Result
}

func newReceiver() *receiver {
	return &receiver{secrets: make(map[string]string), acked: make(map[string][]int64), inFlight: make(map[string]int)}
}

func (r *receiver) problem(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// Post implements webhook.Poster.
func (r *receiver) Post(ctx context.Context, m webhook.Message) webhook.Result {
	var webhookID, seq int64
	var nonce string
	if n, err := fmt.Sscanf(m.ID, "msg_%d_%d_%s", &webhookID, &seq, &nonce); n != 3 || err != nil {
		r.problem("message id %q", m.ID)
	}
	key := fmt.Sprint(webhookID)
	r.mu.Lock()
	secret := r.secrets[key]
	r.inFlight[key]++
	if n := r.inFlight[key]; n != 1 {
		r.problems = append(r.problems, fmt.Sprintf("%d requests to webhook %s in flight", n, key))
	}
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.inFlight[key]--
	}()
	header := map[string][]string{
		"Webhook-Id": {m.ID}, "Webhook-Timestamp": {fmt.Sprint(m.At.Unix())}, "Webhook-Signature": {m.Signature},
	}
	event, err := client.VerifyWebhook(header, m.Body, secret)
	if err != nil || event.Seq != seq {
		r.problem("message %s: event %+v, %v", m.ID, event, err)
	}
	result := webhook.Result{Status: 204}
	if r.answer != nil {
		result = r.answer(ctx, key, event)
	}
	if result.Error == "" {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.acked[key] = append(r.acked[key], seq)
	}
	return result
}

// know tells the receiver the secrets of endpoints.
func (r *receiver) know(endpoints ...webhook.Endpoint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range endpoints {
		r.secrets[fmt.Sprint(e.ID)] = string(e.Secret)
	}
}

// last returns the number of the last event that an endpoint has acknowledged.
func (r *receiver) last(e webhook.Endpoint) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if got := r.acked[fmt.Sprint(e.ID)]; len(got) > 0 {
		return got[len(got)-1]
	}
	return 0
}
