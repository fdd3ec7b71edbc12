package instances

import (
	"database/sql"
	"fmt"
	"maps"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// operatorMoves are those of the operator, the ones more often that lead on.
var operatorMoves = []order.State{
	order.InProcessing, order.InProcessing, order.ReadyForShipment, order.ReadyForShipment, order.PickedByCourier, order.PickedByCourier,
	order.DeliveryFailed, order.DeliveryFailed, order.DeliveredToPickupPoint, order.DeliveredToCustomer, order.Canceled,
	order.Completed, order.ReturnCanceled,
}

// checkTotals compares the totals of the lists, by state and by day, with the
// orders on the pages, the rows of the orders and the stored counts.
func checkTotals(t *testing.T, c client, db *sql.DB, merchantID int64) {
	t.Helper()
	walked := map[string]int{}
	for _, state := range c.Walk(t) {
		walked[state]++
	}
	listed, rows, stored := map[string]int{}, map[string]int{}, map[string]int{}
	for _, state := range order.States() {
		name := state.String()
		listed[name] = c.List(t, "itemsPerPage=1&state="+name).Params.TotalItems
		rows[name] = number(t, db, `SELECT COUNT(*) FROM orders WHERE merchant_id = $1 AND state = $2`, merchantID, state)
		stored[name] = number(t, db, `SELECT COALESCE(SUM(orders), 0) FROM order_days WHERE merchant_id = $1 AND state = $2`, merchantID, state)
	}
	for _, totals := range []map[string]int{listed, rows, stored} {
		maps.DeleteFunc(totals, func(_ string, n int) bool { return n == 0 })
	}
	testenv.Equal(t, fmt.Sprintf("merchant %d: orders on the pages and totals of the lists", merchantID), walked, listed)
	testenv.Equal(t, fmt.Sprintf("merchant %d: orders and stored counts", merchantID), rows, stored)
	testenv.Equal(t, fmt.Sprintf("merchant %d: orders in the database and on the pages", merchantID), rows, walked)
	wrong := number(t, db, `SELECT COUNT(*) FROM (
			SELECT created_at / 86400 AS day, state, COUNT(*) AS n FROM orders WHERE merchant_id = $1 GROUP BY 1, 2) o
		FULL JOIN (SELECT day, state, orders FROM order_days WHERE merchant_id = $1 AND orders <> 0) d
			ON o.day = d.day AND o.state = d.state
		WHERE o.n IS DISTINCT FROM d.orders`, merchantID)
	testenv.Equal(t, fmt.Sprintf("merchant %d: wrong counts of days and states", merchantID), 0, wrong)
}
