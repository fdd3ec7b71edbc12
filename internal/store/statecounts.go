package store

import (
	"context"
	"fmt"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// The row of a merchant has the numbers of its orders in each state, so that numbers of
// all merchants cost one row for each.

// stateCounts are numbers of orders by state. Index 0 has no meaning.
type stateCounts [order.NumStates]int64

// move counts an order that leaves a state for another. It has no state before it is
// created and after it is deleted: 0.
func (c *stateCounts) move(from, to order.State) {
	c[from]--
	c[to]++
}

// stateColumns returns an expression for each state, separated by commas. %[1]d in format
// is the number of the state.
func stateColumns(format string) string {
	var columns []string
	for _, state := range order.States() {
		columns = append(columns, fmt.Sprintf(format, state))
	}
	return strings.Join(columns, ", ")
}

var (
	selectOrderCounts = `SELECT ` + stateColumns(`CAST(COALESCE(SUM(in_state_%[1]d), 0) AS BIGINT)`) + ` FROM merchants`
	selectUnanswered  = fmt.Sprintf(`SELECT id, in_state_%[1]d FROM merchants
		WHERE in_state_%[1]d > 0 AND (in_state_%[1]d < $1 OR in_state_%[1]d = $1 AND id > $2) ORDER BY in_state_%[1]d DESC, id LIMIT $3+0`, order.Registered)

	selectStateCounts = `SELECT ` + stateColumns(`in_state_%[1]d`) + ` FROM merchants WHERE id = $1`
	// A cluster runs it on one node, because each table has the merchant's number.
	updateCounts = `UPDATE merchants SET ` +
		stateColumns(`in_state_%[1]d = (SELECT COALESCE(SUM(orders), 0) FROM order_days WHERE merchant_id = $1 AND state = %[1]d)`) + ` WHERE id = $1`
)

// dest returns the Scan destinations of a row with a number for each state.
func (c *stateCounts) dest() []any {
	var dest []any
	for _, state := range order.States() {
		dest = append(dest, &c[state])
	}
	return dest
}

// byState returns the numbers. Every state has an entry.
func (c *stateCounts) byState() map[order.State]int64 {
	counts := make(map[order.State]int64)
	for _, state := range order.States() {
		counts[state] = c[state]
	}
	return counts
}

// StateCounts implements order.Store.
func (db *DB) StateCounts(ctx context.Context, merchantID int64) (_ map[order.State]int64, err error) {
	defer db.observe(&ctx, "state_counts")(&err)
	counts, err := ReadStateCounts(ctx, db.sql, merchantID)
	return counts, db.readError("count orders by state", err, order.ErrMerchantNotFound)
}

// ReadStateCounts returns the numbers in a merchant's row, for maintenance commands.
func ReadStateCounts(ctx context.Context, q sqldb.Querier, merchantID int64) (map[order.State]int64, error) {
	var counts stateCounts
	err := q.QueryRow(ctx, selectStateCounts, []any{merchantID}, counts.dest()...)
	return counts.byState(), err
}

// WriteStateCounts adds up the day counts of a merchant, whose row must be locked, and
// writes the numbers into it.
func WriteStateCounts(ctx context.Context, q sqldb.Querier, merchantID int64) error {
	_, err := q.Exec(ctx, updateCounts, merchantID)
	return err
}
