package instances

import (
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
	"merchantorders/internal/store/pgtest"
	"merchantorders/internal/testenv"
)

// mover is one of the clients that move orders at random, each of the merchants'
// orders along every way there is.
type mover struct {
	operator client
	merchant map[int64]client
	dice     *rand.Rand
}

// TestTotalsStayExact has four clients of two instances move the orders of three
// merchants about, thousands of times, while others read the lists and a follower the
// events. In the end lists, orders, day counts and events must tell the same.
//
// It guards that counts and event numbers are written in the transaction of the
// change, and that an instance finds out what the other has done.
func TestTotalsStayExact(t *testing.T) {
	t.Parallel()
	const clients, merchants, ordersEach = 4, 3, 150
	moves := testenv.Count(5000, 10_000)
	i := onPostgres(t, pgtest.Database(t))
	tokens := map[int64]string{}
	for m := range int64(merchants) {
		id := merchantID + m
		tokens[id] = i.merchant(t, id)
		i.run(t, string(registered(id, sample(1+m*ordersEach), ordersEach)), "import", "-")
	}
	operator := i.run(t, "", "token", "create", "--operator")
	// Processes, so that the race detector does not slow them down.
	bases := []string{i.process(t).BaseURL, i.process(t).BaseURL}

	stop, ended := make(chan struct{}), sync.WaitGroup{}
	for id, token := range tokens {
		ended.Go(func() { follow(t, i.tables(t), id, stop) })
		for _, base := range bases {
			c := newClient(t, base, token)
			ended.Go(func() { watchTotal(t, c, ordersEach, stop) })
		}
	}
	var movers sync.WaitGroup
	for who := range clients {
		m := mover{
			operator: newClient(t, bases[who%2], operator), merchant: map[int64]client{},
			dice: rand.New(rand.NewPCG(17, uint64(who))),
		}
		for id, token := range tokens {
			m.merchant[id] = newClient(t, bases[who%2], token)
		}
		movers.Go(func() {
			for range moves / clients {
				id := merchantID + m.dice.Int64N(merchants)
				n := sample(1 + (id-merchantID)*ordersEach + m.dice.Int64N(ordersEach))
				if !m.move(t, id, n) {
					return
				}
			}
		})
	}
	movers.Wait()
	close(stop)
	ended.Wait()
	if states := number(t, i.tables(t), `SELECT COUNT(DISTINCT state) FROM orders`); states < 8 {
		t.Errorf("the orders came to %d states only", states)
	}
	for id, token := range tokens {
		for _, base := range bases {
			checkTotals(t, newClient(t, base, token), i.tables(t), id)
		}
	}
}

// operatorMoves are those of the operator, the ones more often that lead on.
var operatorMoves = []order.State{
	order.InProcessing, order.InProcessing, order.ReadyForShipment, order.ReadyForShipment, order.PickedByCourier, order.PickedByCourier,
	order.DeliveryFailed, order.DeliveryFailed, order.DeliveredToPickupPoint, order.DeliveredToCustomer, order.Canceled,
	order.Completed, order.ReturnCanceled,
}

// move tries one move, and reports whether the response is as expected: done,
// or refused for the state the order is in.
func (m mover) move(t *testing.T, id int64, n sample) bool {
	c, d := m.merchant[id], decisions[m.dice.IntN(len(decisions))]
	method, path, body, refusal := d.method, d.path(n), d.body, http.StatusBadRequest
	if m.dice.IntN(4) > 0 {
		to := operatorMoves[m.dice.IntN(len(operatorMoves))]
		c, method, refusal = m.operator, http.MethodPost, http.StatusConflict
		path = fmt.Sprintf("/operator/merchants/%d/orders/%s/state", id, n.reference())
		body = `{"state":"` + to.String() + `"}`
	}
	got := c.ask(t, method, path, body)
	if got.status != http.StatusOK && got.status != refusal {
		t.Errorf("%s %s: %d %s", method, path, got.status, got.body)
		return false
	}
	return true
}

// Those who look on leave the processor to the others for so long.
const (
	watchPause  = 100 * time.Millisecond
	followPause = 10 * time.Millisecond
)

// watchTotal reads lists of a merchant whose orders only move: the list of all
// has always the same total, and its first page is full.
func watchTotal(t *testing.T, c client, orders int, stop <-chan struct{}) {
	for round := 0; ; round++ {
		select {
		case <-stop:
			return
		case <-time.After(watchPause):
		}
		page := c.list(t, "page="+fmt.Sprint(1+round%3)+"&itemsPerPage=50")
		if page.Params.TotalItems != orders || len(page.Orders) != 50 {
			t.Errorf("the list of all has %d orders, %d on a page; want %d and 50", page.Params.TotalItems, len(page.Orders), orders)
			return
		}
	}
}

// follow reads a merchant's events as they come, as a feed would, from the last
// one seen on: none may be missing, none may come late, and each must go on from
// the state in which the one before has left its order.
func follow(t *testing.T, db *sql.DB, merchantID int64, stop <-chan struct{}) {
	last, states := int64(0), map[int64]order.State{}
	for stopping := false; ; {
		seen, err := followOn(db, merchantID, last, states)
		if err != nil {
			t.Errorf("events of merchant %d: %v", merchantID, err)
			return
		}
		last += seen
		if stopping {
			break
		}
		select {
		case <-stop:
			stopping = true // and read once more what is there
		case <-time.After(followPause):
		}
	}
	var newest int64
	if err := db.QueryRow(`SELECT last_event FROM merchants WHERE id = $1`, merchantID).Scan(&newest); err != nil || newest != last {
		t.Errorf("merchant %d: followed %d events, the newest is %d, %v", merchantID, last, newest, err)
	}
	var differing int
	for number, state := range states {
		var stored order.State
		err := db.QueryRow(`SELECT state FROM orders WHERE merchant_id = $1 AND legacy_id = $2`, merchantID, number).Scan(&stored)
		if err != nil || stored != state {
			differing++
		}
	}
	if differing > 0 {
		t.Errorf("merchant %d: %d orders are in another state than their events say", merchantID, differing)
	}
}

// followOn reads what has come since an event and returns how many that are.
func followOn(db *sql.DB, merchantID, last int64, states map[int64]order.State) (int64, error) {
	rows, err := db.Query(`SELECT seq, legacy_id, from_state, to_state FROM events
		WHERE merchant_id = $1 AND seq > $2 ORDER BY seq`, merchantID, last)
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }()
	seen := int64(0)
	for rows.Next() {
		var seq, number int64
		var from, to order.State
		if err := rows.Scan(&seq, &number, &from, &to); err != nil {
			return 0, err
		}
		if seen++; seq != last+seen {
			return 0, fmt.Errorf("after %d comes %d", last+seen-1, seq)
		}
		if from != states[number] {
			return 0, fmt.Errorf("event %d takes order %d from %s, which is %s", seq, number, from, states[number])
		}
		states[number] = to
	}
	return seen, rows.Err()
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
