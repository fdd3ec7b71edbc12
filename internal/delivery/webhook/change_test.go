package webhook_test

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"merchantorders/client"
	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

const oldURL, newURL = "https://m1.example.com", "https://new.example.com"

// recorder is a Poster that records the messages. A request takes a time, which may
// depend on the URL.
type recorder struct {
	took func(url string) time.Duration

	mu   sync.Mutex
	sent []webhook.Message
}

// Post implements webhook.Poster.
func (r *recorder) Post(ctx context.Context, m webhook.Message) delivery.Result {
	r.mu.Lock()
	r.sent = append(r.sent, m)
	r.mu.Unlock()
	select {
	case <-time.After(r.took(m.URL)):
		return delivery.Result{Status: http.StatusNoContent}
	case <-ctx.Done():
		return delivery.Result{Error: delivery.ErrorTimeout}
	}
}

// after returns the messages except for the first ones.
func (r *recorder) after(n int) []webhook.Message {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sent[n:]
}

// change is a function that changes an endpoint.
type change func(w *world, e *webhook.Endpoint) error

// patch returns a change of fields.
func patch(c webhook.Change) change {
	return func(w *world, e *webhook.Endpoint) (err error) {
		*e, err = w.hooks.Change(w.Context(), order.CommandFor(1), e.Key, c, order.Options[webhook.Endpoint]{})
		return err
	}
}

func patchURL(url string) change { return patch(webhook.Change{URL: &url}) }

func enable(on bool) change { return patch(webhook.Change{Enabled: &on}) }

func replay(w *world, e *webhook.Endpoint) (err error) {
	*e, err = w.hooks.Replay(w.Context(), order.CommandFor(1), e.Key, order.MarketCursor{}, order.Options[webhook.Endpoint]{})
	return err
}

func suspend(w *world, _ *webhook.Endpoint) error {
	_, err := w.Merchants.Suspend(w.Context(), order.Command(), 1, "fraud", order.Options[order.Merchant]{})
	return err
}

// TestChangeDuringDelivery changes an endpoint with a backlog while a request is in
// flight: the next request uses what is stored then. None follows if it is disabled or
// removed, or its merchant is suspended.
func TestChangeDuringDelivery(t *testing.T) {
	t.Parallel()
	const events, before = 50, 5
	types := delivery.NewTypes(order.OrderStateChanged)
	for name, c := range map[string]struct {
		change change
		later  int // messages after the change
	}{
		"url": {patchURL(newURL), events - before + 1}, // also the one whose acknowledgment came from the old URL
		"secret": {func(w *world, e *webhook.Endpoint) (err error) {
			*e, err = w.hooks.RotateSecret(w.Context(), order.CommandFor(1), e.Key, 0, order.Options[webhook.Endpoint]{})
			return err
		}, events - before + 1},
		"types":    {patch(webhook.Change{Types: &types}), 0},
		"disabled": {enable(false), 0},
		"removed": {func(w *world, e *webhook.Endpoint) error {
			_, err := w.hooks.Remove(w.Context(), order.CommandFor(1), e.Key, order.Options[webhook.Endpoint]{})
			return err
		}, 0},
		"suspended": {suspend, 0},
		"resumed": {func(w *world, e *webhook.Endpoint) error {
			err := suspend(w, e)
			time.Sleep(time.Minute)
			_, err2 := w.Merchants.Resume(w.Context(), order.Command(), 1, order.Options[order.Merchant]{})
			return errors.Join(err, err2)
		}, events - before},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := &recorder{took: func(string) time.Duration { return 100 * time.Millisecond }}
				w := openWorld(t, "", r)
				e := w.addEndpoints(1, 1)[0]
				w.AddEvents(1, "A", events)
				w.Run(nil)
				time.Sleep(before*100*time.Millisecond - 50*time.Millisecond)
				testenv.NoError(t, c.change(w, &e))
				time.Sleep(time.Minute)
				later := r.after(before)
				testenv.Equal(t, "messages after the change", c.later, len(later))
				for i, m := range later {
					header := http.Header{"Webhook-Id": {m.ID}, "Webhook-Timestamp": {strconv.FormatInt(m.At.Unix(), 10)}, "Webhook-Signature": {m.Signature}}
					event, err := client.VerifyWebhook(header, m.Body, string(e.Secret))
					if m.URL != e.URL || err != nil || event.Seq != int64(events-c.later+1+i) {
						t.Fatalf("message %d after the change: %s to %s, event %d, %v", i, m.ID, m.URL, event.Seq, err)
					}
				}
			})
		})
	}
}

