package app

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"merchantorders/internal/testenv"
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
		s.drain(failed, time.Hour)
		testenv.Equal(t, "time of a drain after a server failed", time.Second, time.Since(start))
	})
}
