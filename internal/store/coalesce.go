package store

import (
	"context"
	"errors"
	"sync"
)

// coalescer lets callers with the same key share one read. Unlike
// x/sync/singleflight it never gives a caller the result of a read that began
// before the call, so each caller sees everything that was committed before.
type coalescer[K comparable, V any] struct {
	mu sync.Mutex
	// flights has an entry for each key that is being read: the next flight, or nil
	// if no caller waits.
	flights map[K]*flight[V]
}

// flight is one read for all callers that wait for it. The first of them, the
// leader, reads.
type flight[V any] struct {
	start chan struct{} // closed when the read before it has ended
	done  chan struct{} // closed when value and err are set
	value V
	err   error
}

// errNotRead is the error of callers whose leader panicked.
var errNotRead = errors.New("the read was aborted")

// do returns the result of a read that begins after the call. If several callers
// share it, its context does not end with that of one of them, so read must have
// a time limit of its own. A caller waits for two reads at most.
func (c *coalescer[K, V]) do(ctx context.Context, key K, read func(context.Context) (V, error)) (V, error) {
	c.mu.Lock()
	if c.flights == nil {
		c.flights = make(map[K]*flight[V])
	}
	next, reading := c.flights[key]
	switch {
	case !reading:
		c.flights[key] = nil
		c.mu.Unlock()
		defer c.land(key)
		return read(ctx)
	case next != nil:
		c.mu.Unlock()
		<-next.done
		return next.value, next.err
	}
	next = &flight[V]{start: make(chan struct{}), done: make(chan struct{}), err: errNotRead}
	c.flights[key] = next
	c.mu.Unlock()
	<-next.start
	c.mu.Lock()
	c.flights[key] = nil // later callers wait for the flight after this one
	c.mu.Unlock()
	defer c.land(key)
	defer close(next.done)
	next.value, next.err = read(context.WithoutCancel(ctx))
	return next.value, next.err
}

// land starts the next flight of a key, if callers wait for it.
func (c *coalescer[K, V]) land(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if next := c.flights[key]; next != nil {
		close(next.start)
	} else {
		delete(c.flights, key)
	}
}
