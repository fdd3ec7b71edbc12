package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"merchantorders/internal/order"
)

// lastEvent reads which event is a merchant's newest, in the snapshot of the
// statement it is part of.
const lastEvent = `(SELECT last_event FROM merchants WHERE id = $1)`

// listTries is how often a list is read against counts that turn out to be
// older than the rows, before it is read in a transaction.
const listTries = 3

// List implements order.Store.
//
// Which day a page begins on, and how many orders of that day come before it,
// is known from the merchant's day counts, so that no order is counted and
// none is skipped but within one day: a page costs the same wherever it lies.
// The rows come with the number of the merchant's newest event; it tells
// whether the counts are those of the same moment, and what to add if not.
func (db *DB) List(ctx context.Context, merchantID int64, filter order.Filter) (order.Page, error) {
	defer db.timed("list")()
	// One limit for all of it: who waits for the counts while another reads them
	// must not begin anew with the waiting.
	ctx, cancel := db.conns.bounded(ctx)
	defer cancel()
	for range listTries {
		page, current, err := db.tryList(ctx, merchantID, filter)
		if err != nil {
			return order.Page{}, db.failure(fmt.Errorf("list orders: %w", err))
		}
		if current {
			return page, nil
		}
	}
	page, err := db.listInSnapshot(ctx, merchantID, filter)
	if err != nil {
		return order.Page{}, db.failure(fmt.Errorf("list orders: %w", err))
	}
	return page, nil
}

// tryList reads a page by the counts that are known. current is false when
// the merchant's orders have changed since; the counts are up to date then.
func (db *DB) tryList(ctx context.Context, merchantID int64, filter order.Filter) (order.Page, bool, error) {
	counts := db.counts.of(merchantID)
	place := counts.place(filter)
	orders, version, err := readPage(ctx, db.conns, merchantID, filter, place)
	if err != nil || version == place.version {
		return order.Page{Orders: orders, Total: place.total}, err == nil, err
	}
	days, err := counts.catchUp(ctx, db.conns, merchantID, version)
	db.counts.grown(merchantID, counts, days)
	return order.Page{}, false, err
}

// listInSnapshot reads counts and rows in one transaction that sees no change
// of others, with counts of its own: those that are shared may be newer.
func (db *DB) listInSnapshot(ctx context.Context, merchantID int64, filter order.Filter) (order.Page, error) {
	var page order.Page
	err := db.conns.snapshot(ctx, func(r run) error {
		counts := &dayCounts{}
		if err := counts.load(ctx, r, merchantID); err != nil {
			return err
		}
		place := counts.place(filter)
		orders, _, err := readPage(ctx, r, merchantID, filter, place)
		page = order.Page{Orders: orders, Total: place.total}
		return err
	})
	return page, err
}

// readPage reads the orders of a page and the number of the newest event.
func readPage(ctx context.Context, r run, merchantID int64, filter order.Filter, place place) ([]order.Summary, int64, error) {
	var orders []order.Summary
	var version sql.NullInt64
	if place.limit > 0 {
		text, args := pageStatement(merchantID, filter, place)
		orders = make([]order.Summary, 0, place.limit)
		var row summaryRow
		into := append(row.into(), &version)
		err := each(ctx, r, text, args, func(rows result) error {
			if err := rows.Scan(into...); err != nil {
				return err
			}
			orders = append(orders, row.summary())
			return nil
		})
		if err != nil {
			return nil, 0, err
		}
	}
	if !version.Valid {
		err := r.row(ctx, `SELECT last_event FROM merchants WHERE id = $1`, []any{merchantID}, &version)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, 0, err
		}
	}
	return orders, version.Int64, nil
}

// pageStatement returns the statement that reads a page, and its arguments.
//
// A bound LIMIT is written $n+0: SQLite prepares a statement anew whenever a
// plain bound limit might change its plan, which makes it half as slow again.
func pageStatement(merchantID int64, filter order.Filter, place place) (string, []any) {
	end := place.day.End().Unix()
	args := []any{merchantID, end, place.limit, place.skip}
	switch {
	case filter.AnyState:
		return `SELECT ` + summaryColumns + `, ` + lastEvent + ` FROM orders o
			WHERE o.merchant_id = $1 AND o.created_at <= $2
			ORDER BY o.created_at DESC, o.number DESC LIMIT $3+0 OFFSET $4+0`, args
	case len(filter.States) == 1:
		return `SELECT ` + summaryColumns + `, ` + lastEvent + ` FROM orders o
			WHERE o.merchant_id = $1 AND o.created_at <= $2 AND o.state = ` + literal(filter.States[0]) + `
			ORDER BY o.created_at DESC, o.number DESC LIMIT $3+0 OFFSET $4+0`, args
	}
	return severalStates(filter.States), []any{merchantID, end, place.skip + place.limit, place.limit, place.skip}
}

// severalStates merges the states' own orders. Each branch reads keys from the
// index alone, no more than the page can need; whole rows are read only for
// what is shown. CROSS JOIN makes SQLite take the keys first; left to itself it
// goes through all orders and looks for each among the keys.
func severalStates(states []order.State) string {
	branches := make([]string, len(states))
	for i, state := range states {
		branches[i] = `SELECT * FROM (SELECT created_at, number FROM orders
			WHERE merchant_id = $1 AND created_at <= $2 AND state = ` + literal(state) + `
			ORDER BY created_at DESC, number DESC LIMIT $3+0) s` + strconv.Itoa(i)
	}
	return `SELECT ` + summaryColumns + `, ` + lastEvent + ` FROM (
			SELECT created_at, number FROM (` + strings.Join(branches, ` UNION ALL `) + `) u
			ORDER BY created_at DESC, number DESC LIMIT $4+0 OFFSET $5+0
		) k
		CROSS JOIN orders o
		WHERE o.merchant_id = $1 AND o.number = k.number
		ORDER BY o.created_at DESC, o.number DESC`
}

// literal writes a state into a statement: one statement a state, each with
// the plan that suits it.
func literal(state order.State) string { return strconv.Itoa(int(state)) }
