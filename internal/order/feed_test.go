package order_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"merchantorders/internal/order"
)

// lookEvery is how often a service looks for changes of others.
const lookEvery = 250 * time.Millisecond

// within is a time that the dice choose.
func within(dice *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(dice.Int64N(int64(most)))
}

func feedStore() *fakeStore { return newFakeStore(head(order.Registered)) }

func feedService(store order.Store) *order.Service {
	return order.NewService(store, nil, time.Now, slog.New(slog.DiscardHandler))
}

func accept(t *testing.T, s *order.Service) {
	if _, err := s.Accept(t.Context(), merchant, order.ByLegacyID(1), order.WriteOptions{}); err != nil {
		t.Errorf("accept: %v", err)
	}
}

// waitFor asks for the events after one, and returns their number and how long
// it took.
func waitFor(ctx context.Context, s *order.Service, after int64, wait time.Duration) (int, time.Duration, error) {
	start := time.Now()
	events, err := s.Events(ctx, merchant, order.FeedQuery{After: after, Limit: 10, Wait: wait})
	return len(events), time.Since(start), err
}

// slowStore takes its time to hand over what it has read.
type slowStore struct {
	*fakeStore
	pause func()
}

func (s slowStore) Events(ctx context.Context, merchantID, after int64, limit int) ([]order.EventRecord, error) {
	events, err := s.fakeStore.Events(ctx, merchantID, after, limit)
	s.pause()
	return events, err
}

// TestNoWakeUpIsLost has a change come at every moment of a waiting request:
// before, while and after it looks. Looking at what others do is switched off,
// which would hide a wake-up that was missed.
func TestNoWakeUpIsLost(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			dice := rand.New(rand.NewPCG(seed, 1))
			var mu sync.Mutex
			pause := func() {
				mu.Lock()
				d := within(dice, 4*time.Millisecond)
				mu.Unlock()
				time.Sleep(d)
			}
			store := feedStore()
			store.fail = func(operation string) error {
				if operation == "DataVersions" {
					return errors.New("not to be looked at")
				}
				return nil
			}
			s := feedService(slowStore{store, pause})
			at := within(dice, 12*time.Millisecond)
			go func() {
				time.Sleep(at)
				accept(t, s)
			}()
			n, took, err := waitFor(t.Context(), s, 0, order.MaxFeedWait)
			if n != 1 || err != nil || took > at+8*time.Millisecond {
				t.Errorf("seed %d: %d events after %s, changed after %s, error %v", seed, n, took, at, err)
			}
			synctest.Wait()
		})
	}
}

// TestChangesOfOthersAreSeen has another instance change something.
func TestChangesOfOthersAreSeen(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			dice := rand.New(rand.NewPCG(seed, 2))
			store := feedStore()
			mine, others := feedService(store), feedService(store)
			at := within(dice, 3*lookEvery)
			go func() {
				time.Sleep(at)
				accept(t, others)
			}()
			n, took, err := waitFor(t.Context(), mine, 0, order.MaxFeedWait)
			if n != 1 || err != nil || took > at+lookEvery {
				t.Errorf("seed %d: %d events after %s, changed after %s, error %v", seed, n, took, at, err)
			}
		})
	}
}

func TestEventsWithoutWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := feedService(feedStore())
		if n, took, err := waitFor(t.Context(), s, 0, 0); n != 0 || took != 0 || err != nil {
			t.Errorf("none, and no wait: %d events after %s, error %v", n, took, err)
		}
		accept(t, s)
		if n, took, err := waitFor(t.Context(), s, 0, order.MaxFeedWait); n != 1 || took != 0 || err != nil {
			t.Errorf("one is there: %d events after %s, error %v", n, took, err)
		}
	})
}

// TestManyShareOneLook: however many wait, one small read looks for changes,
// and when the time is over all are answered.
func TestManyShareOneLook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int32
		store := feedStore()
		store.fail = func(operation string) error {
			if operation == "DataVersions" {
				looks.Add(1)
			}
			return nil
		}
		s := feedService(store)
		var all sync.WaitGroup
		for range order.MaxWaiters {
			all.Go(func() {
				if n, took, err := waitFor(t.Context(), s, 0, 10*time.Second); n != 0 || took != 10*time.Second || err != nil {
					t.Errorf("%d events after %s, error %v", n, took, err)
				}
			})
		}
		synctest.Wait()
		if n, took, err := waitFor(t.Context(), s, 0, 10*time.Second); n != 0 || took != 0 || err != nil {
			t.Errorf("one too many: %d events after %s, error %v", n, took, err)
		}
		all.Wait()
		if got := looks.Load(); got < 39 || got > 40 {
			t.Errorf("looked %d times in 10 seconds", got)
		}
		time.Sleep(time.Minute)
		if got := looks.Load(); got > 40 {
			t.Errorf("looked %d times, with nobody waiting", got)
		}
		if _, took, _ := waitFor(t.Context(), s, 0, time.Second); took != time.Second {
			t.Errorf("there is room again, and it waited %s", took)
		}
	})
}

