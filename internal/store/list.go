package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// lastEvent reads which event is a merchant's newest, in the snapshot of the
// statement it is part of.
const lastEvent = `(SELECT last_event FROM merchants WHERE id = $1)`

// listTries is how often a list is read against counts that turn out to be
// older than the rows, before it is read in a transaction.
const listTries = 3

// List implements order.Store.
//
// Where a page begins, and how many orders there are, is known from the
// merchant's counts, by day and, where a day has many orders, by blocks of it.
// So no order is counted and few are skipped: a page costs the same wherever it
// lies. The rows come with the number of the merchant's newest event; it tells
// whether the counts are those of the same moment, and what to add if not.
func (db *DB) List(ctx context.Context, merchantID int64, filter order.Filter) (order.Page, error) {
	defer db.timed("list")()
	// One limit for all of it: who waits for the counts while another reads them
	// must not begin anew with the waiting.
	ctx, cancel := db.withTimeout(ctx)
	defer cancel()
	for range listTries {
		page, current, err := db.tryList(ctx, merchantID, filter)
		if err != nil {
			return order.Page{}, db.wrap(fmt.Errorf("list orders: %w", err))
		}
		if current {
			return page, nil
		}
	}
	page, err := db.listInSnapshot(ctx, merchantID, filter)
	if err != nil {
		return order.Page{}, db.wrap(fmt.Errorf("list orders: %w", err))
	}
	return page, nil
}

// tryList reads a page by the counts that are known. Where the merchant's orders
// have changed since, the counts are brought up to date; most changes move no
// page, and what was read is good by the counts of its own moment. current is
// false where it is not.
func (db *DB) tryList(ctx context.Context, merchantID int64, filter order.Filter) (order.Page, bool, error) {
	counts := db.counts.of(merchantID)
	place, err := db.placeNear(ctx, counts, merchantID, filter)
	if err != nil {
		return order.Page{}, false, err
	}
	orders, version, err := readPage(ctx, db.sql, merchantID, filter, place)
	if err != nil || version == place.version {
		return pageOf(filter, place, orders), err == nil, err
	}
	length, err := counts.catchUp(ctx, db.sql, merchantID, version)
	db.counts.grown(merchantID, counts, length)
	if err != nil || version < place.version {
		return order.Page{}, false, err // the latter on a database that was put back
	}
	then, known := counts.placeAt(filter, version)
	return pageOf(filter, then, orders), known && then.shows(place), nil
}

// listInSnapshot reads a page in a transaction that sees no change of others,
// by counts that are brought to the same moment.
func (db *DB) listInSnapshot(ctx context.Context, merchantID int64, filter order.Filter) (order.Page, error) {
	counts := db.counts.of(merchantID)
	// Before a connection is taken: whoever waits for the counts must hold none.
	counts.mu.Lock()
	defer counts.mu.Unlock()
	var page order.Page
	err := db.sql.Snapshot(ctx, func(r sqldb.Querier) error {
		place, err := counts.placeIn(ctx, r, merchantID, filter)
		if err != nil {
			return err
		}
		orders, _, err := readPage(ctx, r, merchantID, filter, place)
		page = pageOf(filter, place, orders)
		return err
	})
	return page, err
}

// pageOf returns the page that was read, and where the next one begins.
func pageOf(filter order.Filter, place place, orders []order.Summary) order.Page {
	page := order.Page{Orders: orders, Total: place.total}
	more := filter.Page <= maxOrders/filter.PageSize && filter.Page*filter.PageSize < place.total
	if filter.After != nil {
		// It may have gone beyond the first day asked for.
		from, _ := keysOf(filter)
		end := slices.IndexFunc(orders, func(o order.Summary) bool { return o.CreatedAt.Unix() < from.at })
		if end >= 0 {
			page.Orders = orders[:end]
		}
		if more = int64(len(page.Orders)) > filter.PageSize; more {
			page.Orders = page.Orders[:filter.PageSize]
		}
	}
	if more && len(page.Orders) > 0 {
		last := page.Orders[len(page.Orders)-1]
		page.Next = &order.Cursor{CreatedAt: last.CreatedAt, LegacyID: last.LegacyID}
	}
	return page
}

