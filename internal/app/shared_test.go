package app

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// counted returns a shared read that takes a time and returns how often it has been
// read, with an error from the second read on.
func counted(t *testing.T, takes time.Duration) *sharedRead[int] {
	n := 0
	return &sharedRead[int]{
		read: func(context.Context) (int, error) {
			n++
			value := n // read by nobody else: one read runs at a time
			time.Sleep(takes)
			if value > 1 {
				return value, errors.New("on purpose")
			}
			return value, nil
		},
		interval: 5 * time.Second, rest: 100, timeout: 30 * time.Second, patience: 3 * time.Second, now: time.Now, stopped: t.Context(),
	}
}

func wantShared(t *testing.T, s *sharedRead[int], value int, current bool) {
	t.Helper()
	if got, ok := s.get(); got != value || ok != current {
		t.Errorf("read %d, current %v; want %d, %v", got, ok, value, current)
	}
}

func TestSharedReadInterval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := counted(t, 10*time.Millisecond)
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() { wantShared(t, s, 1, true) })
		}
		group.Wait()
		time.Sleep(4 * time.Second)
		wantShared(t, s, 1, true)
		time.Sleep(time.Second)
		wantShared(t, s, 2, true)
	})
}

// TestSharedReadCost checks that a read that takes long runs less often, unless it fails.
func TestSharedReadCost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := counted(t, 2*time.Second)
		wantShared(t, s, 1, true)
		time.Sleep(197 * time.Second)
		wantShared(t, s, 1, true)
		time.Sleep(2 * time.Second)
		wantShared(t, s, 2, true)
		time.Sleep(3 * time.Second) // soon after an error
		wantShared(t, s, 3, true)
	})
}

// TestSharedReadPatience checks that nobody waits long for a read that hangs, also
// after the server was stopped.
func TestSharedReadPatience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := counted(t, 10*time.Second)
		stopped, stop := context.WithCancel(t.Context())
		s.stopped = stopped
		begun := time.Now()
		wantShared(t, s, 0, false)
		if waited := time.Since(begun); waited != s.patience {
			t.Errorf("waited for %s, want %s", waited, s.patience)
		}
		time.Sleep(10 * time.Second)
		wantShared(t, s, 1, true)
		time.Sleep(time.Hour)
		wantShared(t, s, 1, false)
		stop()
		s.wait()
		if waited := time.Since(begun); waited < time.Hour+20*time.Second {
			t.Errorf("a read runs after %s", waited)
		}
		wantShared(t, s, 2, false)
	})
}
