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

// recordCounts holds the numbers of idempotency records, so that no change has to count
// them. It counts the records in the store at an interval, and those of this service in
// between.
type recordCounts struct {
	now func() time.Time

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
	mu      sync.Mutex // held during a count: other changes of the owner wait for it
	records int
	at      time.Time // of the count; zero: never
}

func newRecordCounts(now func() time.Time) *recordCounts {
	return &recordCounts{now: now, byOwner: make(map[recordOwner]*recordCount)}
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

// full reports whether the owner of a key has no room for its record. It is false without
// a key.
func (c *recordCounts) full(ctx context.Context, tx KeyTx, caller Caller, key Key) (bool, error) {
	if key.Text == "" {
		return false, nil
	}
	owner := recordOwner{caller.MerchantID, key.Line > 0}
	n := c.of(owner)
	n.mu.Lock()
	defer n.mu.Unlock()
	if now := c.now(); n.at.IsZero() || now.Sub(n.at) >= recountInterval {
		// The record of the key itself exists already.
		records, err := tx.CountIdempotencyRecords(ctx, owner.merchantID, owner.lines, MaxIdempotencyRecords+1)
		if err != nil {
			return false, err
		}
		n.records, n.at = records-1, now
	}
	return n.records >= MaxIdempotencyRecords, nil
}

// add counts the record that a change has created, if it has a key.
func (c *recordCounts) add(caller Caller, key Key) {
	if key.Text == "" {
		return
	}
	n := c.of(recordOwner{caller.MerchantID, key.Line > 0})
	n.mu.Lock()
	defer n.mu.Unlock()
	n.records++
}
