package store

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"merchantorders/internal/order"
)

// mostEventsToCatchUp is how many events are read to bring counts up to date.
// Beyond, they are read anew: three years of days are as many rows.
const mostEventsToCatchUp = 2000

// Statements that count.
const (
	selectEvents = `SELECT seq, order_day, from_state, to_state FROM events
	WHERE merchant_id = $1 AND seq > $2 ORDER BY seq`
	selectDays = `SELECT day, state, orders, ` + lastEvent + ` FROM order_days WHERE merchant_id = $1 ORDER BY day`
)

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
	if filter.To != order.NoDay && filter.To != math.MaxInt32 {
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
// that is a lot. It returns how many days there are then. After an error the
// counts are older than asked for, but right.
func (c *dayCounts) catchUp(ctx context.Context, r run, merchantID, version int64) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	switch {
	case c.loaded && c.version >= version:
	case c.loaded && version-c.version <= mostEventsToCatchUp:
		err = c.addEvents(ctx, r, merchantID)
	default:
		err = c.load(ctx, r, merchantID)
	}
	return len(c.days), err
}

// addEvents counts in every event after those counted in. Events have no gaps
// and are seen in their order, so that none can be missed. Each is counted in
// as a whole, with its number.
func (c *dayCounts) addEvents(ctx context.Context, r run, merchantID int64) error {
	err := each(ctx, r, selectEvents, []any{merchantID, c.version}, func(rows result) error {
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
		return fmt.Errorf("count events: %w", err)
	}
	return nil
}

// load reads the counts as the database keeps them. Only whole ones are taken
// over: half of them with the number of the newest event would be believed.
func (c *dayCounts) load(ctx context.Context, r run, merchantID int64) error {
	var read dayCounts
	err := each(ctx, r, selectDays, []any{merchantID}, func(rows result) error {
		var day order.Day
		var state order.State
		var orders int32
		if err := rows.Scan(&day, &state, &orders, &read.version); err != nil {
			return err
		}
		if !state.Valid() {
			return fmt.Errorf("state %d is none", state)
		}
		read.add(day, state, orders)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read day counts: %w", err)
	}
	c.loaded, c.version, c.days = true, read.version, read.days
	return nil
}
