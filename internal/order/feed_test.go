package order_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/testenv"
)

// pollInterval is how often a service polls for changes of other instances.
const pollInterval = 250 * time.Millisecond

// within returns a random duration below a maximum.
func within(dice *rand.Rand, limit time.Duration) time.Duration {
	return time.Duration(dice.Int64N(int64(limit)))
}

func feedService(store order.Store) *order.Service {
	return order.NewService(store, nil, time.Now, slog.New(slog.DiscardHandler))
}

func accept(t *testing.T, s *order.Service) {
	testenv.Of(s.Accept(t.Context(), order.CommandFor(merchant), order.ByLegacyID(1), order.Options[order.WriteResult]{})).Must(t)
}

// waitFor reads the events after one. It returns their number and the time it
// took.
func waitFor(ctx context.Context, s *order.Service, after int64, wait time.Duration) (int, time.Duration, error) {
	start := time.Now()
	feed, err := s.Events(ctx, merchant, order.FeedQuery{After: after, Limit: 10, Wait: wait})
	return len(feed.Events), time.Since(start), err
}

// feedStore returns a database with a registered order. The event of its creation has
// the number 1. A watched database tells of its commits.
func feedStore(t *testing.T, watched bool) *database {
	t.Helper()
	db := newDatabase(t, sample(order.Registered))
	t.Cleanup(synctest.Wait) // until no poll uses the database
	if watched {
		testenv.NoError(t, db.WatchCommits(t.Context()))
	}
	return db
}

// secondHistory gives the merchant another history, whose events differ.
func secondHistory(t *testing.T, db *database, events string) {
	err := db.SQL().InTx(t.Context(), func(q sqldb.Querier) error {
		_, eventsErr := q.Exec(t.Context(), `UPDATE events SET `+events+` WHERE merchant_id = $1`, merchant)
		_, err := q.Exec(t.Context(), `UPDATE merchants SET history = 'second', data_nonce = data_nonce + 1 WHERE id = $1`, merchant)
		return errors.Join(eventsErr, err)
	})
	if err != nil {
		t.Error(err)
	}
}

// TestNoWakeUpIsLost makes changes at every moment of a long poll: before, during and
// after its read. Polling is disabled because it would hide a missed wake-up.
// Proves decision 5 (events: long polling).
func TestNoWakeUpIsLost(t *testing.T) {
	t.Parallel()
	testChanges(t, 300, func(t *testing.T, dice *rand.Rand, db *database) (mine, others *order.Service, at, limit time.Duration) {
		var mu sync.Mutex
		db.breaking(func(operation string) error {
			switch operation {
			case "DataVersions":
				return errors.New("polling is disabled")
			case "Events": // a pause between reading events and returning them
				mu.Lock()
				d := within(dice, 4*time.Millisecond)
				mu.Unlock()
				time.Sleep(d)
			}
			return nil
		})
		s := feedService(db)
		return s, s, within(dice, 12*time.Millisecond), 8 * time.Millisecond
	})
}

// TestChangesOfOthersAreSeen makes changes through another instance.
// Proves decision 5 (events: long polling).
func TestChangesOfOthersAreSeen(t *testing.T) {
	t.Parallel()
	testChanges(t, 100, func(t *testing.T, dice *rand.Rand, db *database) (mine, others *order.Service, at, limit time.Duration) {
		return feedService(db), feedService(db.another(t)), within(dice, 3*pollInterval), pollInterval
	})
}

// testChanges waits for changes of orders, one after the other. round returns the
// services that wait and change, when the change is made, and how much later the wait
// may end.
func testChanges(t *testing.T, rounds int64, round func(*testing.T, *rand.Rand, *database) (mine, others *order.Service, at, limit time.Duration)) {
	synctest.Test(t, func(t *testing.T) {
		orders := make([]order.Order, rounds)
		for i := range orders {
			orders[i] = numbered(int64(i+1), order.Registered)
		}
		db := newDatabase(t, orders...)
		t.Cleanup(synctest.Wait) // until no poll uses the database
		for i := range rounds {
			mine, others, at, limit := round(t, rand.New(rand.NewPCG(uint64(i), 1)), db)
			go func() {
				time.Sleep(at)
				if _, err := others.Accept(t.Context(), order.CommandFor(merchant), order.ByLegacyID(i+1), order.Options[order.WriteResult]{}); err != nil {
					t.Errorf("accept: %v", err)
				}
			}()
			n, took, err := waitFor(t.Context(), mine, rounds+i, order.MaxFeedWait)
			if n != 1 || err != nil || took > at+limit {
				t.Errorf("seed %d: %d events after %s, changed after %s, error %v", i, n, took, at, err)
			}
			synctest.Wait()
		}
	})
}

func TestEventsWithoutWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := feedService(feedStore(t, false))
		if n, took, err := waitFor(t.Context(), s, 2, order.MaxFeedWait); n != 0 || took != 0 || err != nil {
			t.Errorf("after a position that the feed has not reached: %d events after %s, error %v", n, took, err)
		}
		if n, took, err := waitFor(t.Context(), s, 1, 0); n != 0 || took != 0 || err != nil {
			t.Errorf("none, and no wait: %d events after %s, error %v", n, took, err)
		}
		accept(t, s)
		if n, took, err := waitFor(t.Context(), s, 1, order.MaxFeedWait); n != 1 || took != 0 || err != nil {
			t.Errorf("one is there: %d events after %s, error %v", n, took, err)
		}
	})
}

// TestManyShareOnePoll: one read polls for all waiters, and all return when
// their time is over.
// Proves decision 5 (events: long polling).
func TestManyShareOnePoll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int32
		db := feedStore(t, false)
		db.fail = func(operation string) error {
			if operation == "DataVersions" {
				looks.Add(1)
			}
			return nil
		}
		s := feedService(db)
		var all sync.WaitGroup
		for range order.MaxWaiters {
			all.Go(func() {
				if n, took, err := waitFor(t.Context(), s, 1, 10*time.Second); n != 0 || took != 10*time.Second || err != nil {
					t.Errorf("%d events after %s, error %v", n, took, err)
				}
			})
		}
		synctest.Wait()
		if n, took, err := waitFor(t.Context(), s, 1, 10*time.Second); n != 0 || took != 0 || err != nil {
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
		if _, took, _ := waitFor(t.Context(), s, 1, time.Second); took != time.Second {
			t.Errorf("there is room again, and it waited %s", took)
		}
	})
}

// TestManyMerchantsShareOnePoll counts the queries of an instance with waiters of 500
// merchants: one for each waiter, then two for each poll, and none if the store tells
// that nothing was committed, but one for the tokens at the first poll. A commit of
// another instance wakes the waiters of its merchant only, within 500 ms.
// Proves decision 5 (events: long polling).
func TestManyMerchantsShareOnePoll(t *testing.T) {
	t.Parallel()
	const merchants, idle = 500, 10 * time.Second
	for name, test := range map[string]struct {
		watched       bool
		idle, changed int32 // polls: while nothing changes, with the change
		tokens        int32 // queries for tokens
	}{
		"commit version unknown": {false, int32(idle / pollInterval), 1, int32(idle/pollInterval) + 1},
		"commit version known":   {true, 0, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var polls, reads, tokens atomic.Int32
				db := feedStore(t, test.watched)
				db.fail = func(operation string) error {
					switch operation {
					case "DataVersions":
						polls.Add(1)
					case "RevokedTokens":
						tokens.Add(1)
					case "Events":
						reads.Add(1)
					}
					return nil
				}
				s, other := feedService(db), db.another(t)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				for n := range int64(merchants) {
					if id := 1 + n; id != merchant {
						go func() { _, _ = s.Events(ctx, id, order.FeedQuery{Limit: 1, Wait: order.MaxFeedWait, TokenID: id}) }()
					}
				}
				go func() {
					time.Sleep(idle + pollInterval/2)
					accept(t, feedService(other))
					if polls.Load() != test.idle || reads.Load() != merchants {
						t.Errorf("%d polls and %d reads of %d waiters in %s", polls.Load(), reads.Load(), merchants, idle)
					}
				}()
				n, took, err := waitFor(ctx, s, 1, order.MaxFeedWait)
				if late := took - idle - pollInterval/2; n != 1 || err != nil || late > 500*time.Millisecond {
					t.Errorf("%d events %s after the commit, error %v", n, late, err)
				}
				testenv.Equal(t, "queries for tokens", test.tokens, tokens.Load())
				if polls.Load() != test.idle+test.changed || reads.Load() != merchants+1 {
					t.Errorf("%d polls and %d reads of %d waiters until the change was read", polls.Load(), reads.Load(), merchants)
				}
			})
		})
	}
}

