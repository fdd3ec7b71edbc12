package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"sync"

	"merchantorders/internal/order"
)

// mostEventsToCatchUp is how many events are read to bring counts up to date;
// beyond, they are read anew.
const mostEventsToCatchUp = 5000

// mostKeptDays bounds the memory of the cache, in days of all merchants
// together: about 50 bytes a day, 10 MB.
const mostKeptDays = 200_000

// dayCounts are a merchant's orders counted by the day of their creation and
// by state, as of one moment of the database.
type dayCounts struct {
	mu      sync.Mutex
	version int64 // the newest event that is counted in
	loaded  bool
	days    []dayRow // oldest first
}

// dayRow is one day. orders is indexed by state; index 0, which is no state,
// has the sum.
type dayRow struct {
	day    order.Day
	orders [order.NumStates]int32
}

// place is where a page begins among a merchant's orders.
type place struct {
	version int64     // the event up to which it is right
	total   int64     // orders that the filter lets through
	day     order.Day // the newest day of which the page shows an order
	skip    int64     // orders of that day that come before the page
	limit   int64     // orders on the page; 0 past the end
}

// place finds the page of a filter.
func (c *dayCounts) place(filter order.Filter) place {
	c.mu.Lock()
	defer c.mu.Unlock()
	columns := filter.States
	if filter.AnyState {
		columns = []order.State{0}
	}
	from, to := c.span(filter)
	found := place{version: c.version}
	// Compared by division, since page times size may not fit 64 bits.
	before, begun := int64(-1), false
	if pages := filter.Page - 1; pages <= maxOrders/filter.Size {
		before = pages * filter.Size
	}
	for i := to - 1; i >= from; i-- {
		n := int64(0)
		for _, state := range columns {
			n += int64(c.days[i].orders[state])
		}
		if before >= 0 && !begun && before < found.total+n {
			found.day, found.skip, begun = c.days[i].day, before-found.total, true
		}
		found.total += n
	}
	if begun {
		found.limit = min(filter.Size, found.total-before)
	}
	return found
}

// maxOrders is more orders than a merchant can have.
const maxOrders = 1 << 48

// span returns the range of indexes of the days that a filter lets through.
func (c *dayCounts) span(filter order.Filter) (from, to int) {
	to = len(c.days)
	if filter.From != order.NoDay {
		from, _ = slices.BinarySearchFunc(c.days, filter.From, compareDay)
	}
	if filter.To != order.NoDay {
		to, _ = slices.BinarySearchFunc(c.days, filter.To+1, compareDay)
	}
	return from, to
}

func compareDay(row dayRow, day order.Day) int { return int(row.day) - int(day) }

// add counts orders of a day and state in.
func (c *dayCounts) add(day order.Day, state order.State, orders int32) {
	i, there := slices.BinarySearchFunc(c.days, day, compareDay)
	if !there {
		c.days = slices.Insert(c.days, i, dayRow{day: day})
	}
	c.days[i].orders[state] += orders
	c.days[i].orders[0] += orders
}

// catchUp counts in what has happened up to an event, or counts anew where
// that is a lot.
func (c *dayCounts) catchUp(ctx context.Context, r run, merchantID, version int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loaded && c.version >= version {
		return nil
	}
	if c.loaded && version-c.version <= mostEventsToCatchUp {
		return c.addEvents(ctx, r, merchantID)
	}
	return c.load(ctx, r, merchantID)
}

// addEvents counts in every event after those counted in. Events have no gaps
// and are seen in their order, so that none can be missed.
func (c *dayCounts) addEvents(ctx context.Context, r run, merchantID int64) error {
	err := each(ctx, r, `SELECT seq, order_day, from_state, to_state FROM events
		WHERE merchant_id = $1 AND seq > $2 ORDER BY seq`,
		[]any{merchantID, c.version}, func(rows *sql.Rows) error {
			var seq int64
			var day order.Day
			var from, to order.State
			if err := rows.Scan(&seq, &day, &from, &to); err != nil {
				return err
			}
			if from.Valid() {
				c.add(day, from, -1)
			}
			if to.Valid() {
				c.add(day, to, +1)
			}
			c.version = seq
			return nil
		})
	if err != nil {
		// Half of them may be counted in.
		c.loaded = false
		return fmt.Errorf("count events: %w", err)
	}
	return nil
}

// load reads the counts as the database keeps them.
func (c *dayCounts) load(ctx context.Context, r run, merchantID int64) error {
	c.loaded, c.version, c.days = false, 0, nil
	err := each(ctx, r, `SELECT day, state, orders, `+lastEvent+` FROM order_days
		WHERE merchant_id = $1 ORDER BY day`,
		[]any{merchantID}, func(rows *sql.Rows) error {
			var day order.Day
			var state order.State
			var orders int32
			if err := rows.Scan(&day, &state, &orders, &c.version); err != nil {
				return err
			}
			if !state.Valid() {
				return fmt.Errorf("state %d is none", state)
			}
			c.add(day, state, orders)
			return nil
		})
	if err != nil {
		return fmt.Errorf("read day counts: %w", err)
	}
	c.loaded = true
	return nil
}

// countCache keeps the day counts of the merchants asked for last.
type countCache struct {
	mu     sync.Mutex
	counts map[int64]*dayCounts
	recent []int64 // merchants, the one asked for last at the end
}

func newCountCache() *countCache { return &countCache{counts: make(map[int64]*dayCounts)} }

// of returns the counts of a merchant, empty ones when they are not known.
func (k *countCache) of(merchantID int64) *dayCounts {
	k.mu.Lock()
	defer k.mu.Unlock()
	if last := len(k.recent) - 1; last >= 0 && k.recent[last] == merchantID {
		return k.counts[merchantID]
	}
	if i := slices.Index(k.recent, merchantID); i >= 0 {
		k.recent = slices.Delete(k.recent, i, i+1)
	} else {
		k.makeRoom()
		k.counts[merchantID] = &dayCounts{}
	}
	k.recent = append(k.recent, merchantID)
	return k.counts[merchantID]
}

// makeRoom lets go of the merchants asked for longest ago.
func (k *countCache) makeRoom() {
	days := 0
	for i := len(k.recent) - 1; i >= 0; i-- {
		// A merchant's list that is being read holds its own counts on.
		if days += len(k.counts[k.recent[i]].days); days > mostKeptDays {
			for _, gone := range k.recent[:i+1] {
				delete(k.counts, gone)
			}
			k.recent = slices.Delete(k.recent, 0, i+1)
			return
		}
	}
}
