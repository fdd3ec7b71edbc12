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
// loop compares the data versions of all merchants that have waiters, with one
// query, or none if the store tells that nothing was committed. It runs only
// while there are waiters.
type waiters struct {
	store   Store
	now     func() time.Time
	stopped context.Context    // of all waiting
	stop    context.CancelFunc // wakes all waiters for good

	mu        sync.Mutex
	merchants map[int64]*merchantWaiters // those with at least one waiter
	stopPoll  context.CancelFunc         // nil: the poll loop does not run
	// polledAt is the beginning of the last poll that succeeded, or of the poll loop.
	polledAt time.Time
}

// merchantWaiters are the waiters of one merchant.
type merchantWaiters struct {
	count   int
	wake    chan struct{} // closed, and replaced, to wake the waiters
	seen    DataVersion   // at the latest read by a waiter or the poll loop
	checked bool          // seen is set
}

func newWaiters(store Store, now func() time.Time) *waiters {
	w := &waiters{store: store, now: now, merchants: make(map[int64]*merchantWaiters)}
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
		w.stopPoll, w.polledAt = cancel, w.now()
		// The waiter reads after this, so the loop has no commit before it to notice.
		version, _ := w.store.CommitVersion()
		go w.poll(ctx, version)
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

// see records the data version that a waiter or the poll loop has read. If it is
// another one than before it wakes the waiters of the merchant, of which some have
// read another.
func (w *waiters) see(merchantID int64, version DataVersion) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.merchants[merchantID]
	if m == nil {
		return
	}
	if m.checked && m.seen != version {
		m.notify()
	}
	m.seen, m.checked = version, true
}

func (m *merchantWaiters) notify() {
	close(m.wake)
	m.wake = make(chan struct{})
}

// poll wakes the waiters of every merchant whose data version has changed. polled
// is the commit version before the first poll.
func (w *waiters) poll(ctx context.Context, polled string) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		begun := w.now()
		// Before the data versions, so that a later commit changes it.
		version, known := w.store.CommitVersion()
		if known && version == polled {
			w.polled(begun)
			continue
		}
		// An error needs no handling: the next poll reads again, and a waiter whose
		// time is over returns without events.
		versions, err := w.store.DataVersions(ctx, w.waiting())
		if err != nil {
			continue
		}
		polled = version
		w.polled(begun)
		for id, version := range versions {
			w.see(id, version)
		}
	}
}

// polled records a poll that has found every commit from before its beginning.
func (w *waiters) polled(begun time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.polledAt = begun
}

// lag returns the number of waiters, and the age of the oldest commit that the poll
// loop may not have noticed yet, 0 without waiters.
func (w *waiters) lag() (count int, lag time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, m := range w.merchants {
		count += m.count
	}
	if count > 0 {
		lag = max(0, w.now().Sub(w.polledAt))
	}
	return count, lag
}

// waiting returns the merchants that have waiters.
func (w *waiters) waiting() []int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.merchants))
}
