package web

import (
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"time"
)

// TestBucketsAreBounded: full ones, which are as good as new, go first; no token
// gets more than its due by the coming and going of others.
func TestBucketsAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	l := NewLimits(10, func() time.Time { return now })
	for id := range int64(mostBuckets) {
		_ = l.take(http.Header{}, id)
	}
	now = now.Add(time.Second)
	for range 20 {
		_ = l.take(http.Header{}, 77)
	}
	_ = l.take(http.Header{}, -1)
	if got := len(l.buckets); got != 2 {
		t.Errorf("%d buckets, want that in use and the new one", got)
	}
	if err := l.take(http.Header{}, 77); err == nil {
		t.Error("the bucket in use was let go of")
	}
	for id := range int64(3 * mostBuckets) {
		_ = l.take(http.Header{}, id)
	}
	if got := len(l.buckets); got > mostBuckets {
		t.Errorf("%d buckets, all of them in use", got)
	}
}

// TestAddressesAreBounded: the ones that failed longest ago go first.
func TestAddressesAreBounded(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s := newSignIns(3)
	address := func(n byte) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, n}) }
	for range signInsAMinute {
		s.allow(address(1), now)
	}
	for n := range byte(100) {
		s.allow(address(10+n), now)
		if s.allow(address(1), now) {
			t.Fatal("an address that goes on failing was let go of")
		}
	}
	if len(s.addresses) != 3 || s.recent.Len() != 3 {
		t.Errorf("%d and %d addresses are kept, want 3", len(s.addresses), s.recent.Len())
	}
	for n := range byte(3) {
		s.allow(address(200+n), now)
	}
	if !s.allow(address(1), now) {
		t.Error("the address that failed longest ago is kept")
	}
}

// TestLimitsTogether has many requests at once: exactly as many pass as may.
func TestLimitsTogether(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	l := NewLimits(50, func() time.Time { return now })
	var mu sync.Mutex
	var all sync.WaitGroup
	passed := 0
	for range 8 {
		all.Go(func() {
			for range 100 {
				if l.take(http.Header{}, 7) == nil {
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

func BenchmarkTake(b *testing.B) {
	var past time.Duration
	l := NewLimits(10_000, func() time.Time { past += time.Millisecond; return time.Now().Add(past) })
	h := http.Header{}
	b.ReportAllocs()
	for b.Loop() {
		if err := l.take(h, 123456); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTakeShown is of answers that say what is left.
func BenchmarkTakeShown(b *testing.B) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	l := NewLimits(100, func() time.Time { return now })
	for range 150 {
		_ = l.take(http.Header{}, 123456)
	}
	h := http.Header{}
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(10 * time.Millisecond)
		if err := l.take(h, 123456); err != nil {
			b.Fatal(err)
		}
	}
}
