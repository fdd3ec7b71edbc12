package app

import (
	"context"
	"sync"
	"time"
)

// sharedRead is a read whose result all callers share, until it is too old. One read
// runs at a time, so no number of scrapes loads the database or the storage.
type sharedRead[T any] struct {
	// read reads until ctx ends. A disk that hangs may ignore that. The value counts also
	// if there is an error.
	read func(ctx context.Context) (T, error)
	// interval is the least time between the starts of two reads.
	interval time.Duration
	// rest makes it longer after a read without an error: to that many times as long as
	// the read took.
	rest     int
	timeout  time.Duration // of a read
	patience time.Duration // how long a caller waits for a read
	now      func() time.Time
	stopped  context.Context // ends every read

	mu      sync.Mutex
	value   T
	next    time.Time     // when value is too old
	running chan struct{} // closed when the running read has ended; nil: none runs
}

// get returns the result of the last read. It waits for a read in progress. current
// is false if that takes too long, or if nothing can be read any more.
func (s *sharedRead[T]) get() (value T, current bool) {
	s.mu.Lock()
	if s.running == nil && !s.now().Before(s.next) && s.stopped.Err() == nil {
		s.running = make(chan struct{})
		go s.run(s.running)
	}
	running := s.running
	s.mu.Unlock()
	current = s.stopped.Err() == nil
	if running != nil {
		timeout := time.NewTimer(s.patience)
		defer timeout.Stop()
		select {
		case <-running:
		case <-timeout.C:
			current = false
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.value, current
}

// run reads once.
func (s *sharedRead[T]) run(done chan struct{}) {
	ctx, cancel := context.WithTimeout(s.stopped, s.timeout)
	defer cancel()
	begun := s.now()
	value, err := s.read(ctx)
	interval := s.interval
	if err == nil {
		interval = max(interval, time.Duration(s.rest)*s.now().Sub(begun))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.value, s.next = value, begun.Add(interval)
	s.running = nil
	close(done)
}

// wait waits until no read runs. The caller has ended stopped.
func (s *sharedRead[T]) wait() {
	s.mu.Lock()
	running := s.running
	s.mu.Unlock()
	if running != nil {
		<-running
	}
}
