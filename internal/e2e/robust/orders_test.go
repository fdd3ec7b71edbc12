package robust

import (
	"fmt"
	"net/http"
	"testing"

	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/order"
)

// sample is an order made of the nth document of ingesttest.
type sample int

func (n sample) number() int64     { return int64(ingesttest.FirstOrderID + int(n)) }
func (n sample) reference() string { return ingesttest.Reference(int(n)) }
func (n sample) v1() string        { return fmt.Sprintf("/api/orders/%d", n.number()) }
func (n sample) v2() string        { return "/v2/orders/" + n.reference() }

// path is the order's path in one version or the other, by turns.
func (n sample) path(round int) string {
	if round%2 == 0 {
		return n.v1()
	}
	return n.v2()
}

// attempt is one way to accept or reject an order.
type attempt struct {
	method, body string
	path         func(sample) string
	makes        string // the state after success
}

var (
	accepted, rejected = order.InProcessing.String(), order.RejectedByMerchant.String()

	attempts = []attempt{
		{http.MethodPut, `{"status":"G"}`, sample.v1, accepted},
		{http.MethodPut, `{"status":"D","reason":"damaged"}`, sample.v1, rejected},
		{http.MethodPatch, "", func(n sample) string { return n.v2() + "/accept" }, accepted},
		{http.MethodPatch, `{"status":"D"}`, func(n sample) string { return n.v2() + "/reject" }, rejected},
	}
)

const tooManyFiles = "You cannot upload more than 3 files."

// registered returns the documents of samples, each in the state in which an
// order can be accepted or rejected.
func registered(first sample, count int) [][]byte {
	documents := make([][]byte, count)
	for i := range documents {
		documents[i] = ingesttest.Document(int(first)+i, func(document map[string]any) {
			document["state"] = order.Registered.String()
		})
	}
	return documents
}

// state returns the state of an order, which both versions must agree on.
func (c client) state(t testing.TB, n sample) string {
	t.Helper()
	var v1 struct{ Status string }
	var v2 struct{ Order struct{ State string } }
	c.read(t, n.v1(), &v1)
	c.read(t, n.v2(), &v2)
	state, ok := order.ParseState(v2.Order.State)
	if !ok || state.Code() != v1.Status {
		t.Errorf("order %s is %s in version 1 and %s in version 2", n.reference(), v1.Status, v2.Order.State)
	}
	return v2.Order.State
}

// invoices returns the files of an order, which both versions must agree on.
func (c client) invoices(t testing.TB, n sample) []entry {
	t.Helper()
	var v1 struct{ Invoices []entry }
	var v2 struct{ Order struct{ Invoices []entry } }
	c.read(t, n.v1(), &v1)
	c.read(t, n.v2(), &v2)
	if fmt.Sprint(v1.Invoices) != fmt.Sprint(v2.Order.Invoices) {
		t.Errorf("order %s has files %v in version 1 and %v in version 2", n.reference(), v1.Invoices, v2.Order.Invoices)
	}
	return v2.Order.Invoices
}

// list is one page of orders.
type list struct {
	Params struct{ TotalItems int }
	Orders []struct{ ID, State string }
}

// total returns how many orders a list with a query has.
func (c client) total(t testing.TB, query string) int {
	t.Helper()
	var page list
	c.read(t, "/v2/orders?itemsPerPage=1&"+query, &page)
	return page.Params.TotalItems
}

// totals returns how many orders there are in each state, by what the lists
// say. Their sum must be the total of all. query, where not empty, narrows all
// of these lists.
func (c client) totals(t testing.TB, query string) map[string]int {
	t.Helper()
	totals, sum := make(map[string]int), 0
	for _, state := range order.States() {
		if n := c.total(t, "state="+state.String()+"&"+query); n > 0 {
			totals[state.String()] = n
			sum += n
		}
	}
	if all := c.total(t, query); all != sum {
		t.Errorf("the lists of the states have %d orders together, the list of all has %d (%s)", sum, all, query)
	}
	return totals
}

// walk goes through all pages and returns the state of every order. None may
// come twice, and the total must be true on every page.
func (c client) walk(t testing.TB) map[string]string {
	t.Helper()
	states, pages, total := make(map[string]string), 0, 0
	for {
		pages++
		var page list
		c.read(t, fmt.Sprintf("/v2/orders?itemsPerPage=100&page=%d", pages), &page)
		for _, o := range page.Orders {
			if _, twice := states[o.ID]; twice {
				t.Errorf("order %s is on two pages", o.ID)
			}
			states[o.ID] = o.State
		}
		if total = page.Params.TotalItems; len(page.Orders) == 0 {
			break
		}
	}
	if total != len(states) {
		t.Errorf("the lists say %d orders and show %d", total, len(states))
	}
	return states
}

// counted counts orders by state.
func counted(states map[string]string) map[string]int {
	totals := make(map[string]int)
	for _, state := range states {
		totals[state]++
	}
	return totals
}
