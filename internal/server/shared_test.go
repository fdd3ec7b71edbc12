package server

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"merchantorders/internal/testenv"
)

var errOnPurpose = errors.New("on purpose")

// counted returns a shared read that takes a time and returns how often it has been
// read, with an error from the second read on.
func counted(t *testing.T, takes time.Duration) *Shared[int] {
	n := 0
	return &Shared[int]{
		Read: func(context.Context) (int, error) {
			n++
			value := n // read by nobody else: one read runs at a time
			time.Sleep(takes)
			if value > 1 {
				return value, errOnPurpose
			}
			return value, nil
		},
		Interval: 5 * time.Second, Rest: 100, Timeout: 30 * time.Second, Now: time.Now, Stopped: t.Context(),
	}
}

// patience is how long wantShared waits.
const patience = 3 * time.Second

func wantShared(t *testing.T, s *Shared[int], value int, want error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if got, err := s.Get(ctx); got != value || !errors.Is(err, want) {
		t.Errorf("read %d, %v; want %d, %v", got, err, value, want)
	}
}

// TestSharedCost checks that a read that takes long runs less often, unless it fails.
func TestSharedCost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := counted(t, 2*time.Second)
		wantShared(t, s, 1, nil)
		time.Sleep(197 * time.Second)
		wantShared(t, s, 1, nil)
		time.Sleep(2 * time.Second)
		wantShared(t, s, 2, errOnPurpose)
		time.Sleep(3 * time.Second) // soon after an error
		wantShared(t, s, 3, errOnPurpose)
	})
}

// TestSharedPatience checks that nobody waits long for a read that hangs, also
// after the server was stopped.
func TestSharedPatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := counted(t, 10*time.Second)
		stopped, stop := context.WithCancel(t.Context())
		s.Stopped = stopped
		begun := time.Now()
		wantShared(t, s, 0, context.DeadlineExceeded)
		testenv.Equal(t, "waited", patience, time.Since(begun))
		time.Sleep(10 * time.Second)
		wantShared(t, s, 1, nil)
		time.Sleep(time.Hour)
		wantShared(t, s, 1, context.DeadlineExceeded)
		stop()
		s.Wait()
		if waited := time.Since(begun); waited < time.Hour+20*time.Second {
			t.Errorf("a read runs after %s", waited)
		}
		wantShared(t, s, 2, context.Canceled)
	})
}
