package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// cutOrders are the pieces of a span, as of one moment of the database.
type cutOrders struct {
	cut     cut
	version int64
	pieces  []span // the lowest key first
	rest    int    // which piece has the orders whose keys were not read; -1: none
}

// readBlocks reads keys and makes blocks of them.
func readBlocks(ctx context.Context, r sqldb.Querier, merchantID int64, cut cut) (cutOrders, error) {
	read := cutOrders{cut: cut, rest: -1}
	keys := make([]listKey, 0, cut.keys)
	states := make([]order.State, 0, cut.keys)
	var k listKey
	var state order.State
	into := []any{&k.at, &k.number, sqldb.Int(&state), &read.version}
	args := []any{merchantID, cut.low.at, cut.low.number, cut.high.at, cut.high.number, cut.keys}
	err := sqldb.Each(ctx, r, selectKeys(cut.upwards), args, func(rows sqldb.Rows) error {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if !state.Valid() {
			return fmt.Errorf("state %d is none", state)
		}
		keys, states = append(keys, k), append(states, state)
		return nil
	})
	if err != nil {
		return cutOrders{}, fmt.Errorf("read keys: %w", err)
	}
	if len(keys) == 0 {
		return cutOrders{}, errors.New("read keys: a span with orders has none")
	}
	if !cut.upwards {
		slices.Reverse(keys)
		slices.Reverse(states)
	}
	whole := int64(len(keys)) < cut.keys
	if !whole && !cut.upwards {
		read.pieces, read.rest = append(read.pieces, span{low: cut.low}), 0
	}
	for i, k := range keys {
		if int64(i)%cut.block == 0 {
			read.pieces = append(read.pieces, span{low: k})
		}
		read.pieces[len(read.pieces)-1].orders.count(states[i], 1)
	}
	read.pieces[0].low = cut.low
	if !whole && cut.upwards {
		read.rest = len(read.pieces)
		read.pieces = append(read.pieces, span{low: k.after()})
	}
	return read, nil
}

// catchUp counts in what has happened between the reading of the keys and a
// later event.
func (o *cutOrders) catchUp(ctx context.Context, r sqldb.Querier, merchantID, version int64) error {
	if version == o.version {
		return nil
	}
	return eachMove(ctx, r, merchantID, o.version, true, func(m move) {
		if m.seq > version || compareKeys(m.key, o.cut.low) < 0 || compareKeys(m.key, o.cut.high) >= 0 {
			return
		}
		i, exact := searchSpans(o.pieces, m.key)
		if !exact {
			i--
		}
		if m.from.Valid() {
			o.pieces[i].orders.count(m.from, -1)
		}
		if m.to.Valid() {
			o.pieces[i].orders.count(m.to, +1)
		}
	})
}

// settle gives the rest what the whole has beyond the other pieces.
func (o *cutOrders) settle(whole tally) error {
	if o.rest >= 0 {
		o.pieces[o.rest].orders = tally{}
	}
	pieces := sumOf(o.pieces)
	for state, n := range whole {
		rest := n - pieces[state]
		switch {
		case rest < 0 || rest > 0 && o.rest < 0:
			return errors.New("the day counts do not fit the orders")
		case o.rest >= 0:
			o.pieces[o.rest].orders[state] = rest
		}
	}
	return nil
}

// selectKeys reads the keys and states of orders from one end of a span. They
// come from the index by state alone, in which each state has an order of its
// own; both databases merge these as they go.
func selectKeys(upwards bool) string {
	way := ` DESC`
	if upwards {
		way = ` ASC`
	}
	branches := mergedKeys(order.States(), `created_at, number, state`,
		`(created_at, number) >= ($2, $3) AND (created_at, number) < ($4, $5)`, way)
	return `SELECT created_at, number, state, ` + lastEvent + ` FROM (` + branches + ` LIMIT $6+0) k`
}