// TestRevocationEndsWait revokes a token at a moment before or after its request
// begins to wait: the wait ends at the next poll, also if the store fails once, and
// that of another token does not.
// Proves decision 5 (events: revoked token).
func TestRevocationEndsWait(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		at    time.Duration // of the revocation, after the request was authenticated
		took  time.Duration
		known bool // the commit version
		fails bool // the store fails at the first poll after the revocation
	}{
		"commit version unknown": {9 * pollInterval / 2, 5 * pollInterval, false, false},
		"commit version known":   {9 * pollInterval / 2, 5 * pollInterval, true, false},
		"before the wait":        {0, pollInterval, true, false},
		"the store fails once":   {9 * pollInterval / 2, 6 * pollInterval, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				db := feedStore(t, test.known)
				revoked := db.addToken(t)
				s := feedService(db)
				var other sync.WaitGroup
				defer other.Wait()
				other.Go(func() {
					if n, took, err := waitFor(t.Context(), s, 1, 5*time.Second); n != 0 || took != 5*time.Second || err != nil {
						t.Errorf("another token: %d events after %s, error %v", n, took, err)
					}
				})
				synctest.Wait()
				start := time.Now()
				revoke := func() {
					time.Sleep(test.at)
					db.revokeToken(t, revoked)
					failed := !test.fails
					db.breaking(func(operation string) error {
						if operation != "RevokedTokens" || failed {
							return nil
						}
						failed = true
						return order.ErrUnavailable
					})
				}
				if test.at == 0 {
					revoke()
				} else {
					go revoke()
				}
				waits := 0
				query := order.FeedQuery{After: 1, Limit: 10, Wait: order.MaxFeedWait, TokenID: revoked, OnWait: func() { waits++ }}
				feed, err := s.Events(t.Context(), merchant, query)
				if took := time.Since(start); took != test.took || !feed.Waited || len(feed.Events) != 0 || err != nil || waits != 1 {
					t.Errorf("%+v after %s and %d waits, error %v; want it after %s", feed, took, waits, err, test.took)
				}
			})
		})
	}
}

// TestHistoryEndsWait: a waiter gets a response as soon as the history is another
// one, and the feed tells where it ends.
// Proves decision 5 (events: history).
func TestHistoryEndsWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := feedStore(t, false)
		s := feedService(db)
		accept(t, s)
		go func() {
			time.Sleep(time.Second)
			secondHistory(t, db, `nonce = nonce + 1`)
		}()
		start := time.Now()
		feed, err := s.Events(t.Context(), merchant, order.FeedQuery{After: 2, Limit: 10, Wait: order.MaxFeedWait})
		versions, _ := db.DB.DataVersions(t.Context(), []int64{merchant})
		version := versions[merchant]
		if want := (order.Feed{Version: version, History: "second", Next: 2, Waited: true}); err != nil || !reflect.DeepEqual(feed, want) {
			t.Errorf("%+v, error %v; want %+v", feed, err, want)
		}
		if took := time.Since(start); took < time.Second || took > time.Second+pollInterval {
			t.Errorf("after %s", took)
		}
		feed, err = s.Events(t.Context(), merchant, order.FeedQuery{Latest: true, After: 7, Limit: 10, Wait: order.MaxFeedWait})
		if want := (order.Feed{Version: version, History: "second", Next: 2}); err != nil || !reflect.DeepEqual(feed, want) {
			t.Errorf("latest: %+v, error %v; want %+v", feed, err, want)
		}
	})
}

