package app

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

// TestDrain checks that the drain takes its time, or ends with the servers.
func TestDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &server{Backend: &Backend{Service: new(Service)}, log: slog.New(slog.DiscardHandler)}
		start := time.Now()
		s.drain(t.Context(), 5*time.Second)
		if took := time.Since(start); took != 5*time.Second || !s.stopping.Load() {
			t.Errorf("it took %s, stopping: %v", took, s.stopping.Load())
		}
		failed, fail := context.WithTimeout(t.Context(), time.Second)
		defer fail()
		start = time.Now()
		if s.drain(failed, time.Hour); time.Since(start) != time.Second {
			t.Errorf("after a server failed it took %s", time.Since(start))
		}
	})
}
