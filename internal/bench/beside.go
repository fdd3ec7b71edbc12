package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// changer accepts orders of merchant B while somebody reads.
type changer struct {
	orders []string
	next   atomic.Int64 // the first that nobody has tried to accept
	did    atomic.Int64 // orders accepted
}

// steady is how many orders change in a second while the readings run again.
const steady = 200

// measureBeside repeats the main readings while orders of the same merchant
// change, by turns with readings that nothing disturbs.
func (i *installation) measureBeside(ctx context.Context, server *process) error {
	c, err := dial(server.base, i.tokens[i.b])
	if err != nil {
		return err
	}
	defer c.close()
	// More than can be accepted in that time.
	all, err := c.registered(i.Rounds * int(i.Slice/time.Second) * 20_000)
	if err != nil {
		return err
	}
	changes := &changer{orders: all}
	for _, r := range readings {
		what := r.what + fmt.Sprintf(", beside %d accepts a second", steady)
		if !r.beside || !i.wants(what) {
			continue
		}
		if err := i.measureDisturbed(ctx, server, r, changes, disturbed{what, steady, .7}); err != nil {
			return err
		}
	}
	for _, r := range readings {
		what := r.what + ", beside all accepts that go"
		if !r.beside || !r.any || !i.wants(what) {
			continue
		}
		if err := i.measureDisturbed(ctx, server, r, changes, disturbed{what, 0, .5}); err != nil {
			return err
		}
	}
	return nil
}

// disturbed says how a reading is disturbed.
type disturbed struct {
	what  string
	rate  int     // accepts a second; 0: as many as go
	asked float64 // of the rate that it has undisturbed
}

func (i *installation) measureDisturbed(ctx context.Context, server *process, r reading, changes *changer, d disturbed) error {
	l, _, _, err := i.prepare(server, r)
	if err != nil {
		return fmt.Errorf("%s: %w", d.what, err)
	}
	var alone, beside paces
	var accepted []float64
	for round := range i.Rounds {
		p, err := i.wrk(ctx, server.base, i.tokens[i.b], l, 2*round)
		if err != nil {
			return fmt.Errorf("%s: %w", d.what, err)
		}
		alone = append(alone, p)
		stop := changes.start(server.base, i.tokens[i.b], d.rate, i.Clients)
		p, err = i.wrk(ctx, server.base, i.tokens[i.b], l, 2*round+1)
		rate, changeErr := stop()
		if err := errors.Join(err, changeErr); err != nil {
			return fmt.Errorf("%s: %w", d.what, err)
		}
		beside, accepted = append(beside, p), append(accepted, rate)
	}
	quiet, busy := alone.median(), beside.median()
	i.add(d.what, ratio(busy.rate/quiet.rate), atLeast(d.asked),
		fmt.Sprintf("%s; alone %s/s; %s accepts/s", busy, thousands(quiet.rate), thousands(median(accepted))))
	return nil
}

// start accepts orders, so many a second or, if rate is 0, as many as go with
// so many clients. What it returns ends that and tells how many a second it
// were; when there are no more orders it is fewer.
func (c *changer) start(base, token string, rate, clients int) (stop func() (float64, error)) {
	ready := make(chan time.Time)
	close(ready)
	var turns <-chan time.Time = ready // as many as are asked for
	end := func() {}
	if rate > 0 {
		ticker := time.NewTicker(time.Second / time.Duration(rate))
		turns, end = ticker.C, ticker.Stop
	}
	done := make(chan struct{})
	failed := make([]error, clients)
	before, began := c.did.Load(), time.Now()
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() {
			connection, err := dial(base, token)
			if err != nil {
				failed[n] = err
				return
			}
			defer connection.close()
			failed[n] = c.accept(connection, turns, done)
		})
	}
	return func() (float64, error) {
		close(done)
		all.Wait()
		end()
		return perSecond(int(c.did.Load()-before), time.Since(began)), errors.Join(failed...)
	}
}

// accept accepts an order at each turn that it gets, until done.
func (c *changer) accept(connection *connection, turns <-chan time.Time, done <-chan struct{}) error {
	for {
		select {
		case <-done:
			return nil
		case <-turns:
		}
		n := int(c.next.Add(1)) - 1
		if n >= len(c.orders) {
			return nil
		}
		accepted, err := connection.accept(c.orders[n])
		if err != nil {
			return err
		}
		if accepted {
			c.did.Add(1)
		}
	}
}
