package bench

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// measureAccepts measures the rate of accepts by turns with that of bare
// updates by one writer: each is durable before the next one of its client.
func (i *installation) measureAccepts(ctx context.Context) error {
	const what = "Accepts, of the rate of bare updates"
	if !i.wants(what) {
		return nil
	}
	return i.with(ctx, func(server *process) error {
		bare, err := i.openBare(ctx)
		if err != nil {
			return err
		}
		var accepts, updates []float64
		for round := 0; round < i.Rounds && err == nil; round++ {
			var rate float64
			if rate, err = bare.updates(ctx, i.Changes); err != nil {
				break
			}
			updates = append(updates, rate)
			began := time.Now()
			var did atomic.Int64
			err = atOnce(server.base, i.tokens[i.d], i.Clients, i.Changes, func(c *connection, n int) error {
				accepted, err := c.accept(i.d.reference(round*i.Changes + n))
				if accepted {
					did.Add(1)
				}
				return err
			})
			accepts = append(accepts, perSecond(int(did.Load()), time.Since(began)))
		}
		if err := errors.Join(err, bare.close()); err != nil {
			return err
		}
		i.add(what, ratio(median(accepts)/median(updates)), i.asked(atLeast(1.2), ""),
			fmt.Sprintf("%s accepts/s with %d clients, %s bare updates/s", thousands(median(accepts)), i.Clients, thousands(median(updates))))
		return nil
	})
}
