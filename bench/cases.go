package main

import (
	"strconv"
	"strings"
)

// readCase is a kind of request of merchant B, sent as fast as possible.
type readCase struct {
	name         string
	orderPath    string  // up to the order's id; empty: a list
	listPath     string  // with the query, without the page
	random       bool    // another order or page each time
	conditional  bool    // with the entity tag of the first response
	duringWrites bool    // measured again while orders change
	target       float64 // share of the bare handler's rate, on SQLite
}

// Parts of the queries of lists.
const (
	byDates = "dateFrom=2025-03-01&dateTo=2026-02-28"
	byState = "state=completed"
)

var readCases = []readCase{
	{name: "v2 order, same", orderPath: "/v2/orders/", duringWrites: true, target: .55},
	{name: "v2 order, random", orderPath: "/v2/orders/", random: true, duringWrites: true, target: .35},
	{name: "v1 order, same", orderPath: "/api/orders/", target: .55},
	{name: "v1 order, random", orderPath: "/api/orders/", random: true, target: .35},
	{name: "v2 list of 10", listPath: "/v2/orders?", duringWrites: true, target: .50},
	{name: "v2 list of 10, random page", listPath: "/v2/orders?", random: true, duringWrites: true, target: .05},
	{name: "v2 list of 100", listPath: "/v2/orders?itemsPerPage=100&", duringWrites: true, target: .50},
	{name: "v1 list of 100", listPath: "/api/orders?items_per_page=100&", duringWrites: true, target: .50},
	{name: "v2 list by state", listPath: "/v2/orders?" + byState + "&", duringWrites: true, target: .40},
	{name: "v2 list by dates", listPath: "/v2/orders?" + byDates + "&", target: .40},
	{name: "v2 list by state and dates", listPath: "/v2/orders?" + byState + "&" + byDates + "&", target: .40},
	{name: "v2 order, 304", orderPath: "/v2/orders/", conditional: true, target: .60},
	{name: "v2 list of 10, 304", listPath: "/v2/orders?", conditional: true, target: .60},
}

// load returns the request for wrk. total is the number of orders of the list.
func (r readCase) load(m *merchant, total int) load {
	middle := m.count / 2
	v1 := strings.HasPrefix(r.orderPath, "/api")
	switch {
	case r.orderPath == "" && r.random:
		return load{path: r.listPath + "page=" + numberPlaceholder, numberFormat: "%d", low: 1, high: pageCount(total, 10)}
	case r.orderPath == "":
		return load{path: strings.TrimRight(r.listPath, "?&")}
	case v1 && r.random:
		return load{path: r.orderPath + numberPlaceholder, numberFormat: "%d", low: m.legacyID(0), high: m.legacyID(m.count - 1)}
	case v1:
		return load{path: r.orderPath + strconv.Itoa(m.legacyID(middle))}
	case r.random:
		return load{
			path: r.orderPath + referencePrefix + numberPlaceholder, numberFormat: referenceNumberFormat,
			low: m.first, high: m.first + m.count - 1,
		}
	}
	return load{path: r.orderPath + m.reference(middle)}
}
