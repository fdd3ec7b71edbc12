package order

import (
	"context"
	"sync"
	"time"
)

const (
	// MaxIdempotencyRecords is how many idempotency records a merchant may have at
	// a time.
	MaxIdempotencyRecords = 100_000
	// recountInterval is how soon a service notices the records that other ones
	// have made or deleted.
	recountInterval = 10 * time.Second
	// maxRecordCounts bounds the memory for the counts.
	maxRecordCounts = 10_000
)

// recordCounts holds the number of idempotency records of merchants, so that no
// write has to count them. It counts the records in the store at an interval, and
// those of this service in between.
type recordCounts struct {
	// count counts the records of a merchant in the store, up to a limit.
	count func(ctx context.Context, merchantID int64, limit int) (int, error)
	now   func() time.Time

	mu         sync.Mutex
	byMerchant map[int64]*recordCount
}

type recordCount struct {
	mu      sync.Mutex // held during a count: other writes of the merchant wait for it
	records int
	at      time.Time // of the count; zero: never
}

func newRecordCounts(count func(context.Context, int64, int) (int, error), now func() time.Time) *recordCounts {
	return &recordCounts{count: count, now: now, byMerchant: make(map[int64]*recordCount)}
}

// of returns the count of a merchant.
func (c *recordCounts) of(merchantID int64) *recordCount {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.byMerchant[merchantID]
	if n == nil {
		if len(c.byMerchant) == maxRecordCounts {
			clear(c.byMerchant) // they are counted again
		}
		n = new(recordCount)
		c.byMerchant[merchantID] = n
	}
	return n
}

// full reports whether a merchant must not create another record.
func (c *recordCounts) full(ctx context.Context, merchantID int64) (bool, error) {
	n := c.of(merchantID)
	n.mu.Lock()
	defer n.mu.Unlock()
	if now := c.now(); n.at.IsZero() || now.Sub(n.at) >= recountInterval {
		records, err := c.count(ctx, merchantID, MaxIdempotencyRecords)
		if err != nil {
			return false, err
		}
		n.records, n.at = records, now
	}
	return n.records >= MaxIdempotencyRecords, nil
}

// add counts a record that a change has created.
func (c *recordCounts) add(merchantID int64) {
	n := c.of(merchantID)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.records++
}
