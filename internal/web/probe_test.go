package web

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestProbeIsBounded checks that each probe of a check that hangs and ignores its
// context takes 2 seconds, and that no second check is started.
func TestProbeIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var checks atomic.Int32
		hanging := make(chan struct{})
		p := newProbe(func(context.Context) error {
			checks.Add(1)
			<-hanging
			return nil
		}, readyTimeout)
		for _, want := range []error{context.DeadlineExceeded, errProbeRunning, errProbeRunning} {
			start := time.Now()
			if err := p.run(t.Context()); !errors.Is(err, want) {
				t.Errorf("error %v, want %v", err, want)
			}
			if got := time.Since(start); got != 2*time.Second {
				t.Errorf("returned after %s", got)
			}
		}
		if n := checks.Load(); n != 1 {
			t.Errorf("%d checks are running", n)
		}
		close(hanging)
		synctest.Wait()
		if err := p.run(t.Context()); err != nil || checks.Load() != 2 {
			t.Errorf("after it came back: error %v, %d checks", err, checks.Load())
		}
	})
}

func TestProbeBoundsTheCheck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}, readyTimeout)
		start := time.Now()
		if err := p.run(t.Context()); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 2*time.Second {
			t.Errorf("error %v after %s", err, time.Since(start))
		}
		synctest.Wait()
	})
}
