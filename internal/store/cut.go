package store

import (
	"context"
	"fmt"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// sizes say how finely counts are kept.
type sizes struct {
	// block is how many orders a block has when it is cut, and half of what is
	// skipped at most without cutting.
	block int64
	// blocks is how many blocks a merchant has at most, roughly: one with more
	// orders than fill them has larger ones.
	blocks int64
	// fewest and most are how many keys are read at once for cutting.
	fewest, most int64
	// events is how many events are read to bring counts up to date, and one
	// more for each block. Beyond, they are read anew: three years of days are
	// 12,000 rows, but blocks have to be cut again.
	events int
}

// usualSizes: an order that is skipped costs 0.1 microseconds, a list of 10
// costs 30 and more, and a block takes 64 bytes. Reading a key costs 0.4 to 0.8
// microseconds.
var usualSizes = sizes{block: 32, blocks: 100_000, fewest: 2_000, most: 50_000, events: 2_000}

// cut is a span to be cut into blocks, beginning at the end that is nearer to
// the page that is looked for.
type cut struct {
	low, high listKey // the orders from low on and below high
	upwards   bool    // begin with the lowest key
	keys      int64   // how many to read
	block     int64   // orders of a block
}

// cutFor returns what is to be cut before a page is read that begins after skip
// orders of a span; nil where these are few.
func (c *dayCounts) cutFor(at position, states []order.State, skip int64) *cut {
	block := max(c.sizes.block, c.spans.orders[0]/c.sizes.blocks)
	if skip <= 2*block {
		return nil
	}
	one := c.spans.at(at)
	found := &cut{low: one.low, high: c.endOf(at), block: block}
	all, passing := int64(one.orders[0]), one.orders.of(states)
	rank := skip
	if found.upwards = skip > passing/2; found.upwards {
		rank = passing - skip
	}
	// As if the states were spread evenly; if they are not, another one follows.
	found.keys = min(max(rank*all/passing+2*block, c.sizes.fewest), c.sizes.most)
	return found
}

// endOf is the key below which the orders of a span are: that of the next one,
// within the day.
func (c *dayCounts) endOf(at position) listKey {
	day := order.DayOf(time.Unix(c.spans.at(at).low.at, 0))
	if above := c.spans.above(at); compareKeys(above, startOf(day+1)) < 0 {
		return above
	}
	return startOf(day + 1)
}

// placeNear finds the page of a filter so that there is little to skip. For
// that it may have to cut days, which is done once for all pages.
func (db *DB) placeNear(ctx context.Context, c *dayCounts, merchantID int64, filter order.Filter) (place, error) {
	found := c.place(filter)
	if found.cut == nil {
		return found, nil
	}
	// Whoever has to wait here would read the same keys. Pages that need no
	// cutting do not come here.
	select {
	case c.cutting <- struct{}{}:
		defer func() { <-c.cutting }()
	case <-ctx.Done():
		return place{}, ctx.Err()
	}
	misses := 0
	for found = c.place(filter); found.cut != nil && misses < listTries; found = c.place(filter) {
		did, err := c.cut(ctx, db.sql, merchantID, *found.cut)
		if err != nil {
			return place{}, fmt.Errorf("cut a day: %w", err)
		}
		if !did {
			misses++
		}
	}
	db.counts.grown(merchantID, c, found.spans)
	return found, nil
}

// cut reads keys, while others use the counts and change them, and puts blocks
// in the place of the span. false: the span is not there any more.
func (c *dayCounts) cut(ctx context.Context, r sqldb.Querier, merchantID int64, cut cut) (bool, error) {
	read, err := readBlocks(ctx, r, merchantID, cut)
	if err != nil {
		return false, err
	}
	return c.install(ctx, r, merchantID, read)
}

func (c *dayCounts) install(ctx context.Context, r sqldb.Querier, merchantID int64, read cutOrders) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.catchUpLocked(ctx, r, merchantID, read.version); err != nil {
		return false, err
	}
	at, ok := c.spans.find(read.cut.low)
	if !ok || c.spans.at(at).low != read.cut.low || c.endOf(at) != read.cut.high {
		return false, nil
	}
	if err := read.catchUp(ctx, r, merchantID, c.version); err != nil {
		return false, err
	}
	if err := read.settle(c.spans.at(at).orders); err != nil {
		return false, err
	}
	c.spans.replace(at, read.pieces)
	c.blocks += len(read.pieces) - 1
	c.recent = nil // without the keys of their orders, where these are the first blocks
	return true, nil
}
