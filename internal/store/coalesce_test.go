package store

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// TestCoalescer calls do several times during a read: the callers share the next
// read, which begins after all of their calls.
func TestCoalescer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s coalescer[string, int64]
		var reads atomic.Int64
		hold := make(chan struct{})
		read := func(context.Context) (int64, error) {
			<-hold
			return reads.Add(1), nil
		}
		var calling sync.WaitGroup
		got := make([]int64, 8)
		for i := range got {
			calling.Go(func() { got[i], _ = s.do(t.Context(), "a", read) })
			synctest.Wait()
		}
		hold <- struct{}{}
		synctest.Wait()
		// The second read is in progress: this call is too late for it.
		var late int64
		calling.Go(func() { late, _ = s.do(t.Context(), "a", read) })
		if other, err := s.do(t.Context(), "b", func(context.Context) (int64, error) { return 77, nil }); other != 77 || err != nil {
			t.Errorf("another key: %d, %v", other, err)
		}
		synctest.Wait()
		close(hold)
		calling.Wait()
		for i, value := range got {
			if want := min(int64(i)+1, 2); value != want {
				t.Errorf("caller %d got read %d, want %d", i, value, want)
			}
		}
		if late != 3 {
			t.Errorf("the last caller got read %d, want 3", late)
		}
		if len(s.flights) != 0 {
			t.Errorf("flights remain: %v", s.flights)
		}
	})
}

// TestCoalescerCanceled ends the contexts of the leaders: the other callers get
// the result.
func TestCoalescerCanceled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s coalescer[string, int]
		ctx, cancel := context.WithCancel(t.Context())
		hold := make(chan struct{})
		read := func(ctx context.Context) (int, error) {
			<-hold
			return 1, ctx.Err()
		}
		var calling sync.WaitGroup
		failed := make([]error, 4)
		for i := range failed {
			calling.Go(func() {
				callCtx := t.Context()
				if i < 2 {
					callCtx = ctx // the first caller, and the leader of the others
				}
				_, failed[i] = s.do(callCtx, "a", read)
			})
			synctest.Wait()
		}
		cancel()
		close(hold)
		calling.Wait()
		for i, err := range failed {
			if (err != nil) != (i == 0) {
				t.Errorf("caller %d: %v", i, err)
			}
		}
	})
}

// TestCoalescerPanic has the read of a leader panic: the other callers get an
// error.
func TestCoalescerPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s coalescer[string, int]
		hold := make(chan struct{})
		var calling sync.WaitGroup
		calling.Go(func() {
			_, _ = s.do(t.Context(), "a", func(context.Context) (int, error) { <-hold; return 1, nil })
		})
		synctest.Wait()
		calling.Go(func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is lost")
				}
			}()
			_, _ = s.do(t.Context(), "a", func(context.Context) (int, error) { panic("broken") })
		})
		synctest.Wait()
		calling.Go(func() {
			if value, err := s.do(t.Context(), "a", nil); err == nil {
				t.Errorf("%d without an error", value)
			}
		})
		synctest.Wait()
		close(hold)
		calling.Wait()
		if value, err := s.do(t.Context(), "a", func(context.Context) (int, error) { return 5, nil }); value != 5 || err != nil {
			t.Errorf("afterwards: %d, %v", value, err)
		}
	})
}