// TestEventsOfTypes waits for events of one type: those of others pass by, and are not read
// again.
// Proves decision 9 (events of some types).
func TestEventsOfTypes(t *testing.T) {
	t.Parallel()
	const many = order.MaxFeedLimit + 5
	orders := make([]order.Order, many)
	for i := range orders {
		orders[i] = numbered(int64(i+1), order.Registered)
	}
	synctest.Test(t, func(t *testing.T) {
		db := newDatabase(t, orders...)
		t.Cleanup(synctest.Wait) // until no poll uses the database
		var reads atomic.Int32
		db.fail = func(operation string) error {
			if operation == "Events" {
				reads.Add(1)
			}
			return nil
		}
		s, start := feedService(db), time.Now()
		read := func(query order.FeedQuery, wanted order.EventType) order.Feed {
			query.Wants = func(t order.EventType) bool { return t == wanted }
			return testenv.Of(s.Events(t.Context(), merchant, query)).Must(t)
		}
		want := func(what string, feed order.Feed, took time.Duration, next int64, seqs ...int64) {
			t.Helper()
			var got []int64
			for _, e := range feed.Events {
				got = append(got, e.Seq)
			}
			testenv.Equal(t, what, seqs, got)
			testenv.Equal(t, what+": next", next, feed.Next)
			testenv.Equal(t, what+": took", took, time.Since(start))
			start = time.Now()
		}
		go func() {
			time.Sleep(time.Second)
			accept(t, s)
		}()
		changed := read(order.FeedQuery{Limit: 10, Wait: order.MaxFeedWait}, order.OrderStateChanged)
		want("waited for", changed, time.Second, many+1, many+1)
		testenv.Equal(t, "reads", 3, reads.Load())
		want("never happens", read(order.FeedQuery{Limit: 10, Wait: order.MaxFeedWait}, order.InvoiceUploaded), order.MaxFeedWait, many+1)
		want("no wait", read(order.FeedQuery{Limit: 10}, order.InvoiceUploaded), 0, many+1)
		want("a page", read(order.FeedQuery{After: 3, Limit: 2, Orders: true}, order.OrderCreated), 0, 5, 4, 5)
		want("beyond the newest", read(order.FeedQuery{After: many + 9, Limit: 2, Wait: order.MaxFeedWait}, order.OrderCreated), 0, many+9)
		go func() {
			time.Sleep(time.Second)
			secondHistory(t, db, `nonce = nonce + 1, type = CASE seq WHEN 2 THEN 4 ELSE type END`)
		}()
		again := read(order.FeedQuery{Limit: 10, Wait: order.MaxFeedWait}, order.InvoiceUploaded)
		want("another history", again, time.Since(start), many+1, 2)
		testenv.Equal(t, "history", "second", again.History)
	})
}

// TestWaitsEnd: a wait ends if the client disconnects, the server stops, or the
// store fails.
// Proves decision 5 (events: long polling).
func TestWaitsEnd(t *testing.T) {
	t.Parallel()
	fault := errors.New("the disk is on fire")
	for name, test := range map[string]struct {
		end  func(s *order.Service, db *database, cancel func())
		want error
		late bool // later requests wait
	}{
		"client gone": {func(_ *order.Service, _ *database, cancel func()) { cancel() }, context.Canceled, true},
		"server ends": {func(s *order.Service, _ *database, _ func()) { s.StopWaiting(); s.StopWaiting() }, nil, false},
		"store fails": {func(s *order.Service, db *database, _ func()) {
			db.breaking(func(operation string) error {
				if operation == "Events" {
					return fault
				}
				return nil
			})
			_, _ = s.Accept(context.Background(), order.CommandFor(merchant), order.ByLegacyID(1), order.Options[order.WriteResult]{})
		}, fault, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				db := feedStore(t, false)
				s := feedService(db)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go func() {
					time.Sleep(time.Second)
					test.end(s, db, cancel)
				}()
				n, took, err := waitFor(ctx, s, 1, order.MaxFeedWait)
				if n != 0 || took != time.Second || !errors.Is(err, test.want) {
					t.Errorf("%d events after %s, error %v", n, took, err)
				}
				if _, took, _ := waitFor(t.Context(), s, 1, order.MaxFeedWait); (took > 0) != test.late {
					t.Errorf("the next one waited %s", took)
				}
			})
		})
	}
}

