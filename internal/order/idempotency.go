package order

import (
	"context"
	"sync"
	"time"
)

const (
	// MaxIdempotencyRecords is how many idempotency records a merchant, or all operators
	// together, may have at a time: of requests, and as many of lines.
	MaxIdempotencyRecords = 100_000
	// recountInterval is how soon a service notices the records that other ones
	// have made or deleted.
	recountInterval = 10 * time.Second
	// maxRecordCounts bounds the memory for the counts.
	maxRecordCounts = 10_000
)

// recordCounts holds the numbers of idempotency records, so that no transaction has to
// count them, which takes 60 ms for the most that there can be. It counts the records in
// the store at an interval, and those of this service in between.
type recordCounts struct {
	store KeyStore
	now   func() time.Time

	mu      sync.Mutex
	byOwner map[recordOwner]*recordCount
}

// recordOwner is whose records have a limit of their own. Lines have one, so that a large
// batch leaves keys for other requests.
type recordOwner struct {
	merchantID int64 // 0: the operators
	lines      bool
}

type recordCount struct {
	counting sync.Mutex // held during a count

	mu      sync.Mutex
	records int
	at      time.Time // of the count; zero: never
}

func newRecordCounts(store KeyStore, now func() time.Time) *recordCounts {
	return &recordCounts{store: store, now: now, byOwner: make(map[recordOwner]*recordCount)}
}

// of returns the count of the owner of a key.
func (c *recordCounts) of(owner recordOwner) *recordCount {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.byOwner[owner]
	if n == nil {
		if len(c.byOwner) == maxRecordCounts {
			clear(c.byOwner) // they are counted again
		}
		n = new(recordCount)
		c.byOwner[owner] = n
	}
	return n
}

// ownerOf returns whose records that of a key is among.
func ownerOf(caller Caller, key Key) recordOwner { return recordOwner{caller.MerchantID, key.Line > 0} }

// count counts the records of the owner of a key, if there is one and the last count is
// old. Only the first count keeps other changes of the owner waiting.
func (c *recordCounts) count(ctx context.Context, caller Caller, key Key) error {
	if key.Text == "" {
		return nil
	}
	owner := ownerOf(caller, key)
	n := c.of(owner)
	switch known, old := n.age(c.now()); {
	case !old:
		return nil
	case !known:
		n.counting.Lock()
	case !n.counting.TryLock():
		return nil
	}
	defer n.counting.Unlock()
	now := c.now()
	if _, old := n.age(now); !old {
		return nil
	}
	records, err := c.store.CountIdempotencyRecords(ctx, owner.merchantID, owner.lines, MaxIdempotencyRecords)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.records, n.at = records, now
	return nil
}

// age reports whether there is a count, and whether it is old.
func (n *recordCount) age(now time.Time) (known, old bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.at.IsZero(), n.at.IsZero() || now.Sub(n.at) >= recountInterval
}

// full reports whether the owner of a key had no room for its record at the last count, and
// with what this service has added. It is false without a key.
func (c *recordCounts) full(caller Caller, key Key) bool {
	if key.Text == "" {
		return false
	}
	n := c.of(ownerOf(caller, key))
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.records >= MaxIdempotencyRecords
}

// add counts the record that a change has created, if it has a key.
func (c *recordCounts) add(caller Caller, key Key) {
	if key.Text == "" {
		return
	}
	n := c.of(ownerOf(caller, key))
	n.mu.Lock()
	defer n.mu.Unlock()
	n.records++
}
