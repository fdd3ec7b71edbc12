package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"merchantorders/internal/store/pgtest"
)

// farDelays are how long a round trip to the database takes.
var farDelays = []time.Duration{time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond}

// farCase is a kind of request while the database is far away.
type farCase struct {
	name    string
	clients int
	most    float64 // round trips from one response to the next
	send    func(c *connection, n int) error
}

// farRequests is how many requests of a kind are sent.
func (o options) farRequests() int { return min(o.requests, o.accepts) }

// farOrders is how many orders of merchant D measureFar accepts, its last ones.
func (o options) farOrders() int { return 2 * len(farDelays) * o.farRequests() }

// measureFar sends requests while the database is some milliseconds away. A result is the
// time from one response to the next in round trips, which hardly depends on the machine.
func (i *installation) measureFar(ctx context.Context) error {
	if i.postgres == nil || !i.wants("Far database") {
		return nil
	}
	var accepted atomic.Int64
	accepted.Store(int64(i.d.count - i.farOrders()))
	accept := func(c *connection, _ int) error {
		return c.mustAccept(i.d.reference(int(accepted.Add(1)) - 1))
	}
	list := func(c *connection, n int) error {
		_, _, err := c.get(fmt.Sprintf("/v2/orders?request=%d", n)) // no response is cached
		return err
	}
	for _, delay := range farDelays {
		proxy, err := pgtest.StartProxy(i.postgresURL, delay)
		if err != nil {
			return err
		}
		far := *i
		far.flags = slices.Clone(i.flags)
		far.flags[slices.Index(far.flags, i.postgresURL)] = proxy.URL
		err = far.withServer(ctx, func(server *process) error {
			for _, c := range []farCase{
				{"accepts by 16 clients", 16, 4, accept}, {"accepts by 1 client", 1, 6, accept},
				{"list of 10", 1, 3, list}, {"list of 10, 304", 1, 2, notModified("/v2/orders")},
			} {
				if err := far.measureFarCase(server, delay, c); err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
			}
			return nil
		})
		proxy.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// notModified returns a function that asks for a response that it has had already.
func notModified(path string) func(*connection, int) error {
	etag := ""
	return func(c *connection, _ int) error {
		response, body, err := c.send(http.MethodGet, path, "If-None-Match: "+etag+"\r\n", nil)
		if err == nil && etag == "" {
			etag = response.Header.Get("ETag")
			return nil
		}
		if err == nil && response.StatusCode != http.StatusNotModified {
			err = fmt.Errorf("status %d: %s", response.StatusCode, body)
		}
		return err
	}
}

func (i *installation) measureFarCase(server *process, delay time.Duration, c farCase) error {
	found, err := timed(server.baseURL, i.tokens[i.d], c.clients, i.farRequests(), c.send)
	if err == nil {
		trips := 1 / (found.rate * delay.Seconds())
		i.add(fmt.Sprintf("Far database, %s, %s", c.name, delay), ratio(trips), atMost(c.most), found.String())
	}
	return err
}
