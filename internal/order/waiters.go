package order

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// MaxWaiters is how many requests of one merchant wait for events at once in
	// one instance.
	MaxWaiters = 100
	// pollInterval is how often an instance looks for events that other
	// instances have committed.
	pollInterval = 250 * time.Millisecond
)

// waiters are the long-polling requests. A commit of this service notifies the
// waiters of its merchant at once. For the commits of other instances one poll
// loop compares the data versions of all merchants that have waiters; it runs
// only while there are any.
type waiters struct {
	versions func(ctx context.Context, merchantIDs []int64) (map[int64]DataVersion, error)
	stopped  context.Context    // of all waiting
	stop     context.CancelFunc // wakes all waiters for good

	mu        sync.Mutex
	merchants map[int64]*merchantWaiters // those with at least one waiter
	stopPoll  context.CancelFunc         // nil: the poll loop does not run
}

// merchantWaiters are the waiters of one merchant.
type merchantWaiters struct {
	count   int
	wake    chan struct{} // closed, and replaced, to wake the waiters
	seen    DataVersion   // at the latest poll
	checked bool          // seen is set
}

func newWaiters(versions func(ctx context.Context, merchantIDs []int64) (map[int64]DataVersion, error)) *waiters {
	w := &waiters{versions: versions, merchants: make(map[int64]*merchantWaiters)}
	w.stopped, w.stop = context.WithCancel(context.Background())
	return w
}

// join adds a waiter for a merchant, until leave. It returns false if the
// merchant has MaxWaiters already, or after stop.
func (w *waiters) join(merchantID int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped.Err() != nil {
		return false
	}
	m := w.merchants[merchantID]
	if m == nil {
		m = &merchantWaiters{wake: make(chan struct{})}
		w.merchants[merchantID] = m
	}
	if m.count == MaxWaiters {
		return false
	}
	m.count++
	if w.stopPoll == nil {
		ctx, cancel := context.WithCancel(w.stopped)
		w.stopPoll = cancel
		go w.poll(ctx)
	}
	return true
}

// leave removes a waiter. The last one stops the poll loop.
func (w *waiters) leave(merchantID int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.merchants[merchantID]
	if m.count--; m.count > 0 {
		return
	}
	delete(w.merchants, merchantID)
	if len(w.merchants) == 0 {
		w.stopPoll()
		w.stopPoll = nil
	}
}

// next returns a channel that is closed at the next change of a merchant. The
// caller has joined.
func (w *waiters) next(merchantID int64) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.merchants[merchantID].wake
}

// notify wakes the waiters of a merchant: there may be new events.
func (w *waiters) notify(merchantID int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if m := w.merchants[merchantID]; m != nil {
		m.notify()
	}
}

func (m *merchantWaiters) notify() {
	close(m.wake)
	m.wake = make(chan struct{})
}

// poll wakes the waiters of every merchant whose data version has changed since
// the poll before, and those of a merchant that it sees for the first time.
func (w *waiters) poll(ctx context.Context) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		// An error needs no handling: the next poll reads again, and a waiter whose
		// time is over returns without events.
		if versions, err := w.versions(ctx, w.waiting()); err == nil {
			w.compare(versions)
		}
	}
}

// waiting returns the merchants that have waiters.
func (w *waiters) waiting() []int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.merchants))
}

func (w *waiters) compare(versions map[int64]DataVersion) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, m := range w.merchants {
		version, found := versions[id]
		if !found || m.checked && m.seen == version {
			continue
		}
		m.seen, m.checked = version, true
		m.notify()
	}
}
