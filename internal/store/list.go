package store

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/store/pageindex"
	"merchantorders/internal/store/sqldb"
)

// maxListAttempts is how many optimistic reads List makes before it falls back
// to a snapshot.
const maxListAttempts = 3

// List implements order.Store.
//
// The page index says where the page begins and how many orders match, so that
// no statement counts orders, and few rows are skipped: each page takes the same
// time wherever it is. A list is an optimistic read, one statement as a rule: the
// rows carry the data version of the statement, and the version check compares
// it with that of the index. See pageindex/README.md.
func (db *DB) List(ctx context.Context, merchantID int64, filter order.Filter) (page order.Page, err error) {
	defer db.observe(&ctx, "list")(&err)
	// One time limit for all statements and all waiting together.
	ctx, cancel := withTimeout(ctx, db.dialect.StatementTimeout)
	defer cancel()
	done := false
	for attempt := 0; attempt < maxListAttempts && !done && err == nil; attempt++ {
		page, done, err = db.listOptimistically(ctx, merchantID, filter)
	}
	if !done && err == nil {
		page, err = db.listInSnapshot(ctx, merchantID, filter)
	}
	return page, db.readError("list orders", err, nil)
}

// listOptimistically reads a page at the position that the index has now. If
// orders have changed since, it refreshes the index. It reports false if the
// position was another one as of the version of the rows: the caller retries.
func (db *DB) listOptimistically(ctx context.Context, merchantID int64, filter order.Filter) (order.Page, bool, error) {
	index := db.indexes.Get(merchantID)
	source := indexSource{db.sql, merchantID}
	position, err := index.Locate(ctx, source, filter)
	if err != nil || position.Inexact {
		return order.Page{}, false, err
	}
	orders, version, err := readPage(ctx, db.sql, merchantID, filter, position)
	if err != nil {
		return order.Page{}, false, err
	}
	if version == position.Version {
		return makePage(filter, position, orders), true, nil
	}
	if version.Event <= position.Version.Event {
		// The statement was later than the index: this is another history, for
		// example that of an older database put in its place.
		return order.Page{}, false, index.Invalidate(ctx, position.Version)
	}
	if err := index.Refresh(ctx, source, version); err != nil {
		return order.Page{}, false, err
	}
	if len(orders) == 0 && position.Limit > 0 {
		return order.Page{}, false, nil // the version may be newer than the page: see readPage
	}
	then, known := index.LocateAt(filter, version)
	if !known || !then.SamePage(position) {
		return order.Page{}, false, nil
	}
	return makePage(filter, then, orders), true, nil
}

// listInSnapshot reads everything in one transaction, with a page index of its
// own: the shared one may be newer than the snapshot.
func (db *DB) listInSnapshot(ctx context.Context, merchantID int64, filter order.Filter) (page order.Page, err error) {
	err = db.sql.Snapshot(ctx, func(q sqldb.Querier) error {
		position, err := pageindex.NewShared(pageindex.DefaultSizes).Locate(ctx, indexSource{q, merchantID}, filter)
		if err != nil {
			return err
		}
		orders, _, err := readPage(ctx, q, merchantID, filter, position)
		page = makePage(filter, position, orders)
		return err
	})
	return page, err
}

// readPage reads the orders of a page, and the data version of the statement. If
// there are no orders, no row carries the version, and a second statement reads
// it. If that version is the one of the position, nothing has changed between
// the two statements; otherwise it may be newer than the page.
func readPage(ctx context.Context, q sqldb.Querier, merchantID int64, filter order.Filter, at pageindex.Position) ([]order.Summary, order.DataVersion, error) {
	var orders []order.Summary
	var version order.DataVersion
	if at.Limit > 0 {
		text, args := pageStatement(merchantID, filter, at)
		orders = make([]order.Summary, 0, at.Limit)
		var row summaryRow
		dest := append(row.dest(), &version.Event, &version.Nonce)
		err := sqldb.Each(ctx, q, text, args, func(rows sqldb.Rows) error {
			if err := rows.Scan(dest...); err != nil {
				return err
			}
			orders = append(orders, row.summary())
			return nil
		})
		if err != nil {
			return nil, order.DataVersion{}, err
		}
	}
	if len(orders) > 0 {
		return orders, version, nil
	}
	version, err := indexSource{q, merchantID}.Version(ctx)
	return orders, version, err
}

