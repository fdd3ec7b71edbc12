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
	// allMerchants stands for a merchant where requests wait for the events of all.
	allMerchants = 0
)

// waiters are the long-polling requests. A commit of this service notifies the
// waiters of its merchant at once. For the commits of other instances one poll
// loop compares the data versions of all merchants that have waiters, and asks
// which of the waiters' tokens are revoked: with one query each, or none if the
// store tells that nothing was committed. It runs only while there are waiters.
type waiters struct {
	store   Store
	now     func() time.Time
	stopped context.Context    // of all waiting
	stop    context.CancelFunc // wakes all waiters for good

	mu        sync.Mutex
	max       int                        // of a merchant
	merchants map[int64]*merchantWaiters // those with at least one waiter
	tokens    map[int64]*tokenWaiters    // those with at least one waiter
	stopPoll  context.CancelFunc         // nil: the poll loop does not run
	// polledAt is the beginning of the last poll that succeeded, or of the poll loop.
	polledAt time.Time
}

// merchantWaiters are the waiters of one merchant.
type merchantWaiters struct {
	count   int
	wake    chan struct{} // closed, and replaced, to wake the waiters
	ended   chan struct{} // closed, and replaced, when the merchant is suspended
	seen    DataVersion   // at the latest read by a waiter or the poll loop
	checked bool          // seen is set
}

// tokenWaiters are the waiters that one token authenticated.
type tokenWaiters struct {
	count   int
	revoked chan struct{} // closed when the token is revoked
	closed  bool          // revoked is closed
	checked bool          // the poll loop has asked for the token
}

func newWaiters(store Store, now func() time.Time) *waiters {
	w := &waiters{store: store, now: now, max: MaxWaiters, merchants: make(map[int64]*merchantWaiters), tokens: make(map[int64]*tokenWaiters)}
	w.stopped, w.stop = context.WithCancel(context.Background())
	return w
}

// LimitWaiters makes requests of one merchant wait for events in at most an eighth of the
// connections of the server, if that is less than MaxWaiters.
func (s *Service) LimitWaiters(connections int) {
	s.waiters.mu.Lock()
	defer s.waiters.mu.Unlock()
	s.waiters.max = min(MaxWaiters, max(connections/8, 1))
}

// join adds a waiter for a merchant with a token, until leave. revoked is closed when
// the token is revoked, ended when the merchant is suspended. ok is false if the merchant
// has as many as it may already, or after stop.
func (w *waiters) join(merchantID, tokenID int64) (revoked, ended <-chan struct{}, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped.Err() != nil {
		return nil, nil, false
	}
	m := w.merchants[merchantID]
	if m == nil {
		m = &merchantWaiters{wake: make(chan struct{}), ended: make(chan struct{})}
		w.merchants[merchantID] = m
	}
	if m.count == w.max {
		return nil, nil, false
	}
	m.count++
	t := w.tokens[tokenID]
	if t == nil {
		t = &tokenWaiters{revoked: make(chan struct{})}
		w.tokens[tokenID] = t
	}
	t.count++
	if w.stopPoll == nil {
		ctx, cancel := context.WithCancel(w.stopped)
		w.stopPoll, w.polledAt = cancel, w.now()
		// The waiter reads after this, so the loop has no commit before it to notice.
		version, _ := w.store.CommitVersion()
		go w.poll(ctx, version)
	}
	return t.revoked, m.ended, true
}

// leave removes a waiter. The last one stops the poll loop.
func (w *waiters) leave(merchantID, tokenID int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.tokens[tokenID]
	if t.count--; t.count == 0 {
		delete(w.tokens, tokenID)
	}
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

// notify wakes the waiters of a merchant and those of all merchants: there may be new
// events.
func (w *waiters) notify(merchantID int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range []int64{merchantID, allMerchants} {
		if m := w.merchants[id]; m != nil {
			m.notify()
		}
	}
}

// end ends the waits of a merchant that is suspended.
func (w *waiters) end(merchantID int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if m := w.merchants[merchantID]; m != nil {
		close(m.ended)
		m.ended = make(chan struct{})
	}
}

// see records the data version of a merchant that a waiter or the poll loop has read. If
// it differs from the version read before, see wakes all waiters of the merchant: some of
// them have read the older one.
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

// poll wakes the waiters of every merchant whose data version has changed, and those
// whose token is revoked. polled is the commit version before the first poll.
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
		// Before the queries, so that a later commit changes it.
		version, known := w.store.CommitVersion()
		merchants, tokens := w.waiting(known && version == polled)
		// An error needs no handling: the next poll reads again, and a waiter whose
		// time is over returns without events.
		if w.pollTokens(ctx, tokens) == nil && w.pollMerchants(ctx, merchants) == nil {
			polled = version
			w.polled(begun)
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

// waiting returns the merchants and the tokens that have waiters. If nothing was
// committed since the latest poll, it returns only the tokens that joined later: a
// token may be revoked between its authentication and join.
func (w *waiters) waiting(unchanged bool) (merchants, tokens []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, t := range w.tokens {
		if id != 0 && !t.closed && !(unchanged && t.checked) {
			tokens = append(tokens, id)
		}
	}
	if !unchanged {
		merchants = slices.Collect(maps.Keys(w.merchants))
	}
	slices.Sort(merchants)
	slices.Sort(tokens)
	return merchants, tokens
}

func (w *waiters) pollMerchants(ctx context.Context, ids []int64) error {
	if len(ids) > 0 && ids[0] == allMerchants {
		// Also for commits of this instance: their events may be readable only later.
		end, err := w.store.MarketEnd(ctx)
		if err != nil {
			return err
		}
		w.see(allMerchants, end.Version)
		ids = ids[1:]
	}
	if len(ids) == 0 {
		return nil
	}
	versions, err := w.store.DataVersions(ctx, ids)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if version, ok := versions[id]; ok {
			w.see(id, version)
		} else {
			w.end(id)
		}
	}
	return nil
}

func (w *waiters) pollTokens(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	revoked, err := w.store.RevokedTokens(ctx, ids)
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		if t := w.tokens[id]; t != nil {
			t.checked = true
		}
	}
	for _, id := range revoked {
		if t := w.tokens[id]; t != nil && !t.closed {
			close(t.revoked)
			t.closed = true
		}
	}
	return nil
}
