package store

import (
	"context"
	"sync"
)

// shared lets callers that ask for the same thing at the same time share one
// answer. An answer is given only to those who had asked before its reading
// began, so that everybody sees what was committed before they asked.
type shared[K comparable, V any] struct {
	mu       sync.Mutex
	underWay map[K]*turn[V] // the next turn of what is being read; nil: nobody waits
}

// turn is one reading for all that wait for it.
type turn[V any] struct {
	done  chan struct{}
	value V
	err   error
}

// do returns what read reads, begun after the call. read gets a context of its
// own where it reads for several: none of them may end it for the others.
func (s *shared[K, V]) do(ctx context.Context, key K, read func(context.Context) (V, error)) (V, error) {
	s.mu.Lock()
	if s.underWay == nil {
		s.underWay = make(map[K]*turn[V])
	}
	next, busy := s.underWay[key]
	if !busy {
		s.underWay[key] = nil
		s.mu.Unlock()
		defer s.goOn(key, read)
		return read(ctx)
	}
	if next == nil {
		next = &turn[V]{done: make(chan struct{})}
		s.underWay[key] = next
	}
	s.mu.Unlock()
	select {
	case <-next.done:
		return next.value, next.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

// goOn reads for those that came while another reading was under way.
func (s *shared[K, V]) goOn(key K, read func(context.Context) (V, error)) {
	s.mu.Lock()
	next := s.underWay[key]
	if next == nil {
		delete(s.underWay, key)
		s.mu.Unlock()
		return
	}
	s.underWay[key] = nil
	s.mu.Unlock()
	go func() {
		defer s.goOn(key, read)
		defer close(next.done)
		next.value, next.err = read(context.Background())
	}()
}
