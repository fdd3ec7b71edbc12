package ratelimit

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// enter sends one request of a token that ends at once.
func enter(t testing.TB, l *Limiter, tokenID int64) error {
	t.Helper()
	leave, err := l.Enter(t.Context(), http.Header{}, Token{ID: tokenID}, Plain)
	if err == nil {
		leave()
	}
	return err
}

// TestTokenBucketsAreBounded sends requests with more tokens than there are
// buckets: the memory is bounded, and a token that is in use keeps its bucket.
func TestTokenBucketsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(1, 10_000, time.Now)
		const busy = -1
		for range 3 { // the third one waits, and then the bucket is empty
			testenv.NoError(t, enter(t, l, busy))
		}
		for id := range int64(3 * maxBuckets) {
			_ = enter(t, l, id)
			if id%1000 == 0 && l.tokens.Get(busy).bucket.TokensAt(time.Now()) > 0 {
				t.Fatal("the bucket of a token in use was evicted")
			}
		}
		testenv.Equal(t, "the bucket of the token used longest ago is evicted", 2.0, l.tokens.Get(0).bucket.TokensAt(time.Now()))
	})
}

// TestDelayEndsWithTheRequest checks that a request that waits ends when its client
// disconnects.
func TestDelayEndsWithTheRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, start := New(1, 10_000, time.Now), time.Now()
		_, _ = enter(t, l, 7), enter(t, l, 7)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := l.Enter(ctx, http.Header{}, Token{ID: 7}, Plain); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 300*time.Millisecond {
			t.Errorf("error %v after %s", err, time.Since(start))
		}
		if !l.tokens.Get(7).places.all.TryAcquire(ofToken.requests) {
			t.Error("requests are in flight")
		}
	})
}

// TestInFlight holds as many requests, uploads and exports of a token as are allowed at
// once. The others wait, in the order in which they came, and are refused after a second,
// an upload after five.
// Proves decision 5 (requests in flight).
func TestInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, start := New(100, 10_000, time.Now), time.Now()
		enterAll := func(n int, kind Kind) (leave []func()) {
			for range n {
				left := testenv.Of(l.Enter(t.Context(), http.Header{}, Token{ID: 7, MerchantID: 355}, kind)).Must(t)
				leave = append(leave, left)
			}
			return leave
		}
		uploads, exports := enterAll(8, Upload), enterAll(2, Export)
		var mu sync.Mutex
		var ended []string
		send := func(name string, kind Kind) {
			go func() {
				h := http.Header{}
				leave, err := l.Enter(t.Context(), h, Token{ID: 7, MerchantID: 355}, kind)
				mu.Lock()
				defer mu.Unlock()
				if limit, ok := errors.AsType[*Error](err); ok {
					limit.SetHeaders(h)
					if limit.Limit != InFlight || h.Get("Retry-After") != "1" || h.Get(limitHeader) != "" {
						t.Errorf("limit %d, headers %v", limit.Limit, h)
					}
					ended = append(ended, name+" refused after "+time.Since(start).String())
					return
				}
				ended = append(ended, name)
				leave()
			}()
			synctest.Wait()
		}
		wait := func(d time.Duration, want ...string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			testenv.Equal(t, "ended", want, ended)
			ended = nil
		}
		for _, name := range []string{"a", "b", "c"} {
			send("upload "+name, Upload)
		}
		send("export", Export)
		send("request", Plain)
		wait(0, "request")
		uploads[0]() // each upload leaves, and lets the next one in
		wait(0, "upload a", "upload b", "upload c")
		exports[0]()
		wait(0, "export")
		requests := enterAll(24-1, Plain)
		send("a request", Plain) // in the place of the first upload and export
		uploads = append(uploads, enterAll(1, Upload)...)
		send("another", Plain)
		send("an upload", Upload)
		wait(time.Second, "a request", "another refused after 1s")
		wait(4*time.Second, "an upload refused after 5s")
		requests[0]()
		send("the next one", Plain)
		wait(0, "the next one")
		testenv.Of(l.Enter(t.Context(), http.Header{}, Token{ID: 8, MerchantID: 355}, Upload)).Must(t)
	})
}

// TestMerchantInFlight has a merchant hold all that it may with as many tokens as it needs:
// another token of it waits and is refused, and another merchant and an operator are not.
// Proves decision 5 (requests in flight).
func TestMerchantInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, connections := range []int{16, 100, 500, 10_000} {
			l, bound := New(10_000, connections, time.Now), ofMerchant(connections)
			n := int64(0)
			for start := time.Now(); ; n++ {
				if _, err := l.Enter(t.Context(), http.Header{}, Token{ID: n / 4, MerchantID: 355}, Plain); err != nil {
					if limit, ok := errors.AsType[*Error](err); !ok || limit.Limit != InFlight || time.Since(start) != time.Second {
						t.Errorf("error %v after %s", err, time.Since(start))
					}
					break
				}
			}
			if n != bound.requests || n+bound.waiting > int64(connections)/4 {
				t.Errorf("%d of %d connections: %d requests, %d may wait", n, connections, n, bound.waiting)
			}
			for i := range bound.waiting {
				go l.Enter(t.Context(), http.Header{}, Token{ID: 1000 + i, MerchantID: 355}, Plain)
			}
			synctest.Wait()
			if _, err := l.Enter(t.Context(), http.Header{}, Token{ID: -1, MerchantID: 355}, Upload); err == nil {
				t.Error("a request waits beyond the bound")
			}
			for _, other := range []Token{{ID: -2, MerchantID: 356}, {ID: -3}} {
				if _, err := l.Enter(t.Context(), http.Header{}, other, Upload); err != nil {
					t.Errorf("%v: %v", other, err)
				}
			}
			time.Sleep(maxWait[Upload])
		}
	})
}

