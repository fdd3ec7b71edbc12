package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// measureAccepts measures the rate of accepts in alternation with the rate of
// bare updates by one connection. Each of both is durable before its client
// sends the next one.
func (i *installation) measureAccepts(ctx context.Context) error {
	const name = "Accepts, relative to bare updates"
	if !i.wants(name) {
		return nil
	}
	return i.withServer(ctx, func(server *process) error {
		bare, err := i.openBareTable(ctx)
		if err != nil {
			return err
		}
		var acceptRates, updateRates []float64
		for round := 0; round < i.rounds && err == nil; round++ {
			var rate float64
			if rate, err = bare.updateRate(ctx, i.accepts); err != nil {
				break
			}
			updateRates = append(updateRates, rate)
			rate, err = i.acceptRate(server, round*i.accepts)
			acceptRates = append(acceptRates, rate)
		}
		if err := errors.Join(err, bare.close()); err != nil {
			return err
		}
		accepts, updates := median(acceptRates), median(updateRates)
		i.add(name, ratio(accepts/updates), i.target(atLeast(1.2), ""),
			fmt.Sprintf("%s accepts/s with %d clients, %s bare updates/s", thousands(accepts), i.clients, thousands(updates)))
		return nil
	})
}

// acceptRate accepts orders of merchant D, from its order first on, and returns
// the accepts a second.
func (i *installation) acceptRate(server *process, first int) (float64, error) {
	start := time.Now()
	var accepted atomic.Int64
	err := concurrently(server.baseURL, i.tokens[i.d], i.clients, i.accepts, func(c *connection, n int) error {
		ok, err := c.accept(i.d.reference(first + n))
		if ok {
			accepted.Add(1)
		}
		return err
	})
	return perSecond(int(accepted.Load()), time.Since(start)), err
}
