package bench

import (
	"context"
	"fmt"
	"time"
)

// growing is one kind of list, asked for merchants with few and with many
// orders.
type growing struct {
	what  string
	list  string
	place float64 // where the page lies, from 0 the first to 1 the last
	past  bool    // past the end: the total alone
}

var growings = []growing{
	{what: "first page", list: "/v2/orders?"},
	{what: "middle page", list: "/v2/orders?", place: .5},
	{what: "last page", list: "/v2/orders?", place: 1},
	{what: "total", list: "/v2/orders?", past: true},
	{what: "by state", list: "/v2/orders?" + state + "&"},
	{what: "by state, middle page", list: "/v2/orders?" + state + "&", place: .5},
	{what: "by state, last page", list: "/v2/orders?" + state + "&", place: 1},
	{what: "by state and dates", list: "/v2/orders?" + state + "&dateFrom=2025-03-01&"},
	{what: "by state and dates, middle page", list: "/v2/orders?" + state + "&dateFrom=2025-03-01&", place: .5},
	{what: "in a rare state", list: "/v2/orders?state=" + rareState + "&"},
	{what: "v1, code C", list: "/api/orders?status=C&"},
	{what: "v1, code C, middle page", list: "/api/orders?status=C&", place: .5},
}

// measureGrowth asks for the same lists of merchants with few and with many
// orders by turns, one request after the other.
func (i *installation) measureGrowth(ctx context.Context) error {
	return i.with(ctx, func(server *process) error {
		for _, g := range growings {
			what := "List, " + g.what
			if !i.wants(what) {
				continue
			}
			if err := i.measureGrowing(ctx, server, what, g); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
		}
		return nil
	})
}

func (i *installation) measureGrowing(ctx context.Context, server *process, what string, g growing) error {
	asked := []*merchant{i.a, i.b, i.c}
	connections, paths := make([]*connection, len(asked)), make([]string, len(asked))
	for n, m := range asked {
		c, err := dial(server.base, i.tokens[m])
		if err != nil {
			return err
		}
		defer c.close()
		total, err := c.total(g.list)
		if err != nil {
			return err
		}
		connections[n], paths[n] = c, g.path(total)
	}
	times := make([][]time.Duration, len(asked))
	for request := range i.Requests {
		if err := ctx.Err(); err != nil {
			return err
		}
		for n, c := range connections {
			// Each is another address, so that no answer is given again: it is the
			// database that must not care how many orders there are.
			_, took, err := c.get(fmt.Sprintf("%s&asked=%d", paths[n], request))
			if err != nil {
				return err
			}
			times[n] = append(times[n], took)
		}
	}
	small, large, day := median(times[0]), median(times[1]), median(times[2])
	against := func(d time.Duration) string { return ratio(float64(d) / float64(small)) }
	i.add(what+": B/A", against(large), atMost(1.25), fmt.Sprintf("A %s, B %s", milliseconds(small), milliseconds(large)))
	i.add(what+": C/A", against(day), atMost(1.25), fmt.Sprintf("C %s, all on one day", milliseconds(day)))
	return nil
}

// path returns what to ask for.
func (g growing) path(total int) string {
	last := pages(total, 10)
	page := 1 + int(g.place*float64(last-1))
	if g.past {
		page = last + 1
	}
	return fmt.Sprintf("%spage=%d", g.list, page)
}