// TestMerchantRate sends with many tokens of a merchant: together they have a limit. Another
// merchant with a limit of its own, and operators, have theirs.
// Proves decision 5 (requests in flight).
func TestMerchantRate(t *testing.T) {
	t.Parallel()
	l := New(10, 10_000, func() time.Time { return noon })
	send := func(merchantID int64, limit order.RateLimit) (passed int) {
		for id := range int64(200) {
			h := http.Header{}
			c, m := l.tokens.Get(1000*merchantID+id), l.merchants.Get(merchantID)
			if merchantID == 0 {
				m = nil
			}
			_, delay, _, err := l.reserve(c, m, limit, Plain, noon, maxWait[Plain])
			switch limited, ok := errors.AsType[*Error](err); {
			case err == nil && delay == 0:
				passed++
			case err != nil && (!ok || limited.Limit != Rate):
				t.Errorf("error %v", err)
			case ok:
				limited.SetHeaders(h)
				testenv.Equal(t, "headers", http.Header{"Retry-After": {"1"}}, h)
			}
		}
		return passed
	}
	testenv.Equal(t, "requests at once", []int{80, 80, 200}, []int{
		send(355, order.RateLimit{}), send(356, order.RateLimit{PerSecond: 1, Burst: 20}), send(0, order.RateLimit{}),
	})
}

// TestLinksInFlight follows links to the files of a merchant: each has a limit, and all
// together have that of a token, which its other requests do not use.
func TestLinksInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(10_000, 10_000, time.Now)
		follow := func(link string, merchantID int64) (followed int64) {
			for ; ; followed++ {
				if _, err := l.EnterLink(t.Context(), link, merchantID); err != nil {
					return followed
				}
			}
		}
		got := []int64{follow("a", 355), follow("b", 355), follow("c", 355), follow("d", 355), follow("e", 355), follow("f", 356)}
		testenv.Equal(t, "in flight", []int64{linkPlaces, linkPlaces, linkPlaces, linkPlaces, 0, linkPlaces}, got)
		if !l.links.Get("e").all.TryAcquire(linkPlaces) {
			t.Error("a refused request is in flight")
		}
		testenv.NoError(t, enter(t, l, 355))
	})
}

func TestNoLimiter(t *testing.T) {
	t.Parallel()
	l := New(0, 10_000, time.Now)
	_, err := l.EnterLink(t.Context(), "link", 1)
	if l != nil || enter(t, l, 1) != nil || err != nil || l.AllowSignIn(1) != nil || l.AllowFailure(netip.Addr{}) != nil {
		t.Error("0 requests a second is a limit")
	}
}

// TestRefused checks the counts of refused requests, also without a limiter.
func TestRefused(t *testing.T) {
	t.Parallel()
	l := New(1, 10_000, func() time.Time { return noon })
	for range 5 { // two at once, and one that is delayed by a second
		_ = l.tokens.Get(7).bucket.AllowN(noon, 1)
	}
	l.tokens.Get(7).bucket.ReserveN(noon, 1)
	_ = enter(t, l, 7)
	l.tokens.Get(8).places.waiting.Store(ofToken.waiting)
	for range ofToken.ofKind[Export] + 2 {
		_, _ = l.Enter(t.Context(), http.Header{}, Token{ID: 8, Limit: order.RateLimit{PerSecond: 100, Burst: 100}}, Export)
	}
	for range failuresPerMinute + 3 {
		_ = l.AllowFailure(netip.Addr{})
	}
	testenv.Equal(t, "refused", map[string]uint64{"rate": 1, "in_flight": 2, "sign_ins": 3}, l.Refused())
	var none *Limiter
	testenv.Equal(t, "without limits: refused", map[string]uint64{"rate": 0, "in_flight": 0, "sign_ins": 0}, none.Refused())
}

// TestLimitOfMerchant changes the limit of a token's merchant while the token is in use.
// Proves decision 1 (limit of a merchant).
func TestLimitOfMerchant(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(1, 10_000, time.Now)
		// burst sends requests until one would have to wait, and returns their number and
		// the policy in the header of the last one.
		burst := func(limit order.RateLimit) (n int, policy string) {
			// The bucket gets the size at the next request, and is full later.
			leave := testenv.Of(l.Enter(t.Context(), http.Header{}, Token{ID: 7, Limit: limit}, Plain)).Must(t)
			leave()
			time.Sleep(time.Hour)
			for ; ; n++ {
				h, start := http.Header{}, time.Now()
				leave := testenv.Of(l.Enter(t.Context(), h, Token{ID: 7, Limit: limit}, Plain)).Must(t)
				leave()
				if time.Since(start) > 0 {
					return n, h.Get(policyHeader)
				}
			}
		}
		for i, test := range []struct {
			limit  order.RateLimit
			n      int
			policy string
		}{
			{order.RateLimit{}, 2, `"default";q=2;w=2`},
			{order.RateLimit{PerSecond: 100, Burst: 500}, 500, `"default";q=500;w=5`},
			{order.RateLimit{PerSecond: 10, Burst: 3}, 3, `"default";q=3;w=1`},
			{order.RateLimit{PerSecond: 100_000, Burst: 5000}, 5000, `"default";q=5000;w=1`},
			{order.RateLimit{}, 2, `"default";q=2;w=2`},
		} {
			n, policy := burst(test.limit)
			if n != test.n || policy != test.policy {
				t.Errorf("%d: %d requests at once with %q, want %d with %q", i, n, policy, test.n, test.policy)
			}
		}
	})
}
