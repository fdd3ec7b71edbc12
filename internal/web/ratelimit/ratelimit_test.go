package ratelimit

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"golang.org/x/time/rate"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// TestTokenBucketsAreBounded sends requests with more tokens than there are
// buckets: the memory is bounded, and a token that is in use keeps its bucket.
func TestTokenBucketsAreBounded(t *testing.T) {
	t.Parallel()
	l := New(10, func() time.Time { return noon })
	const busy = -1
	for range 20 {
		if err := l.Allow(http.Header{}, busy); err != nil {
			t.Fatal(err)
		}
	}
	for id := range int64(3 * maxBuckets) {
		_ = l.Allow(http.Header{}, id)
		if id%1000 == 0 && l.Allow(http.Header{}, busy) == nil {
			t.Fatal("the bucket of a token in use was evicted")
		}
	}
	if got := l.tokens.byKey.Len(); got != maxBuckets {
		t.Errorf("%d buckets, want %d", got, maxBuckets)
	}
}

// TestAddressBucketsAreBounded checks that the addresses that failed longest ago
// are evicted first.
func TestAddressBucketsAreBounded(t *testing.T) {
	t.Parallel()
	b := newBuckets[int](rate.Limit(1), failuresPerMinute, 3)
	for range failuresPerMinute {
		b.get(1).AllowN(noon, 1)
	}
	for n := range 100 {
		b.get(10+n).AllowN(noon, 1)
		if b.get(1).AllowN(noon, 1) {
			t.Fatal("an address that goes on failing was evicted")
		}
	}
	if got := b.byKey.Len(); got != 3 {
		t.Errorf("%d addresses, want 3", got)
	}
	for n := range 3 {
		b.get(200+n).AllowN(noon, 1)
	}
	if !b.get(1).AllowN(noon, 1) {
		t.Error("the address that failed longest ago was not evicted")
	}
}

// TestConcurrentRequests checks that exactly as many concurrent requests pass as
// the limit allows.
func TestConcurrentRequests(t *testing.T) {
	t.Parallel()
	l := New(50, func() time.Time { return noon })
	var mu sync.Mutex
	var all sync.WaitGroup
	passed := 0
	for range 8 {
		all.Go(func() {
			for range 100 {
				if l.Allow(http.Header{}, 7) == nil {
					mu.Lock()
					passed++
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	if passed != 100 {
		t.Errorf("%d passed, want 100", passed)
	}
}

func TestNoLimiter(t *testing.T) {
	t.Parallel()
	l := New(0, time.Now)
	if l != nil || l.Allow(http.Header{}, 1) != nil || l.AllowFailure(httptest.NewRequest("GET", "/", nil)) != nil {
		t.Error("0 requests a second is a limit")
	}
}

func BenchmarkAllow(b *testing.B) {
	var past time.Duration
	l := New(10_000, func() time.Time { past += time.Millisecond; return noon.Add(past) })
	h := http.Header{}
	b.ReportAllocs()
	for b.Loop() {
		if err := l.Allow(h, 123456); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkAllowNearLimit measures responses that show the remaining requests.
func BenchmarkAllowNearLimit(b *testing.B) {
	now := noon
	l := New(100, func() time.Time { return now })
	for range 150 {
		_ = l.Allow(http.Header{}, 123456)
	}
	h := http.Header{}
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(10 * time.Millisecond)
		if err := l.Allow(h, 123456); err != nil {
			b.Fatal(err)
		}
	}
}
