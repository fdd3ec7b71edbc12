package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// reading is one kind of request, asked for both merchants.
type reading struct {
	what  string
	list  string  // path and query of a list, without page and size; empty: single orders
	size  int     // of a page; 0: the default of 10
	place float64 // where the page lies, from 0 the first to 1 the last; negative: anywhere
	order func(m *merchant, n int) string
}

const (
	year  = "dateFrom=2025-03-01&dateTo=2026-02-28"
	state = "state=completed"
)

// readings are the kinds of requests that are measured.
var readings = []reading{
	{what: "first page", list: "/v2/orders?"},
	{what: "middle page", list: "/v2/orders?", place: 0.5},
	{what: "last page", list: "/v2/orders?", place: 1},
	{what: "any page", list: "/v2/orders?", place: -1},
	{what: "first page of 100", list: "/v2/orders?", size: 100},
	{what: "middle page of 100", list: "/v2/orders?", size: 100, place: 0.5},
	{what: "by state", list: "/v2/orders?" + state},
	{what: "by state, middle page", list: "/v2/orders?" + state, place: 0.5},
	{what: "by state, any page", list: "/v2/orders?" + state, place: -1},
	{what: "a year", list: "/v2/orders?" + year},
	{what: "a year, middle page", list: "/v2/orders?" + year, place: 0.5},
	{what: "by state, a year", list: "/v2/orders?" + state + "&" + year},
	{what: "by state, a year, any page", list: "/v2/orders?" + state + "&" + year, place: -1},
	{what: "v1, first page", list: "/api/orders?"},
	{what: "v1, code C", list: "/api/orders?status=C"},
	{what: "v1, code C, any page", list: "/api/orders?status=C", place: -1},
	{what: "v1, code C, page of 100", list: "/api/orders?status=C", size: 100},
	{what: "one order", order: func(m *merchant, n int) string { return "/v2/orders/" + m.reference(n) }},
	{what: "one order, v1", order: func(m *merchant, n int) string { return fmt.Sprintf("/api/orders/%d", m.number(n)) }},
}

// path returns what to ask for. total is how many orders the list has.
func (r reading) path(m *merchant, total int, dice *rand.Rand) string {
	if r.order != nil {
		return r.order(m, dice.IntN(m.count))
	}
	size := cmp.Or(r.size, 10)
	pages := (total + size - 1) / size
	page := 1 + int(r.place*float64(pages-1))
	if r.place < 0 {
		page = 1 + dice.IntN(pages)
	}
	// v1 reads this name too.
	return fmt.Sprintf("%s&page=%d&itemsPerPage=%d", r.list, page, size)
}

// measureReads starts a server on all orders and reads them.
func (b *bench) measureReads(ctx context.Context) error {
	s, err := b.start(ctx)
	if err != nil {
		return err
	}
	return errors.Join(b.measureIdle(ctx, s), b.measureLists(ctx, s), s.stop())
}

// measureIdle measures a server that was just started and has been asked once.
func (b *bench) measureIdle(ctx context.Context, s *server) error {
	c := s.client(b.b, 1)
	defer c.close()
	if _, _, err := c.do(ctx, http.MethodGet, "/readyz", nil); err != nil {
		return err
	}
	held, err := s.memory("VmRSS")
	if err != nil {
		return err
	}
	b.figures.add("Start", milliseconds(s.took), "", fmt.Sprintf("until the port is open, with %s orders", thousands(float64(b.Small+b.Large))))
	b.figures.add("Memory, idle", fmt.Sprintf("%.0f MB", held), "< 40 MB", "VmRSS, right after the start")
	return nil
}

// measureLists measures every kind of request.
func (b *bench) measureLists(ctx context.Context, s *server) error {
	dice := rand.New(rand.NewPCG(1, 2))
	clients := map[*merchant]*client{b.a: s.client(b.a, 1), b.b: s.client(b.b, 1)}
	for _, c := range clients {
		defer c.close()
	}
	for _, r := range readings {
		times, err := b.measureReading(ctx, r, clients, dice)
		if err != nil {
			return err
		}
		small, large := median(times[b.a]), median(times[b.b])
		b.figures.add("Read, "+r.what+": B/A", fmt.Sprintf("%.2f", float64(large)/float64(small)), "≤ 1.5",
			fmt.Sprintf("A %s, B %s", milliseconds(small), milliseconds(large)))
	}
	held, err := s.memory("VmRSS")
	if err != nil {
		return err
	}
	b.figures.add("Memory, after the reads", fmt.Sprintf("%.0f MB", held), "", "VmRSS")
	return nil
}

// measureReading asks by turns for the one merchant and the other, so that
// whatever else goes on meets both.
func (b *bench) measureReading(ctx context.Context, r reading, clients map[*merchant]*client, dice *rand.Rand) (map[*merchant][]time.Duration, error) {
	totals := make(map[*merchant]int)
	for m, c := range clients {
		if r.order != nil {
			break
		}
		var err error
		if totals[m], err = c.total(ctx, r.list); err != nil {
			return nil, err
		}
	}
	times := make(map[*merchant][]time.Duration)
	for range b.Requests {
		for _, m := range []*merchant{b.a, b.b} {
			_, took, err := clients[m].do(ctx, http.MethodGet, r.path(m, totals[m], dice), nil)
			if err != nil {
				return nil, err
			}
			times[m] = append(times[m], took)
		}
	}
	return times, nil
}

// total returns how many orders a list has, whichever version it is of.
func (c *client) total(ctx context.Context, list string) (int, error) {
	text, _, err := c.do(ctx, http.MethodGet, list, nil)
	if err != nil {
		return 0, err
	}
	var page struct {
		Params struct {
			V1 int `json:"total_items"`
			V2 int `json:"totalItems"`
		}
	}
	if err := json.Unmarshal(text, &page); err != nil {
		return 0, err
	}
	total := page.Params.V1 + page.Params.V2
	if total == 0 {
		return 0, fmt.Errorf("the list %s is empty", list)
	}
	return total, nil
}
