package server

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
)

// TestProbeIsBounded checks that a probe of a check that hangs and ignores its
// context takes 2 seconds at most, and that no second check is started.
// Proves decision 5 (/readyz).
func TestProbeIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var checks atomic.Int32
		hanging := make(chan struct{})
		p := newProbe(func(ctx context.Context) error {
			first := checks.Add(1) == 1
			<-hanging
			testenv.Equal(t, "the context has ended", first, ctx.Err() != nil)
			return nil
		})
		start := time.Now()
		for range 3 {
			if _, err := p.Get(t.Context()); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 2*time.Second {
				t.Errorf("error %v after %s", err, time.Since(start))
			}
		}
		testenv.Equal(t, "running checks", 1, checks.Load())
		close(hanging)
		synctest.Wait()
		if _, err := p.Get(t.Context()); err != nil || checks.Load() != 2 {
			t.Errorf("after it came back: error %v, %d checks", err, checks.Load())
		}
	})
}

// TestProbeIsShared has many ask at once and again and again: one check a second
// serves all of them, and one who goes away takes it from nobody.
// Proves decision 5 (/readyz).
func TestProbeIsShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var checks atomic.Int32
		p := newProbe(func(ctx context.Context) error {
			checks.Add(1)
			time.Sleep(500 * time.Millisecond)
			return ctx.Err()
		})
		gone, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			_, err := p.Get(gone)
			testenv.Equal(t, "the one who left", context.Canceled, err)
		})
		synctest.Wait()
		leave()
		for range 1000 {
			all.Go(func() {
				for start := time.Now(); time.Since(start) < 10*time.Second; time.Sleep(10 * time.Millisecond) {
					if _, err := p.Get(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		testenv.Equal(t, "checks in 10 seconds", 10, checks.Load())
	})
}

// TestProbeAfterFailure checks that a failure is shared like every result, and that there is
// another check a second after the failed one began.
// Proves decision 5 (/readyz).
func TestProbeAfterFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		broken.Store(true)
		fault := errors.New("out of reach")
		p := newProbe(func(context.Context) error {
			if broken.Load() {
				return fault
			}
			return nil
		})
		for _, want := range []error{fault, fault, nil} {
			testenv.Of(p.Get(t.Context())).WantError(t, "Get", want)
			if broken.Swap(false); want != nil {
				time.Sleep(time.Second / 2)
			}
		}
	})
}

// TestCheckIsShared checks that the metrics and /readyz share their checks.
func TestCheckIsShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var databases, storages atomic.Int32
		h := NewHealth(Readiness{
			Database: func(context.Context) error { databases.Add(1); return nil },
			Storage:  func(context.Context) error { storages.Add(1); return nil },
		})
		handle := h.readyHandler(false)
		for range 100 {
			testenv.NoError(t, handle(httptest.NewRecorder(), &web.Request{Request: httptest.NewRequest(http.MethodGet, readyPath, nil)}))
			if database, storage := h.Check(t.Context()); database != nil || storage != nil {
				t.Errorf("database %v, storage %v", database, storage)
			}
		}
		if databases.Load() != 1 || storages.Load() != 1 {
			t.Errorf("%d checks of the database, %d of the storage, want 1", databases.Load(), storages.Load())
		}
	})
}
