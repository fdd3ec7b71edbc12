package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"merchantorders/client"
	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/deliverytest"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// plainEncoder encodes only what these tests look at.
type plainEncoder struct{}

func (plainEncoder) Event(e order.EventRecord, _ bool) ([]byte, error) {
	return json.Marshal(client.Event{Seq: e.Seq, Type: client.EventType(e.Type.String()), OrderReference: e.Reference, At: e.At, Data: json.RawMessage("{}")})
}

// marketEvent is the body of an event for the marketplace.
type marketEvent struct {
	ID, Type        string
	MerchantID, Seq int64
}

func (plainEncoder) MarketEvent(e order.EventRecord, _ bool) ([]byte, error) {
	return json.Marshal(marketEvent{e.ID(), e.Type.String(), e.MerchantID, e.Seq})
}

func (plainEncoder) Test(time.Time) ([]byte, string, error) { return []byte(`{}`), "webhook.test", nil }

// world is a database with a service whose webhooks workers deliver to.
type world struct {
	*deliverytest.World
	hooks    *webhook.Service
	receiver *receiver // nil: another Poster
}

// openWorld opens a new SQLite file, or a database of either kind. A receiver must have no
// problems at the end of the test.
func openWorld(t *testing.T, database string, poster webhook.Poster, changes ...func(*webhook.Options)) *world {
	t.Helper()
	w := &world{World: deliverytest.Open(t, database)}
	options := webhook.Options{Store: w.DB, Poster: poster, Encoder: plainEncoder{}, Now: time.Now, Log: slog.New(slog.DiscardHandler)}
	for _, change := range changes {
		change(&options)
	}
	w.hooks = webhook.NewService(options)
	w.Senders[webhook.Kind] = w.hooks
	if w.receiver, _ = poster.(*receiver); w.receiver != nil {
		t.Cleanup(func() {
			if len(w.receiver.problems) > 0 {
				t.Error(slices.Compact(w.receiver.problems))
			}
		})
	}
	return w
}

// addEndpoints adds merchants with endpoints that get all events.
func (w *world) addEndpoints(merchants, each int) []webhook.Endpoint {
	w.Helper()
	w.AddMerchants(merchants)
	var endpoints []webhook.Endpoint
	for m := range int64(merchants) {
		for range each {
			e := testenv.Of(w.hooks.Add(w.Context(), order.CommandFor(1), 1+m, webhook.Change{URL: new(fmt.Sprintf("https://m%d.example.com", 1+m))}, nil, order.Options[webhook.Endpoint]{})).Must(w)
			if w.receiver != nil {
				w.receiver.know(e)
			}
			endpoints = append(endpoints, e)
		}
	}
	return endpoints
}

// change changes an endpoint by a request.
func (w *world) change(key delivery.Key, c webhook.Change) {
	w.Helper()
	testenv.Of(w.hooks.Change(w.Context(), order.Command(), key, c, order.Options[webhook.Endpoint]{})).Must(w)
}

// until waits until an endpoint is as a function wants it.
func (w *world) until(what string, key delivery.Key, is func(webhook.Endpoint) bool) {
	w.Helper()
	testenv.Eventually(w, what, func() bool {
		e, err := w.hooks.Get(w.Context(), key)
		return err == nil && is(e)
	})
}

// acknowledged waits until the cursor of an endpoint has reached an event.
func (w *world) acknowledged(key delivery.Key, seq int64) {
	w.Helper()
	w.until(fmt.Sprint("the acknowledgment of event ", seq), key, func(e webhook.Endpoint) bool { return e.Acknowledged.Seq == seq })
}

// store stores what a function changes of an endpoint.
func (w *world) store(key delivery.Key, change func(*webhook.Endpoint)) {
	w.Helper()
	testenv.NoError(w, w.DB.InWebhookTx(w.Context(), func(tx webhook.Tx) error {
		e, err := tx.Lock(w.Context(), key)
		if err != nil {
			return err
		}
		change(&e)
		return tx.Update(w.Context(), e)
	}))
}

// receiver is a Poster that records what arrives. It verifies each signature.
type receiver struct {
	mu       sync.Mutex
	secrets  map[string]string  // by id of the webhook
	acked    map[string][]int64 // numbers of events, in the order of their acknowledgment
	inFlight map[string]int
	problems []string
	// answer decides about a message; nil: it is acknowledged.
	answer func(ctx context.Context, key string, event client.Event) delivery.Result
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
func (r *receiver) Post(ctx context.Context, m webhook.Message) delivery.Result {
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
	result := delivery.Result{Status: 204}
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

// know tells the receiver the secret of an endpoint.
func (r *receiver) know(e webhook.Endpoint) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets[fmt.Sprint(e.ID)] = string(e.Secret)
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
