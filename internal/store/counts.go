package store

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// Statements that count. An event tells the day of its order and not its key,
// which only counts of less than a day ask for; one that is not there is NULL,
// and an error.
const (
	selectEvents    = `SELECT seq, from_state, to_state, order_day` + fromEvents
	selectKeyEvents = `SELECT seq, from_state, to_state, order_day, order_number,
		(SELECT o.created_at FROM orders o WHERE o.merchant_id = $1 AND o.number = events.order_number)` + fromEvents
	fromEvents = ` FROM events WHERE merchant_id = $1 AND seq > $2 ORDER BY seq`
	selectDays = `SELECT day, state, orders, ` + lastEvent + ` FROM order_days WHERE merchant_id = $1 ORDER BY day`
)

// dayCounts are a merchant's orders counted by state and by the day of their
// creation, or by blocks of a day that has been cut, as of one moment of the
// database.
type dayCounts struct {
	sizes   sizes
	cutting chan struct{} // has room for the one that cuts

	// catching is held by the one that reads what has happened, for all that wait
	// for it, while others find their pages.
	catching sync.Mutex

	mu      sync.Mutex
	version int64 // the newest event that is counted in
	loaded  bool
	spans   spans
	blocks  int // how many spans more than days there are
	// recent are what was counted in last, up to version and without a gap.
	recent []move
}

// mostRecent is how many events can be counted out again: what happens while a
// page is read.
const mostRecent = 32

func newDayCounts(sizes sizes) *dayCounts {
	return &dayCounts{sizes: sizes, cutting: make(chan struct{}, 1)}
}

// place is where a page begins among a merchant's orders.
type place struct {
	version int64   // the event up to which it is right
	total   int64   // orders that the filter lets through
	below   listKey // the page is among the orders below this key
	skip    int64   // orders below the key that come before the page
	limit   int64   // orders on the page; 0 past the end
	spans   int     // how many there are, of the whole merchant
	cut     *cut    // what to cut first, so that there is little to skip; nil: nothing
}

// shows reports whether the page at one place has the orders of that at another.
func (p place) shows(other place) bool {
	return p.below == other.below && p.skip == other.skip && p.limit == other.limit
}

// place finds the page of a filter.
func (c *dayCounts) place(filter order.Filter) place {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.placeLocked(filter)
}

func (c *dayCounts) placeLocked(filter order.Filter) place {
	states := filter.States
	if filter.AnyState {
		states = []order.State{0}
	}
	if filter.After != nil {
		return c.placeAfter(*filter.After, filter, states)
	}
	// Compared by division, since page times size may not fit 64 bits.
	before := int64(math.MaxInt64)
	if pages := filter.Page - 1; pages <= maxOrders/filter.PageSize {
		before = pages * filter.PageSize
	}
	from, to := keysOf(filter)
	total, at, skip, begun := c.spans.search(states, from, to, before)
	found := place{version: c.version, total: total, spans: c.spans.length}
	if begun {
		found.below, found.skip, found.limit = c.spans.above(at), skip, min(filter.PageSize, total-before)
		found.cut = c.cutFor(at, states, skip)
	}
	return found
}

// placeAfter is the place of a page that begins where another ended. One order
// more than it shows tells whether there is a further one.
func (c *dayCounts) placeAfter(after order.Cursor, filter order.Filter, states []order.State) place {
	from, to := keysOf(filter)
	total, _, _, _ := c.spans.search(states, from, to, math.MaxInt64)
	below := listKey{after.CreatedAt.Unix(), after.LegacyID}
	if compareKeys(to, below) < 0 {
		below = to
	}
	found := place{version: c.version, total: total, below: below, limit: filter.PageSize + 1, spans: c.spans.length}
	if len(states) == 0 {
		found.limit = 0 // nothing is asked for
	}
	return found
}

// maxOrders is more orders than a merchant can have.
const maxOrders = 1 << 48

// keysOf returns the keys from which and below which a filter lets orders
// through, whatever their state.
func keysOf(filter order.Filter) (from, to listKey) {
	from, to = lowestKey, highestKey
	if filter.From != order.NoDay {
		from = startOf(filter.From)
	}
	if filter.To != order.NoDay && filter.To != math.MaxInt32 {
		to = startOf(filter.To + 1)
	}
	return from, to
}

// placeIn finds the page of a filter as of the moment that a transaction sees.
// The counts are locked since before it began, so that they cannot be newer.
func (c *dayCounts) placeIn(ctx context.Context, r sqldb.Querier, merchantID int64, filter order.Filter) (place, error) {
	version, err := newestEvent(ctx, r, merchantID)
	if err != nil {
		return place{}, err
	}
	// Newer after all: the database is not the one that was counted, but for
	// example an older one that was put in its place.
	c.loaded = c.loaded && c.version <= version
	if err := c.catchUpLocked(ctx, r, merchantID, version); err != nil {
		return place{}, err
	}
	return c.placeLocked(filter), nil
}

