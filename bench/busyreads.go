package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// acceptor accepts orders of merchant B in the background.
type acceptor struct {
	references []string     // of registered orders
	next       atomic.Int64 // index of the next order to accept
	accepted   atomic.Int64
}

const (
	// steadyRate is the number of accepts a second during the first part.
	steadyRate = 200
	// maxAcceptRate is more accepts a second than the service reaches.
	maxAcceptRate = 20_000
)

// measureReadsDuringWrites repeats the main reads while orders of the same
// merchant are accepted, in alternation with reads without writes.
func (i *installation) measureReadsDuringWrites(ctx context.Context, server *process) error {
	c, err := dial(server.baseURL, i.tokens[i.b])
	if err != nil {
		return err
	}
	defer c.close()
	references, err := c.registered(i.rounds * int(i.slice/time.Second) * maxAcceptRate)
	if err != nil {
		return err
	}
	a := &acceptor{references: references}
	for _, r := range readCases {
		name := r.name + fmt.Sprintf(", during %d accepts/s", steadyRate)
		if !r.duringWrites || !i.wants(name) {
			continue
		}
		if err := i.measureReadDuringWrites(ctx, server, r, a, busyCase{name, steadyRate, .7}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	for _, r := range readCases {
		name := r.name + ", during as many accepts as possible"
		if !r.duringWrites || !r.random || r.listPath != "" || !i.wants(name) {
			continue
		}
		if err := i.measureReadDuringWrites(ctx, server, r, a, busyCase{name, 0, .5}); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// busyCase says how many writes run during a read case.
type busyCase struct {
	name   string
	rate   int     // accepts a second; 0: as many as possible
	target float64 // share of the rate without writes
}

func (i *installation) measureReadDuringWrites(ctx context.Context, server *process, r readCase, a *acceptor, busy busyCase) error {
	l, _, _, err := i.prepareRead(server, r)
	if err != nil {
		return err
	}
	var quietResults, busyResults wrkResults
	var acceptRates []float64
	for round := range i.rounds {
		result, err := i.wrk(ctx, server.baseURL, i.tokens[i.b], l, 2*round)
		if err != nil {
			return err
		}
		quietResults = append(quietResults, result)
		stop := a.start(server.baseURL, i.tokens[i.b], busy.rate, i.clients)
		result, err = i.wrk(ctx, server.baseURL, i.tokens[i.b], l, 2*round+1)
		rate, acceptErr := stop()
		if err := errors.Join(err, acceptErr); err != nil {
			return err
		}
		busyResults, acceptRates = append(busyResults, result), append(acceptRates, rate)
	}
	without, during := quietResults.median(), busyResults.median()
	i.add(busy.name, ratio(during.rate/without.rate), atLeast(busy.target),
		fmt.Sprintf("%s; without accepts %s/s; %s accepts/s", during, thousands(without.rate), thousands(median(acceptRates))))
	return nil
}

// start accepts orders in the background: rate orders a second or, if rate is
// 0, as many as the clients can. The function that it returns stops that and
// returns the number of accepts a second.
func (a *acceptor) start(baseURL, token string, rate, clients int) (stop func() (float64, error)) {
	always := make(chan time.Time)
	close(always)
	var ticks <-chan time.Time = always
	stopTicker := func() {}
	if rate > 0 {
		ticker := time.NewTicker(time.Second / time.Duration(rate))
		ticks, stopTicker = ticker.C, ticker.Stop
	}
	done := make(chan struct{})
	errs := make([]error, clients)
	before, start := a.accepted.Load(), time.Now()
	var wg sync.WaitGroup
	for n := range clients {
		wg.Go(func() {
			c, err := dial(baseURL, token)
			if err != nil {
				errs[n] = err
				return
			}
			defer c.close()
			errs[n] = a.acceptAtTicks(c, ticks, done)
		})
	}
	return func() (float64, error) {
		close(done)
		wg.Wait()
		stopTicker()
		return perSecond(int(a.accepted.Load()-before), time.Since(start)), errors.Join(errs...)
	}
}

// acceptAtTicks accepts an order at each tick until done is closed. It is an error if no
// orders are left: then the result is that of reads alone.
func (a *acceptor) acceptAtTicks(c *connection, ticks <-chan time.Time, done <-chan struct{}) error {
	for {
		select {
		case <-done:
			return nil
		case <-ticks:
		}
		n := int(a.next.Add(1)) - 1
		if n >= len(a.references) {
			return errors.New("no registered orders are left: ask for more orders or fewer rounds")
		}
		accepted, err := c.accept(a.references[n])
		if err != nil {
			return err
		}
		if accepted {
			a.accepted.Add(1)
		}
	}
}
