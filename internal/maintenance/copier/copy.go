package copier

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/store"
)

// CopyOrders is a stage of maintenance.Options.Progress, beside those of package check.
const CopyOrders = "copying orders"

// mostRounds is how often what has changed meanwhile is copied too. A source that
// goes on changing is never quite caught up with.
const mostRounds = 5

// Copied is what a copy did, and what it has verified in the end.
type Copied struct {
	Rows  int64 // written or taken back; 0: all were there and equal
	Files int64 // copied; 0: all were there
	// Purged counts the files that the target had and the source had purged
	// since, and that are removed.
	Purged int64

	Merchants, Tokens, Keys int64
	Counts                  store.TableCounts // of all merchants
	Compared                int64             // files whose SHA-256 is right
	Faults                  int64             // what is not as in the source
	// Restless says that the source changed all the while.
	Restless bool
}

// Copy makes the target equal to the source: its rows as they are, its files byte
// for byte. A target without a database, or without files, leaves those
// where they are. It may be stopped at any time and run again: what is there and
// equal is kept.
//
// The source may be in use. Each merchant is copied as of one moment, and again
// when there are new events; what comes in after that takes another run. The
// target must not be in use, and must be empty or an earlier copy: otherwise the
// error is store.ErrForeign, or store.ErrCopying.
//
// Faults are told to options; they are no error.
func Copy(ctx context.Context, from, to maintenance.Installation, options maintenance.Options) (Copied, error) {
	c := &copier{from: from, to: to, options: options, settled: make(map[int64]settlement)}
	if to.DB != nil {
		if err := c.copyDatabase(ctx); err != nil {
			return c.result(), err
		}
	}
	if to.Files == nil {
		return c.result(), nil
	}
	err := c.verifyFiles(ctx)
	if err == nil {
		err = c.purgeFiles(ctx)
	}
	return c.result(), err
}

// copier is one copy under way.
type copier struct {
	from, to maintenance.Installation
	options  maintenance.Options
	settled  map[int64]settlement // by merchant
	done     Copied
	total    int64 // orders of the source, for progress
	orders   int64 // copied or found equal
	tokens   int64 // of the source, as last copied
	files    atomic.Int64
}

// settlement is how far a merchant is copied.
type settlement struct {
	event  int64             // the last one that is copied, with all that it tells of
	source store.TableCounts // at that moment
	target store.TableCounts
}

func (c *copier) result() Copied {
	done := c.done
	done.Files = c.files.Load()
	return done
}

func (c *copier) copyDatabase(ctx context.Context) error {
	release, err := c.exclude(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := c.to.DB.EarlierCopyOf(ctx, c.from.DB); err != nil {
		return err
	}
	c.done.Restless = true
	for range mostRounds {
		quiet, err := c.round(ctx)
		if err != nil {
			return err
		}
		if quiet {
			c.done.Restless = false
			break
		}
	}
	return c.verifyRows(ctx)
}

// exclude keeps other copies away: from the target all of them, from the source
// those that have it as their target.
func (c *copier) exclude(ctx context.Context) (func(), error) {
	target, err := c.to.DB.Exclude(ctx, false)
	if err != nil {
		return nil, err
	}
	source, err := c.from.DB.Exclude(ctx, true)
	if err != nil {
		return nil, errors.Join(err, target.Close())
	}
	return func() {
		_ = source.Close()
		_ = target.Close()
	}, nil
}

// round copies every merchant that has changed since the round before. It reports
// whether none has. Tokens come after the merchants, so that nobody can sign in
// to half of a first copy, and counters last: numbers only grow.
func (c *copier) round(ctx context.Context) (bool, error) {
	var tokens []store.Part
	var events map[int64]int64
	err := c.from.DB.Snapshot(ctx, func(s *store.Snapshot) error {
		var err error
		if tokens, err = s.Tokens(ctx); err != nil {
			return err
		}
		if events, err = s.LastEvents(ctx); err != nil || c.total > 0 {
			return err
		}
		orders, err := s.OrderCounts(ctx)
		for n := range maps.Values(orders) {
			c.total += n
		}
		return err
	})
	if err != nil {
		return false, err
	}
	quiet := true
	for _, id := range slices.Sorted(maps.Keys(events)) {
		if before, ok := c.settled[id]; ok && before.event == events[id] {
			continue
		}
		quiet = false
		if err := c.copyMerchant(ctx, id, events[id]); err != nil {
			return false, err
		}
	}
	if err := c.put(ctx, tokens...); err != nil {
		return false, err
	}
	c.tokens = 0
	for _, part := range tokens {
		c.tokens += int64(part.Len())
	}
	var counters store.CopiedCounters
	err = c.from.DB.Snapshot(ctx, func(s *store.Snapshot) error {
		var err error
		counters, err = s.Counters(ctx)
		return err
	})
	if err == nil {
		err = c.to.DB.PutCounters(ctx, counters)
	}
	return quiet, err
}

// put makes parts of the target equal.
func (c *copier) put(ctx context.Context, parts ...store.Part) error {
	n, err := c.to.DB.Put(ctx, parts...)
	c.done.Rows += int64(n)
	return err
}
