package instances

import (
	"database/sql"
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
)

// operatorMoves are those of the operator, the ones more often that lead on.
var operatorMoves = []order.State{
	order.InProcessing, order.InProcessing, order.ReadyForShipment, order.ReadyForShipment, order.PickedByCourier, order.PickedByCourier,
	order.DeliveryFailed, order.DeliveryFailed, order.DeliveredToPickupPoint, order.DeliveredToCustomer, order.Canceled,
	order.Completed, order.ReturnCanceled,
}

// list is one page of orders.
type list struct {
	Params struct{ TotalItems int }
	Orders []struct{ ID, State string }
}

func (c client) list(t testing.TB, query string) list {
	t.Helper()
	var page list
	c.read(t, "/v2/orders?"+query, &page)
	return page
}

// walk goes through all pages and returns the state of every order.
func (c client) walk(t testing.TB) map[string]string {
	t.Helper()
	states := map[string]string{}
	for page := 1; ; page++ {
		got := c.list(t, fmt.Sprintf("itemsPerPage=100&page=%d", page))
		for _, o := range got.Orders {
			if _, twice := states[o.ID]; twice {
				t.Errorf("order %s is on two pages", o.ID)
			}
			states[o.ID] = o.State
		}
		if len(got.Orders) == 0 {
			return states
		}
	}
}

// checkTotals compares the totals of the lists, by state and by day, with the
// orders on the pages, the rows of the orders and the stored counts.
func checkTotals(t *testing.T, c client, db *sql.DB, merchantID int64) {
	t.Helper()
	walked := map[string]int{}
	for _, state := range c.walk(t) {
		walked[state]++
	}
	listed, rows, stored := map[string]int{}, map[string]int{}, map[string]int{}
	for _, state := range order.States() {
		name := state.String()
		listed[name] = c.list(t, "itemsPerPage=1&state="+name).Params.TotalItems
		rows[name] = number(t, db, `SELECT COUNT(*) FROM orders WHERE merchant_id = $1 AND state = $2`, merchantID, state)
		stored[name] = number(t, db, `SELECT COALESCE(SUM(orders), 0) FROM order_days WHERE merchant_id = $1 AND state = $2`, merchantID, state)
	}
	for _, totals := range []map[string]int{listed, rows, stored} {
		maps.DeleteFunc(totals, func(_ string, n int) bool { return n == 0 })
	}
	if diff := cmp.Diff(walked, listed); diff != "" {
		t.Errorf("merchant %d (-on the pages +totals of the lists):\n%s", merchantID, diff)
	}
	if diff := cmp.Diff(rows, stored); diff != "" {
		t.Errorf("merchant %d (-orders +stored counts):\n%s", merchantID, diff)
	}
	if diff := cmp.Diff(rows, walked); diff != "" {
		t.Errorf("merchant %d (-orders in the database +on the pages):\n%s", merchantID, diff)
	}
	wrong := number(t, db, `SELECT COUNT(*) FROM (
			SELECT created_at / 86400 AS day, state, COUNT(*) AS n FROM orders WHERE merchant_id = $1 GROUP BY 1, 2) o
		FULL JOIN (SELECT day, state, orders FROM order_days WHERE merchant_id = $1 AND orders <> 0) d
			ON o.day = d.day AND o.state = d.state
		WHERE o.n IS DISTINCT FROM d.orders`, merchantID)
	if wrong != 0 {
		t.Errorf("merchant %d: the counts of %d days and states are wrong", merchantID, wrong)
	}
}
