package bench

import (
	"strings"

	"merchantorders/internal/ingest/ingesttest"
)

// reading is one kind of request of merchant B's, asked as fast as it goes.
type reading struct {
	what   string
	order  string  // what comes before the order's name; empty: a list
	list   string  // path and query without page
	any    bool    // any order, or any page, another one each time
	tagged bool    // with the entity tag of the first answer, if there is one
	beside bool    // also while orders change
	asked  float64 // of the bare handler's rate, on SQLite
}

const (
	year  = "dateFrom=2025-03-01&dateTo=2026-02-28"
	state = "state=completed"
)

// readings are the kinds of requests whose rates are measured.
var readings = []reading{
	{what: "v2 order, one again and again", order: "/v2/orders/", beside: true, asked: .55},
	{what: "v2 order, any of all", order: "/v2/orders/", any: true, beside: true, asked: .35},
	{what: "v1 order, one again and again", order: "/api/orders/", asked: .55},
	{what: "v1 order, any of all", order: "/api/orders/", any: true, asked: .35},
	{what: "v2 list of 10", list: "/v2/orders?", beside: true, asked: .50},
	{what: "v2 list of 10, any page", list: "/v2/orders?", any: true, beside: true, asked: .30},
	{what: "v2 list of 100", list: "/v2/orders?itemsPerPage=100&", beside: true, asked: .50},
	{what: "v1 list of 100", list: "/api/orders?items_per_page=100&", beside: true, asked: .50},
	{what: "v2 list by state", list: "/v2/orders?" + state + "&", beside: true, asked: .40},
	{what: "v2 list by dates", list: "/v2/orders?" + year + "&", asked: .40},
	{what: "v2 list by state and dates", list: "/v2/orders?" + state + "&" + year + "&", asked: .40},
	{what: "v2 order, 304", order: "/v2/orders/", tagged: true, asked: .60},
	{what: "v2 list of 10, 304", list: "/v2/orders?", tagged: true, asked: .60},
}

// load returns what is to be asked for. total is how many orders the list has.
func (r reading) load(m *merchant, total int) load {
	middle := m.count / 2
	v1 := strings.HasPrefix(r.order, "/api")
	switch {
	case r.order == "" && r.any:
		return load{path: r.list + "page=" + anyNumber, form: "%d", low: 1, high: pages(total, 10)}
	case r.order == "":
		return load{path: strings.TrimRight(r.list, "?&")}
	case v1 && r.any:
		return load{path: r.order + anyNumber, form: "%d", low: m.number(0), high: m.number(m.count - 1)}
	case v1:
		return load{path: r.order + number(m.number(middle))}
	case r.any:
		return load{path: r.order + referencePrefix + anyNumber, form: referenceForm, low: m.first, high: m.first + m.count - 1}
	}
	return load{path: r.order + m.reference(middle)}
}

// referenceForm is the form of the number that ends a reference, and
// referencePrefix what is before it.
const referenceForm = "%07d"

var referencePrefix = strings.TrimSuffix(ingesttest.Reference(0), "0000000")