// placeAt finds the page of a filter as of an event that was counted in a short
// while ago; false where that was too long ago, or is still to come.
func (c *dayCounts) placeAt(filter order.Filter, version int64) (place, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	later := c.version - version
	if !c.loaded || later < 0 || later > int64(len(c.recent)) {
		return place{}, false
	}
	since := c.recent[int64(len(c.recent))-later:]
	for _, m := range slices.Backward(since) {
		c.count(m, -1)
	}
	found := c.placeLocked(filter)
	for _, m := range since {
		c.count(m, +1)
	}
	found.version = version
	return found, true
}

// catchUp counts in what has happened up to an event, or counts anew where
// that is a lot. It returns how many spans there are then. After an error the
// counts are older than asked for, but right.
func (c *dayCounts) catchUp(ctx context.Context, r sqldb.Querier, merchantID, version int64) (int, error) {
	c.catching.Lock()
	defer c.catching.Unlock()
	c.mu.Lock()
	after, keys := c.version, c.blocks > 0
	missing := c.loaded && after < version && c.few(version)
	c.mu.Unlock()
	var moves []move
	var err error
	if missing {
		err = eachMove(ctx, r, merchantID, after, keys, func(m move) { moves = append(moves, m) })
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if keys == (c.blocks > 0) {
		for _, m := range moves {
			if m.seq == c.version+1 {
				c.add(m)
			}
		}
	}
	if err == nil {
		err = c.catchUpLocked(ctx, r, merchantID, version)
	}
	return c.spans.length, err
}

// few reports whether the events up to one are few enough to be read.
func (c *dayCounts) few(version int64) bool {
	return version-c.version <= int64(c.sizes.events+c.blocks)
}

func (c *dayCounts) catchUpLocked(ctx context.Context, r sqldb.Querier, merchantID, version int64) error {
	switch {
	case c.loaded && c.version >= version:
		return nil
	case c.loaded && c.few(version):
		return c.addEvents(ctx, r, merchantID)
	}
	return c.load(ctx, r, merchantID)
}

// addEvents counts in every event after those counted in. Events have no gaps
// and are seen in their order, so that none can be missed. Each is counted in
// as a whole, with its number.
func (c *dayCounts) addEvents(ctx context.Context, r sqldb.Querier, merchantID int64) error {
	return eachMove(ctx, r, merchantID, c.version, c.blocks > 0, c.add)
}

// add counts the next event in.
func (c *dayCounts) add(m move) {
	c.count(m, +1)
	c.version = m.seq
	if len(c.recent) == mostRecent {
		c.recent = slices.Delete(c.recent, 0, 1)
	}
	c.recent = append(c.recent, m)
}

// count counts a move of one order in, or that of -1 orders: out again.
func (c *dayCounts) count(m move, orders int32) {
	if m.from.Valid() {
		c.spans.count(m.day, m.key, m.from, -orders)
	}
	if m.to.Valid() {
		c.spans.count(m.day, m.key, m.to, orders)
	}
}

// move is what an event tells of an order's state. An order that comes in
// moves from none, and one whose state stays the same moves from none to none.
type move struct {
	seq      int64
	day      order.Day
	key      listKey // the day's lowest, where the order's own was not asked for
	from, to order.State
}

// eachMove calls fn for every event after one, the oldest first. keys: with the
// orders' own keys.
func eachMove(ctx context.Context, r sqldb.Querier, merchantID, after int64, keys bool, fn func(move)) error {
	var m move
	text, into := selectEvents, []any{&m.seq, sqldb.Int(&m.from), sqldb.Int(&m.to), sqldb.Int(&m.day)}
	if keys {
		text, into = selectKeyEvents, append(into, &m.key.number, &m.key.at)
	}
	err := sqldb.Each(ctx, r, text, []any{merchantID, after}, func(rows sqldb.Rows) error {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if !keys {
			m.key = startOf(m.day)
		}
		fn(m)
		return nil
	})
	if err != nil {
		return fmt.Errorf("count events: %w", err)
	}
	return nil
}

// load reads the counts as the database keeps them. Only whole ones are taken
// over: half of them with the number of the newest event would be believed.
func (c *dayCounts) load(ctx context.Context, r sqldb.Querier, merchantID int64) error {
	var days []span
	var version int64
	err := sqldb.Each(ctx, r, selectDays, []any{merchantID}, func(rows sqldb.Rows) error {
		var day order.Day
		var state order.State
		var orders int32
		if err := rows.Scan(sqldb.Int(&day), sqldb.Int(&state), sqldb.Int(&orders), &version); err != nil {
			return err
		}
		if !state.Valid() {
			return fmt.Errorf("state %d is none", state)
		}
		if low := startOf(day); len(days) == 0 || days[len(days)-1].low != low {
			days = append(days, span{low: low})
		}
		days[len(days)-1].orders.count(state, orders)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read day counts: %w", err)
	}
	c.loaded, c.version, c.spans, c.blocks, c.recent = true, version, newSpans(days), 0, nil
	return nil
}
