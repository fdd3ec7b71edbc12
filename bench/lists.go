package main

import (
	"context"
	"fmt"
	"time"
)

// listCase is a list that is requested for merchants with few and with many
// orders.
type listCase struct {
	name     string
	listPath string
	depth    float64 // of the page: from 0, the first, to 1, the last
	pastEnd  bool    // a page after the last: the service computes the total only
	dates    bool    // the service adds up day counts
}

// most returns how many times as long a list of many orders may take as one of few. Pages
// far down and totals of dates read the counts of days, of which a year has 365 however many
// orders there are.
func (l listCase) most() float64 {
	if l.depth > 0 || l.dates {
		return 6
	}
	return 1.25
}

var listCases = []listCase{
	{name: "first page", listPath: "/v2/orders?"},
	{name: "middle page", listPath: "/v2/orders?", depth: .5},
	{name: "last page", listPath: "/v2/orders?", depth: 1},
	{name: "total", listPath: "/v2/orders?", pastEnd: true},
	{name: "by state", listPath: "/v2/orders?" + byState + "&"},
	{name: "by state, middle page", listPath: "/v2/orders?" + byState + "&", depth: .5},
	{name: "by state, last page", listPath: "/v2/orders?" + byState + "&", depth: 1},
	{name: "by state and dates", listPath: "/v2/orders?" + byState + "&dateFrom=2025-03-01&", dates: true},
	{name: "by state and dates, middle page", listPath: "/v2/orders?" + byState + "&dateFrom=2025-03-01&", depth: .5, dates: true},
	{name: "in a rare state", listPath: "/v2/orders?state=" + rareState + "&"},
	{name: "v1, code C", listPath: "/api/orders?status=C&"},
	{name: "v1, code C, middle page", listPath: "/api/orders?status=C&", depth: .5},
}

// measureLists requests the same lists of merchants with few and with many
// orders in alternation, one request after the other.
func (i *installation) measureLists(ctx context.Context) error {
	return i.withServer(ctx, func(server *process) error {
		for _, list := range listCases {
			name := "List, " + list.name
			if !i.wants(name) {
				continue
			}
			if err := i.measureList(ctx, server, name, list); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	})
}

func (i *installation) measureList(ctx context.Context, server *process, name string, list listCase) error {
	compared := []*merchant{i.a, i.b, i.c}
	connections, paths := make([]*connection, len(compared)), make([]string, len(compared))
	for n, m := range compared {
		c, err := dial(server.baseURL, i.tokens[m])
		if err != nil {
			return err
		}
		defer c.close()
		total, err := c.total(list.listPath)
		if err != nil {
			return err
		}
		connections[n], paths[n] = c, list.path(total)
	}
	times := make([][]time.Duration, len(compared))
	for request := range i.requests {
		if err := ctx.Err(); err != nil {
			return err
		}
		for n, c := range connections {
			// Each request has another address, so that the response cache has no
			// entry for it.
			_, elapsed, err := c.get(fmt.Sprintf("%s&request=%d", paths[n], request))
			if err != nil {
				return err
			}
			times[n] = append(times[n], elapsed)
		}
	}
	a, b, c := median(times[0]), median(times[1]), median(times[2])
	relativeToA := func(d time.Duration) string { return ratio(float64(d) / float64(a)) }
	i.add(name+": B/A", relativeToA(b), atMost(list.most()), fmt.Sprintf("A %s, B %s", milliseconds(a), milliseconds(b)))
	i.add(name+": C/A", relativeToA(c), atMost(list.most()), fmt.Sprintf("C %s, all on one day", milliseconds(c)))
	return nil
}

// path returns the path of the case's page of a list with total orders.
func (l listCase) path(total int) string {
	last := pageCount(total, 10)
	page := 1 + int(l.depth*float64(last-1))
	if l.pastEnd {
		page = last + 1
	}
	return fmt.Sprintf("%spage=%d", l.listPath, page)
}
