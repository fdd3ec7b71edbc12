package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// The row of a merchant has the numbers of its orders in each state, so that numbers of
// all merchants cost one row for each. They are valid if counted_mark is data_mark: a
// version without these columns changes only data_mark. Until CountOrders counts again,
// readers then add up the day counts.

// stateCounts are numbers of orders by state. Index 0 has no meaning.
type stateCounts [order.NumStates]int64

// move counts an order that leaves a state for another. 0 is none: the order is new, or
// deleted.
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

// Expressions about a merchant m; %[1]d is the number of the state.
const (
	countDays    = `(SELECT COALESCE(SUM(d.orders), 0) FROM order_days d WHERE d.merchant_id = m.id AND d.state = %[1]d)`
	countOfState = `CASE WHEN m.counted_mark = m.data_mark THEN m.in_state_%[1]d ELSE ` + countDays + ` END`
)

var (
	selectOrderCounts = `SELECT ` + stateColumns(`CAST(COALESCE(SUM(`+countOfState+`), 0) AS BIGINT)`) + ` FROM merchants m`
	selectUnanswered  = `SELECT c.id, c.orders FROM (SELECT m.id, CAST(` + fmt.Sprintf(countOfState, order.Registered) + ` AS BIGINT) AS orders FROM merchants m) c
		WHERE c.orders > 0 AND (c.orders < $1 OR c.orders = $1 AND c.id > $2) ORDER BY c.orders DESC, c.id LIMIT $3+0`

	selectStateCounts = `SELECT ` + stateColumns(`in_state_%[1]d`) + ` FROM merchants WHERE id = $1 AND counted_mark = data_mark`

	selectUncounted = `SELECT id FROM merchants WHERE counted_mark <> data_mark ORDER BY id`
	// The merchant's number instead of m.id tells a cluster that one node has all rows.
	updateCounts = `UPDATE merchants SET counted_mark = data_mark, ` +
		stateColumns(`in_state_%[1]d = `+strings.ReplaceAll(countDays, "m.id", "$1")) + ` WHERE id = $1`
)

// readOrderCounts returns how many orders are in each state. Every state has an entry.
func readOrderCounts(ctx context.Context, q sqldb.Querier) (map[order.State]int64, error) {
	return readStateCounts(ctx, q, selectOrderCounts, nil)
}

// readStateCounts returns the numbers in a row, one for each state.
func readStateCounts(ctx context.Context, q sqldb.Querier, text string, args []any) (map[order.State]int64, error) {
	var row stateCounts
	var dest []any
	for _, state := range order.States() {
		dest = append(dest, &row[state])
	}
	if err := q.QueryRow(ctx, text, args, dest...); err != nil {
		return nil, err
	}
	counts := make(map[order.State]int64)
	for _, state := range order.States() {
		counts[state] = row[state]
	}
	return counts, nil
}

// ReadStateCounts returns the numbers in a merchant's row, for maintenance commands. It
// returns nil if they are not valid.
func ReadStateCounts(ctx context.Context, q sqldb.Querier, merchantID int64) (map[order.State]int64, error) {
	counts, err := readStateCounts(ctx, q, selectStateCounts, []any{merchantID})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return counts, err
}

// WriteStateCounts adds up the day counts of a merchant, whose row must be locked, and
// writes the numbers into it.
func WriteStateCounts(ctx context.Context, q sqldb.Querier, merchantID int64) error {
	_, err := q.Exec(ctx, updateCounts, merchantID)
	return err
}

// CountOrders counts the orders of merchants whose numbers are not valid, and returns how
// many merchants these were.
func (db *DB) CountOrders(ctx context.Context) (int, error) {
	merchants, err := sqldb.Column[int64](ctx, db.sql, selectUncounted)
	if err != nil {
		return 0, db.readError("find merchants to count orders of", err, nil)
	}
	for i, id := range merchants {
		err := db.inTx(ctx, "count", func(t *tx) error {
			// A change writes day counts and then locks the merchant. A statement after
			// the lock sees those of every change that is in data_mark.
			if err := t.QueryRow(ctx, `SELECT id FROM merchants WHERE id = $1`+t.db.dialect.RowLock, []any{id}, &id); err != nil {
				return err
			}
			return WriteStateCounts(ctx, t, id)
		})
		if err != nil {
			return i, err
		}
	}
	return len(merchants), nil
}
