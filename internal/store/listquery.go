package store

import (
	"strconv"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/store/pageindex"
)

// dataVersion are two columns with a merchant's data version, in the snapshot of
// the statement that they are part of.
const dataVersion = `(SELECT last_event FROM merchants WHERE id = $1), (SELECT data_mark FROM merchants WHERE id = $1)`

// pageStatement returns the statement that reads a page, and its arguments. Each
// row ends with the data version.
//
// A bound LIMIT is written $n+0: SQLite prepares a statement anew whenever a
// plain bound limit might change its plan, which makes it half as slow again.
func pageStatement(merchantID int64, filter order.Filter, at pageindex.Position) (string, []any) {
	args := []any{merchantID, at.UpperBound.CreatedAt, at.UpperBound.LegacyID, at.Limit, at.Offset}
	switch {
	case filter.AnyState:
		return `SELECT ` + summaryColumns + `, ` + dataVersion + ` FROM orders o
			WHERE o.merchant_id = $1 AND (o.created_at, o.legacy_id) < ($2, $3)
			ORDER BY o.created_at DESC, o.legacy_id DESC LIMIT $4+0 OFFSET $5+0`, args
	case len(filter.States) == 1:
		return `SELECT ` + summaryColumns + `, ` + dataVersion + ` FROM orders o
			WHERE o.merchant_id = $1 AND (o.created_at, o.legacy_id) < ($2, $3) AND o.state = ` + literal(filter.States[0]) + `
			ORDER BY o.created_at DESC, o.legacy_id DESC LIMIT $4+0 OFFSET $5+0`, args
	}
	return multiStateStatement(filter.States, at.Offset+at.Limit), args
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
			WHERE merchant_id = $1 AND state = ` + literal(state) + ` AND ` + where + sorted + `) s` + strconv.Itoa(i)
	}
	return `SELECT ` + columns + ` FROM (` + strings.Join(branches, ` UNION ALL `) + `) u` + sorted
}

// literal writes a state into a statement: one statement for each state, with
// the plan that suits it.
func literal(state order.State) string { return strconv.Itoa(int(state)) }
