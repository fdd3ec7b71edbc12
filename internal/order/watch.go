package order

import (
	"context"
	"sync"
	"time"
)

const (
	// MaxWaiters is how many requests of a merchant wait for events at once in
	// one instance.
	MaxWaiters = 100
	// watchEvery is how often an instance looks whether another one has changed
	// something of a merchant for whom it has requests waiting.
	watchEvery = 250 * time.Millisecond
)

// watch wakes those who wait for events: at once where a change is committed
// through this service, and by looking at the newest event's number, one small
// read for all who wait for a merchant, where it is another's.
type watch struct {
	newest func(ctx context.Context, merchantID int64) (int64, error)
	ended  chan struct{} // closed when nobody is to wait any longer

	mu        sync.Mutex
	ending    bool
	merchants map[int64]*watched // for whom somebody waits
}

// watched is a merchant for whom somebody waits.
type watched struct {
	waiting int
	changed chan struct{} // closed, and another one made, when there is something new
	forget  context.CancelFunc
}

func newWatch(newest func(ctx context.Context, merchantID int64) (int64, error)) *watch {
	return &watch{newest: newest, ended: make(chan struct{}), merchants: make(map[int64]*watched)}
}

// join notes one more who waits for a merchant, until leave, and reports
// whether there is room.
func (w *watch) join(merchantID int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.merchants[merchantID]
	switch {
	case w.ending:
		return false
	case m == nil:
		ctx, cancel := context.WithCancel(context.Background())
		m = &watched{changed: make(chan struct{}), forget: cancel}
		w.merchants[merchantID] = m
		go w.look(ctx, merchantID)
	case m.waiting == MaxWaiters:
		return false
	}
	m.waiting++
	return true
}

// leave ends what join began.
func (w *watch) leave(merchantID int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.merchants[merchantID]
	if m.waiting--; m.waiting == 0 {
		m.forget()
		delete(w.merchants, merchantID)
	}
}

// changed returns what is closed at the next change of a merchant that somebody
// who has joined waits for.
func (w *watch) changed(merchantID int64) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.merchants[merchantID].changed
}

// wake tells those who wait for a merchant to look again.
func (w *watch) wake(merchantID int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if m := w.merchants[merchantID]; m != nil {
		close(m.changed)
		m.changed = make(chan struct{})
	}
}

// end lets all go who wait.
func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ending {
		w.ending = true
		close(w.ended)
	}
}

// look wakes those who wait for a merchant whenever the newest event is another
// than at the look before, and at the first look, before which there was none.
func (w *watch) look(ctx context.Context, merchantID int64) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	for seen := int64(-1); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		// An error here is no one's: who waits sees what has come when the database
		// can be read again, or asks again when the time is over.
		if newest, err := w.newest(ctx, merchantID); err == nil && newest != seen {
			seen = newest
			w.wake(merchantID)
		}
	}
}

// wakingStore is a Store whose commits of events wake those who wait for them.
type wakingStore struct {
	Store
	watch *watch
}

// InTx implements Store.
func (s wakingStore) InTx(ctx context.Context, fn func(Tx) error) error {
	var merchants []int64
	err := s.Store.InTx(ctx, func(tx Tx) error { return fn(wakingTx{Tx: tx, merchants: &merchants}) })
	// Also after an error: the commit may have gone through.
	for _, merchantID := range merchants {
		s.watch.wake(merchantID)
	}
	return err
}

// ImportOrders implements Store.
func (s wakingStore) ImportOrders(ctx context.Context, batch []Incoming, now time.Time) ([]ImportResult, error) {
	outcomes, err := s.Store.ImportOrders(ctx, batch, now)
	for i, outcome := range outcomes {
		if outcome.Status == Created {
			s.watch.wake(batch[i].Order.MerchantID)
		}
	}
	return outcomes, err
}

// wakingTx is a Tx that notes whose events it has written.
type wakingTx struct {
	Tx
	merchants *[]int64
}

// Append implements Tx.
func (t wakingTx) Append(ctx context.Context, order LockedOrder, event Event) error {
	*t.merchants = append(*t.merchants, order.MerchantID)
	return t.Tx.Append(ctx, order, event)
}
