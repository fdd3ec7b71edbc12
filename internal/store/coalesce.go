package store

import (
	"context"
	"errors"
	"sync"
)

// coalescer lets callers that ask for the same thing at the same time share one
// answer. An answer is given only to those who had asked before its reading
// began, so that everybody sees what was committed before they asked.
type coalescer[K comparable, V any] struct {
	mu       sync.Mutex
	underWay map[K]*turn[V] // the next turn of what is being read; nil: nobody waits
}

// turn is one reading for all that wait for it. The first of them reads.
type turn[V any] struct {
	begin chan struct{} // closed when the reading before it has ended
	done  chan struct{} // closed when there is a value or an error
	value V
	err   error
}

// errNotRead is what those see who waited for a reading that ended in a panic.
var errNotRead = errors.New("the reading was given up")

// do returns what read reads, begun after the call. read gets a context that
// does not end with the caller's where it reads for several: none of them may
// end it for the others. So it must end by itself; nobody waits for longer than
// two readings.
func (s *coalescer[K, V]) do(ctx context.Context, key K, read func(context.Context) (V, error)) (V, error) {
	s.mu.Lock()
	if s.underWay == nil {
		s.underWay = make(map[K]*turn[V])
	}
	next, busy := s.underWay[key]
	switch {
	case !busy:
		s.underWay[key] = nil
		s.mu.Unlock()
		defer s.pass(key)
		return read(ctx)
	case next != nil:
		s.mu.Unlock()
		<-next.done
		return next.value, next.err
	}
	next = &turn[V]{begin: make(chan struct{}), done: make(chan struct{}), err: errNotRead}
	s.underWay[key] = next
	s.mu.Unlock()
	<-next.begin
	s.mu.Lock()
	s.underWay[key] = nil // who asks from now on asks for the turn after this one
	s.mu.Unlock()
	defer s.pass(key)
	defer close(next.done)
	next.value, next.err = read(context.WithoutCancel(ctx))
	return next.value, next.err
}

// pass lets those read who came while another reading was under way.
func (s *coalescer[K, V]) pass(key K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if next := s.underWay[key]; next != nil {
		close(next.begin)
	} else {
		delete(s.underWay, key)
	}
}