// TestRepairDuringDelivery repairs an endpoint while a request to its old address hangs:
// the failure of that request is in the log, but does not count.
func TestRepairDuringDelivery(t *testing.T) {
	t.Parallel()
	single := func(send func(w *world, key delivery.Key) (delivery.Attempt, error)) change {
		return func(w *world, e *webhook.Endpoint) error {
			time.Sleep(10 * time.Second) // now the endpoint waits after a failure
			sent := make(chan error, 1)
			go func() {
				_, err := send(w, e.Key)
				sent <- err
			}()
			time.Sleep(time.Second)
			err := patchURL(newURL)(w, e)
			testenv.NoError(w, <-sent)
			return err
		}
	}
	for name, c := range map[string]struct {
		repair   change
		attempts int // to the old address, which are in the log
	}{
		"url": {patchURL(newURL), 1},
		"enabled again, after a failure": {func(w *world, e *webhook.Endpoint) error {
			time.Sleep(10 * time.Second)
			w.store(e.Key, func(e *webhook.Endpoint) { e.URL = newURL })
			return enable(true)(w, e)
		}, 1},
		"enabled": {func(w *world, e *webhook.Endpoint) error {
			testenv.NoError(w, enable(false)(w, e))
			testenv.NoError(w, patchURL(newURL)(w, e))
			return enable(true)(w, e)
		}, 1},
		"replay": {func(w *world, e *webhook.Endpoint) error {
			testenv.NoError(w, replay(w, e))
			time.Sleep(10 * time.Second) // it was tried again at once
			return patchURL(newURL)(w, e)
		}, 2},
		"test": {single(func(w *world, key delivery.Key) (delivery.Attempt, error) {
			return w.hooks.Test(w.Context(), order.CommandFor(1), key, order.Options[delivery.Attempt]{})
		}), 2},
		"redeliver": {single(func(w *world, key delivery.Key) (delivery.Attempt, error) {
			return w.hooks.Redeliver(w.Context(), order.CommandFor(1), key, key.MerchantID, 2, order.Options[delivery.Attempt]{})
		}), 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := &recorder{took: func(url string) time.Duration {
					if url == oldURL {
						return time.Hour
					}
					return time.Millisecond
				}}
				w := openWorld(t, "", r)
				e := w.addEndpoints(1, 1)[0]
				w.AddEvents(1, "A", 3)
				w.Run(func(o *delivery.Options) { o.Wait = func(int) time.Duration { return 8 * time.Hour } })
				time.Sleep(5 * time.Second)
				testenv.NoError(t, c.repair(w, &e))
				time.Sleep(time.Minute)
				got, err := w.hooks.Get(t.Context(), e.Key)
				if err != nil || got.Acknowledged.Seq != 3 || got.Failures != 0 || !got.NextAttempt.IsZero() || !got.FailingSince.IsZero() || got.State != delivery.Active {
					t.Errorf("after the repair: %+v, %v", got, err)
				}
				log, err := w.hooks.Deliveries(t.Context(), e.Key, 1<<62, 100)
				failed := 0
				for _, d := range log {
					if d.Error != "" {
						failed++
					}
				}
				if err != nil || failed != c.attempts || len(log) != c.attempts+3 {
					t.Errorf("%d deliveries in the log, %d failed, %v", len(log), failed, err)
				}
			})
		})
	}
}