// makePage returns the page with the orders that were read at a position.
func makePage(filter order.Filter, at pageindex.Position, orders []order.Summary) order.Page {
	page := order.Page{Orders: orders, Total: at.Total, Version: at.Version}
	more := at.More
	if filter.After != nil {
		// The statement has no lower bound: orders before the first day may follow.
		from, _ := filter.Bounds()
		if end := slices.IndexFunc(orders, func(o order.Summary) bool { return o.CreatedAt.Unix() < from }); end >= 0 {
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

// dataVersion are two columns with a merchant's data version, in the snapshot of
// the statement that they are part of.
const dataVersion = `(SELECT last_event FROM merchants WHERE id = $1), (SELECT data_nonce FROM merchants WHERE id = $1)`

// pageStatement returns the statement that reads a page, and its arguments. Each
// row ends with the data version.
//
// A bound LIMIT is written $n+0: SQLite prepares a statement anew whenever a
// plain bound limit might change its plan, which makes it half as slow again.
func pageStatement(merchantID int64, filter order.Filter, at pageindex.Position) (string, []any) {
	args := []any{merchantID, at.UpperBound.CreatedAt, at.UpperBound.LegacyID, at.Limit, at.Offset}
	state := ""
	if !filter.AnyState {
		if len(filter.States) != 1 {
			return multiStateStatement(filter.States, at.Offset+at.Limit), args
		}
		state = ` AND o.state = ` + sqldb.Literal(filter.States[0])
	}
	return `SELECT ` + summaryColumns + `, ` + dataVersion + ` FROM orders o
		WHERE o.merchant_id = $1 AND (o.created_at, o.legacy_id) < ($2, $3)` + state + `
		ORDER BY o.created_at DESC, o.legacy_id DESC LIMIT $4+0 OFFSET $5+0`, args
}

// multiStateStatement returns the statement that reads a page of several states.
// It merges the keys of the states and reads whole rows only for the page.
//
// CROSS JOIN makes SQLite take the keys first; left to itself it scans all orders
// and searches each among the keys.
//
// The first LIMIT, a number, is for PostgreSQL: a plan for any limit expects a
// tenth of the orders on the page and joins them all.
func multiStateStatement(states []order.State, rows int64) string {
	limit := int64(256) // at least the largest page after the largest offset
	for limit < rows {
		limit *= 2
	}
	keys := mergedKeys(states, `created_at, legacy_id`, `(created_at, legacy_id) < ($2, $3)`, ` DESC`)
	return `SELECT ` + summaryColumns + `, ` + dataVersion + ` FROM (
			SELECT created_at, legacy_id FROM (` + keys + ` LIMIT ` + strconv.FormatInt(limit, 10) + `) v
			ORDER BY created_at DESC, legacy_id DESC LIMIT $4+0 OFFSET $5+0
		) k
		CROSS JOIN orders o
		WHERE o.merchant_id = $1 AND o.legacy_id = k.legacy_id
		ORDER BY o.created_at DESC, o.legacy_id DESC`
}

// mergedKeys returns a statement that reads columns of the index by state, for
// several states, in the order of keys. direction is " ASC" or " DESC".
//
// Each branch has the ORDER BY of the whole statement: PostgreSQL merges only
// branches that are sorted, and sorts all orders otherwise.
func mergedKeys(states []order.State, columns, where, direction string) string {
	sorted := ` ORDER BY created_at` + direction + `, legacy_id` + direction
	branches := make([]string, len(states))
	for i, state := range states {
		branches[i] = `SELECT * FROM (SELECT ` + columns + ` FROM orders
			WHERE merchant_id = $1 AND state = ` + sqldb.Literal(state) + ` AND ` + where + sorted + `) s` + strconv.Itoa(i)
	}
	return `SELECT ` + columns + ` FROM (` + strings.Join(branches, ` UNION ALL `) + `) u` + sorted
}
