package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
		var accepts wrkResults
		var updateRates []float64
		for round := 0; round < i.rounds && err == nil; round++ {
			var rate float64
			if rate, err = bare.updateRate(ctx, i.accepts); err != nil {
				break
			}
			updateRates = append(updateRates, rate)
			var accepted wrkResult
			accepted, err = timed(server.baseURL, i.tokens[i.d], i.clients, i.accepts, func(c *connection, n int) error {
				return c.mustAccept(i.d.reference(round*i.accepts + n))
			})
			accepts = append(accepts, accepted)
		}
		if err := errors.Join(err, bare.close()); err != nil {
			return err
		}
		accepted, updates := accepts.median(), median(updateRates)
		i.add(name, ratio(accepted.rate/updates), i.target(atLeast(1.2), ""),
			fmt.Sprintf("%s with %d clients; %s bare updates/s", accepted, i.clients, thousands(updates)))
		return nil
	})
}

// measureReturn measures how long after a crash an order can be accepted: of the service,
// or from when the server of its database accepts connections again.
func (i *installation) measureReturn(ctx context.Context) error {
	const name = "Return after a crash"
	if !i.wants(name) {
		return nil
	}
	server, err := i.start(ctx)
	var times []time.Duration
	for round := 0; round < i.rounds && err == nil; round++ {
		var elapsed time.Duration
		if server, elapsed, err = i.crash(ctx, server, i.d.reference(i.rounds*i.accepts+round)); err != nil {
			break
		}
		times = append(times, elapsed)
	}
	if err == nil {
		err = server.stop()
	}
	if err == nil {
		slowest := slices.Max(times)
		i.add(name, milliseconds(median(times)), "< 1000 ms", fmt.Sprintf("until an accept succeeds, at most %s in %d crashes", milliseconds(slowest), len(times)))
	}
	return err
}

// crash ends the database or the service as a crash does, starts it again, and accepts an
// order. It returns the server that runs then.
func (i *installation) crash(ctx context.Context, server *process, reference string) (_ *process, elapsed time.Duration, err error) {
	if i.postgres != nil {
		i.postgres.Stop()
		err = i.postgres.Run()
	} else {
		_ = server.command.Process.Kill()
		_ = server.command.Wait()
	}
	begun := time.Now()
	if err == nil && i.postgres == nil {
		server, err = i.start(ctx)
	}
	if err != nil {
		return server, 0, err
	}
	c, err := dial(server.baseURL, i.tokens[i.d])
	if err == nil {
		defer c.close()
		err = c.mustAccept(reference)
	}
	return server, time.Since(begun), err
}