// TestChangesWake: an import wakes the waiters before the next poll, and so does a commit that
// may have succeeded although it returned an error.
func TestChangesWake(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(t *testing.T, s *order.Service, db *database){
		"import": func(t *testing.T, s *order.Service, _ *database) {
			testenv.Of(s.Import(t.Context(), order.Command(), []order.Incoming{{Order: numbered(2, order.Registered)}})).WantError(t, "import", nil)
		},
		"lost response": func(t *testing.T, s *order.Service, db *database) {
			db.afterCommit = func() error { return order.ErrUnavailable }
			_, err := s.Accept(t.Context(), order.CommandFor(merchant), order.ByLegacyID(1), order.Options[order.WriteResult]{})
			testenv.Equal(t, "lost response", order.ErrUnavailable, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				db := feedStore(t, false)
				s := feedService(db)
				go func() {
					time.Sleep(time.Millisecond)
					change(t, s, db)
				}()
				if n, took, err := waitFor(t.Context(), s, 1, order.MaxFeedWait); n != 1 || took != time.Millisecond || err != nil {
					t.Errorf("%d events after %s, error %v", n, took, err)
				}
			})
		})
	}
}

// TestFeedLag checks what Waiting tells of a poll loop that works, that fails and
// that works again.
func TestFeedLag(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		db := feedStore(t, false)
		db.fail = func(operation string) error {
			if operation == "DataVersions" && broken.Load() {
				return errors.New("broken on purpose")
			}
			return nil
		}
		s := feedService(db)
		want := func(when string, requests int, least, most time.Duration) {
			t.Helper()
			synctest.Wait()
			if n, lag := s.Waiting(); n != requests || lag < least || lag > most {
				t.Errorf("%s: %d requests, lag %s; want %d and %s to %s", when, n, lag, requests, least, most)
			}
		}
		time.Sleep(time.Hour)
		want("nobody waits", 0, 0, 0)
		for range 2 {
			go func() { _, _, _ = waitFor(t.Context(), s, 1, order.MaxFeedWait) }()
		}
		want("the first poll is to come", 2, 0, 0)
		time.Sleep(10*pollInterval + time.Millisecond)
		want("polling", 2, time.Millisecond, pollInterval)
		broken.Store(true)
		time.Sleep(20 * pollInterval)
		want("polls fail", 2, 20*pollInterval, 21*pollInterval)
		broken.Store(false)
		time.Sleep(pollInterval)
		want("polls succeed again", 2, 0, pollInterval)
		time.Sleep(order.MaxFeedWait)
		want("the waiters have left", 0, 0, 0)
	})
}

// TestSuspensionEndsWaits suspends a merchant through this and through another instance:
// its waits end without events, those of another merchant go on.
// Proves decision 1 (suspended merchant).
func TestSuspensionEndsWaits(t *testing.T) {
	t.Parallel()
	for _, other := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			db := feedStore(t, false)
			s := feedService(db)
			suspending, limit := s, time.Duration(0)
			if other {
				suspending, limit = feedService(db), pollInterval
			}
			var all sync.WaitGroup
			all.Go(func() {
				if n, took, err := waitFor(t.Context(), s, 1, 20*time.Second); n != 0 || err != nil || took < time.Second || took > time.Second+limit {
					t.Errorf("another instance %v: %d events after %s, error %v", other, n, took, err)
				}
			})
			all.Go(func() {
				start := time.Now()
				_, err := s.Events(t.Context(), stranger, order.FeedQuery{Limit: 10, Wait: 20 * time.Second})
				if took := time.Since(start); err != nil || took != 20*time.Second {
					t.Errorf("the wait of another merchant took %s, error %v", took, err)
				}
			})
			time.Sleep(time.Second)
			testenv.Of(order.NewMerchants(db, time.Now, suspending.EndWaits).Suspend(t.Context(), order.Command(), merchant, "unpaid", order.Options[order.Merchant]{})).Must(t)
			all.Wait()
		})
	}
}
