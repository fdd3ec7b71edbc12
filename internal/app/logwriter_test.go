package app

import (
	"log/slog"
	"sync"
	"syscall"
	"testing"
	"time"

	"merchantorders/internal/testenv"
)

// reader is a reader of a log, which may stop and go away.
type reader struct {
	stopped sync.Mutex // held while it does not read
	mu      sync.Mutex
	lines   int
	err     error
}

// Write implements io.Writer.
func (r *reader) Write(p []byte) (int, error) {
	r.stopped.Lock()
	defer r.stopped.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return 0, r.err
	}
	r.lines++
	return len(p), nil
}

func (r *reader) read() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lines
}

// TestLogWriter has the reader of a log stop, go on, and go away.
func TestLogWriter(t *testing.T) {
	t.Parallel()
	r := new(reader)
	w := newLogWriter(r)
	never := make(chan time.Time)
	w.after = func(time.Duration) <-chan time.Time { return never }
	log := slog.New(slog.NewJSONHandler(w, nil))
	w.tellOf(log)
	for n := range 10 {
		if log.Info("line"); r.read() != n+1 {
			t.Fatalf("%d lines are written after %d", r.read(), n+1)
		}
	}
	late := make(chan time.Time)
	close(late)
	w.after = func(time.Duration) <-chan time.Time { return late }
	r.stopped.Lock()
	const lines = logQueue + 100
	for range lines {
		log.Info("line")
	}
	if dropped := w.dropped.Load(); dropped < 90 || dropped > 100 {
		t.Errorf("%d lines are dropped", dropped)
	}
	dropped := int(w.dropped.Load())
	r.stopped.Unlock()
	testenv.Eventually(t, "the other lines and one about the dropped ones", func() bool { return r.read() == 10+lines-dropped+1 })
	r.mu.Lock()
	r.err = syscall.EPIPE
	r.mu.Unlock()
	log.Info("line")
	testenv.Eventually(t, "the line is counted", func() bool { return int(w.dropped.Load()) == dropped+1 })
	w.Close()
}
