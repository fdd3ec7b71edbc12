package server

import (
	"cmp"
	"context"
	"sync"
	"time"
)

// Shared is a read whose result all callers share, until it is too old. One read runs at a
// time, so no number of callers loads what is read, keeps others from the result, or multiplies
// a read that hangs.
type Shared[T any] struct {
	// Read reads until ctx ends. A disk that hangs may ignore that. The value counts also
	// if there is an error.
	Read func(ctx context.Context) (T, error)
	// Interval is the least time between the starts of two reads.
	Interval time.Duration
	// Rest makes it longer after a read without an error: to that many times as long as
	// the read took.
	Rest    int
	Timeout time.Duration // of a read; callers wait no longer for it
	Now     func() time.Time
	Stopped context.Context // ends every read

	mu      sync.Mutex
	value   T
	err     error
	next    time.Time       // when value is too old
	running context.Context // of the running read; nil: none runs
	ended   chan struct{}   // closed when the newest read has ended
}

// Get returns the result of the last read. It waits for a read in progress, until ctx ends or
// the read takes too long: then, or if nothing can be read any more, the value is that of the
// read before, and the error says why.
func (s *Shared[T]) Get(ctx context.Context) (T, error) {
	s.mu.Lock()
	stopped := s.Stopped.Err()
	if s.running == nil && !s.Now().Before(s.next) && stopped == nil {
		var cancel context.CancelFunc
		s.running, cancel = context.WithTimeout(s.Stopped, s.Timeout)
		s.ended = make(chan struct{})
		go s.run(s.running, cancel)
	}
	running := s.running
	s.mu.Unlock()
	var late error
	if running != nil {
		select {
		case <-running.Done(): // the read has ended, or takes too long
		case <-ctx.Done():
		}
		late = cmp.Or(ctx.Err(), running.Err())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != running {
		late = nil
	}
	return s.value, cmp.Or(stopped, late, s.err)
}

// run reads once.
func (s *Shared[T]) run(ctx context.Context, cancel context.CancelFunc) {
	defer cancel()
	begun := s.Now()
	value, err := s.Read(ctx)
	interval := s.Interval
	if err == nil {
		interval = max(interval, time.Duration(s.Rest)*s.Now().Sub(begun))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.value, s.err, s.next = value, err, begun.Add(interval)
	s.running = nil
	close(s.ended)
}

// Wait waits until no read runs. The caller has ended Stopped.
func (s *Shared[T]) Wait() {
	s.mu.Lock()
	ended := s.ended
	s.mu.Unlock()
	if ended != nil {
		<-ended
	}
}