// readPage reads the orders of a page and the number of the newest event.
func readPage(ctx context.Context, r sqldb.Querier, merchantID int64, filter order.Filter, place place) ([]order.Summary, int64, error) {
	var orders []order.Summary
	var version sql.NullInt64
	if place.limit > 0 {
		text, args := pageStatement(merchantID, filter, place)
		orders = make([]order.Summary, 0, place.limit)
		var row summaryRow
		into := append(row.into(), &version)
		err := sqldb.Each(ctx, r, text, args, func(rows sqldb.Rows) error {
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
	if version.Valid {
		return orders, version.Int64, nil
	}
	newest, err := newestEvent(ctx, r, merchantID)
	return orders, newest, err
}

// pageStatement returns the statement that reads a page, and its arguments.
//
// A bound LIMIT is written $n+0: SQLite prepares a statement anew whenever a
// plain bound limit might change its plan, which makes it half as slow again.
func pageStatement(merchantID int64, filter order.Filter, place place) (string, []any) {
	args := []any{merchantID, place.below.at, place.below.number, place.limit, place.skip}
	switch {
	case filter.AnyState:
		return `SELECT ` + summaryColumns + `, ` + lastEvent + ` FROM orders o
			WHERE o.merchant_id = $1 AND (o.created_at, o.number) < ($2, $3)
			ORDER BY o.created_at DESC, o.number DESC LIMIT $4+0 OFFSET $5+0`, args
	case len(filter.States) == 1:
		return `SELECT ` + summaryColumns + `, ` + lastEvent + ` FROM orders o
			WHERE o.merchant_id = $1 AND (o.created_at, o.number) < ($2, $3) AND o.state = ` + literal(filter.States[0]) + `
			ORDER BY o.created_at DESC, o.number DESC LIMIT $4+0 OFFSET $5+0`, args
	}
	return severalStates(filter.States, place.skip+place.limit), args
}

// severalStates merges the states' own orders. Whole rows are read only for
// what is shown. CROSS JOIN makes SQLite take the keys first; left to itself it
// goes through all orders and looks for each among the keys.
//
// The first LIMIT, a number, is for PostgreSQL: a plan made once for any limit
// takes a tenth of the orders for the page, and joins them all.
func severalStates(states []order.State, most int64) string {
	bound := int64(256) // the largest page, after what is skipped at most
	for bound < most {
		bound *= 2
	}
	keys := mergedKeys(states, `created_at, number`, `(created_at, number) < ($2, $3)`, ` DESC`)
	return `SELECT ` + summaryColumns + `, ` + lastEvent + ` FROM (
			SELECT created_at, number FROM (` + keys + ` LIMIT ` + strconv.FormatInt(bound, 10) + `) v
			ORDER BY created_at DESC, number DESC LIMIT $4+0 OFFSET $5+0
		) k
		CROSS JOIN orders o
		WHERE o.merchant_id = $1 AND o.number = k.number
		ORDER BY o.created_at DESC, o.number DESC`
}

// mergedKeys returns a statement that reads columns of the index by state, for
// several states, in the order of keys.
//
// Each branch has the ORDER BY of the whole: PostgreSQL merges only branches
// that are told to be in order, and sorts all orders else.
func mergedKeys(states []order.State, columns, where, way string) string {
	sorted := ` ORDER BY created_at` + way + `, number` + way
	branches := make([]string, len(states))
	for i, state := range states {
		branches[i] = `SELECT * FROM (SELECT ` + columns + ` FROM orders
			WHERE merchant_id = $1 AND state = ` + literal(state) + ` AND ` + where + sorted + `) s` + strconv.Itoa(i)
	}
	return `SELECT ` + columns + ` FROM (` + strings.Join(branches, ` UNION ALL `) + `) u` + sorted
}

// literal writes a state into a statement: one statement a state, each with
// the plan that suits it.
func literal(state order.State) string { return strconv.Itoa(int(state)) }
