package store

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// TestShared has several ask while a reading is under way: they share the next
// one, which begins after all of them have asked.
func TestShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s coalescer[string, int64]
		var readings atomic.Int64
		hold := make(chan struct{})
		read := func(context.Context) (int64, error) {
			<-hold
			return readings.Add(1), nil
		}
		var asking sync.WaitGroup
		got := make([]int64, 8)
		for i := range got {
			asking.Go(func() { got[i], _ = s.do(t.Context(), "a", read) })
			synctest.Wait()
		}
		hold <- struct{}{}
		synctest.Wait()
		// The second reading is under way: who comes now is too late for it.
		var late int64
		asking.Go(func() { late, _ = s.do(t.Context(), "a", read) })
		if other, err := s.do(t.Context(), "b", func(context.Context) (int64, error) { return 77, nil }); other != 77 || err != nil {
			t.Errorf("another key: %d, %v", other, err)
		}
		synctest.Wait()
		close(hold)
		asking.Wait()
		for i, value := range got {
			if want := min(int64(i)+1, 2); value != want {
				t.Errorf("caller %d got reading %d, want %d", i, value, want)
			}
		}
		if late != 3 {
			t.Errorf("the last caller got reading %d, want 3", late)
		}
		if len(s.flights) != 0 {
			t.Errorf("left behind: %v", s.flights)
		}
	})
}

// TestSharedEndsForOne ends the request of those that read: the others get what
// they wait for.
func TestSharedEndsForOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s coalescer[string, int]
		ctx, cancel := context.WithCancel(t.Context())
		hold := make(chan struct{})
		read := func(ctx context.Context) (int, error) {
			<-hold
			return 1, ctx.Err()
		}
		var asking sync.WaitGroup
		failed := make([]error, 4)
		for i := range failed {
			asking.Go(func() {
				asks := t.Context()
				if i < 2 {
					asks = ctx // the one that reads first, and the one that reads for the others
				}
				_, failed[i] = s.do(asks, "a", read)
			})
			synctest.Wait()
		}
		cancel()
		close(hold)
		asking.Wait()
		for i, err := range failed {
			if (err != nil) != (i == 0) {
				t.Errorf("caller %d: %v", i, err)
			}
		}
	})
}

// TestSharedPanics has a reading for several end in a panic: none of them takes
// what was not read.
func TestSharedPanics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s coalescer[string, int]
		hold := make(chan struct{})
		var asking sync.WaitGroup
		asking.Go(func() {
			_, _ = s.do(t.Context(), "a", func(context.Context) (int, error) { <-hold; return 1, nil })
		})
		synctest.Wait()
		asking.Go(func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is lost")
				}
			}()
			_, _ = s.do(t.Context(), "a", func(context.Context) (int, error) { panic("it is broken") })
		})
		synctest.Wait()
		asking.Go(func() {
			if value, err := s.do(t.Context(), "a", nil); err == nil {
				t.Errorf("%d without an error", value)
			}
		})
		synctest.Wait()
		close(hold)
		asking.Wait()
		if value, err := s.do(t.Context(), "a", func(context.Context) (int, error) { return 5, nil }); value != 5 || err != nil {
			t.Errorf("afterwards: %d, %v", value, err)
		}
	})
}