// TestWaitsEnd: by the client's going away, by the end of the server, and by a
// fault of the store.
func TestWaitsEnd(t *testing.T) {
	t.Parallel()
	fault := errors.New("the disk is on fire")
	for name, test := range map[string]struct {
		end  func(s *order.Service, store *fakeStore, cancel func())
		want error
		late bool // those who come afterwards wait
	}{
		"client gone": {func(_ *order.Service, _ *fakeStore, cancel func()) { cancel() }, context.Canceled, true},
		"server ends": {func(s *order.Service, _ *fakeStore, _ func()) { s.StopWaiting(); s.StopWaiting() }, nil, false},
		"store fails": {func(s *order.Service, store *fakeStore, _ func()) {
			store.mu.Lock()
			store.fail = func(operation string) error {
				if operation == "Events" {
					return fault
				}
				return nil
			}
			store.mu.Unlock()
			_, _ = s.Accept(context.Background(), merchant, order.ByLegacyID(1), order.WriteOptions{})
		}, fault, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := feedStore()
				s := feedService(store)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go func() {
					time.Sleep(time.Second)
					test.end(s, store, cancel)
				}()
				n, took, err := waitFor(ctx, s, 0, order.MaxFeedWait)
				if n != 0 || took != time.Second || !errors.Is(err, test.want) {
					t.Errorf("%d events after %s, error %v", n, took, err)
				}
				if _, took, _ := waitFor(t.Context(), s, 5, order.MaxFeedWait); (took > 0) != test.late {
					t.Errorf("the next one waited %s", took)
				}
			})
		})
	}
}

// TestLostAnswerWakes: a commit may have gone through although it is an error
// to the one who made it.
func TestLostAnswerWakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := feedStore()
		s := feedService(store)
		go func() {
			time.Sleep(time.Millisecond)
			store.mu.Lock()
			store.afterCommit = func() error { return order.ErrUnavailable }
			store.mu.Unlock()
			if _, err := s.Accept(t.Context(), merchant, order.ByLegacyID(1), order.WriteOptions{}); err == nil {
				t.Error("the answer should be lost")
			}
		}()
		if n, took, err := waitFor(t.Context(), s, 0, order.MaxFeedWait); n != 1 || took != time.Millisecond || err != nil {
			t.Errorf("%d events after %s, error %v", n, took, err)
		}
	})
}

// takingStore takes in every order, and has an event of it.
type takingStore struct{ *fakeStore }

func (s takingStore) ImportOrders(_ context.Context, batch []order.Incoming, _ time.Time) ([]order.ImportResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	outcomes := make([]order.ImportResult, len(batch))
	for i := range batch {
		o := s.orders[1]
		o.events = append(o.events, order.Event{Seq: int64(len(o.events) + 1), Type: order.OrderCreated})
		outcomes[i] = order.ImportResult{Status: order.Created, LegacyID: 1}
	}
	return outcomes, nil
}

// TestNewOrdersWake: those who wait need not wait for the next look.
func TestNewOrdersWake(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := feedService(takingStore{feedStore()})
		go func() {
			time.Sleep(time.Millisecond)
			if _, err := s.Import(t.Context(), []order.Incoming{{Order: order.Order{MerchantID: merchant}}}); err != nil {
				t.Error(err)
			}
		}()
		if n, took, err := waitFor(t.Context(), s, 0, order.MaxFeedWait); n != 1 || took != time.Millisecond || err != nil {
			t.Errorf("%d events after %s, error %v", n, took, err)
		}
	})
}

func TestOrderEventsNeedAKey(t *testing.T) {
	t.Parallel()
	store := feedStore()
	for _, key := range []order.Identifier{{}, order.ByReference("a\x00"), order.ByReference("SF-2"), order.ByLegacyID(-1)} {
		if _, err := feedService(store).OrderEvents(t.Context(), merchant, key, order.FeedQuery{Limit: 1}); !errors.Is(err, order.ErrNotFound) {
			t.Errorf("%v: error %v", key, err)
		}
	}
}
