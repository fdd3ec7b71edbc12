package copier

import (
	"context"
	"maps"
	"slices"

	"merchantorders/internal/store"
)

// copyMerchant brings one merchant up to date. The first time all its orders are
// gone through, a few at a time, each lot as of its own moment. event is the
// newest event before that began, so that whatever changed meanwhile is told of by
// those after it.
func (c *copier) copyMerchant(ctx context.Context, id, event int64) error {
	before, again := c.settled[id]
	if again {
		event = before.event
	} else if err := c.goThrough(ctx, id, event); err != nil {
		return err
	}
	return c.settle(ctx, id, event)
}

// goThrough compares all orders and events of a merchant, and copies what
// differs.
func (c *copier) goThrough(ctx context.Context, id, event int64) error {
	var merchant []store.Part
	err := c.from.DB.Snapshot(ctx, func(s *store.Snapshot) error {
		var err error
		merchant, err = s.Merchant(ctx, id)
		return err
	})
	if err != nil {
		return err
	}
	// The row comes first: it tells a run that begins anew whose copy this is.
	if err := c.to.DB.PutMerchant(ctx, merchant[len(merchant)-1]); err != nil {
		return err
	}
	for after, more := int64(0), true; more; {
		var orders store.CopiedOrders
		err := c.from.DB.Snapshot(ctx, func(s *store.Snapshot) error {
			var err error
			orders, err = s.Orders(ctx, id, after)
			return err
		})
		if err != nil {
			return err
		}
		if err := c.putOrders(ctx, orders); err != nil {
			return err
		}
		after, more = orders.Last, orders.More
		c.orders += int64(orders.Len())
		if c.options.Progress != nil {
			c.options.Progress(CopyOrders, min(c.orders, c.total), c.total)
		}
	}
	return c.from.DB.Snapshot(ctx, func(s *store.Snapshot) error { return c.putEvents(ctx, s, id, 0, event) })
}

// putOrders copies orders, their files first: an entry without its file is never
// to be seen, in the target either.
func (c *copier) putOrders(ctx context.Context, orders store.CopiedOrders) error {
	if err := c.bringAll(ctx, orders.KeptFiles()); err != nil {
		return err
	}
	return c.put(ctx, orders.Parts...)
}

// putEvents copies the events after one, up to a last one.
func (c *copier) putEvents(ctx context.Context, s *store.Snapshot, id, after, last int64) error {
	for after < last {
		upTo := min(last, after+store.MostEvents)
		events, err := s.Events(ctx, id, after, upTo)
		if err != nil {
			return err
		}
		if err := c.put(ctx, events); err != nil {
			return err
		}
		after = upTo
	}
	return nil
}

// putAnswers copies the keys of requests with their answers, so that a request
// may be repeated to the copy. The earlier ones come first: a key that was taken
// anew has gone from its old place before it is written in its new one.
func (c *copier) putAnswers(ctx context.Context, s *store.Snapshot, id int64) error {
	for after, more := int64(0), true; more; {
		answers, err := s.Answers(ctx, id, after)
		if err != nil {
			return err
		}
		if err := c.put(ctx, answers.Part); err != nil {
			return err
		}
		after, more = answers.Last, answers.More
	}
	return nil
}

// settle makes the target equal to one moment of the source, in all that the
// merchant has: what the events after one tell of, what happens to invoices
// without an event (a place reserved or taken back, a file purged), the answers
// that are kept, and the counts. Everything else is known to be equal.
func (c *copier) settle(ctx context.Context, id, since int64) error {
	var now settlement
	err := c.from.DB.Snapshot(ctx, func(s *store.Snapshot) error {
		var err error
		if now.event, err = s.LastEvent(ctx, id); err != nil {
			return err
		}
		if err := c.putTouched(ctx, s, id, since); err != nil {
			return err
		}
		if err := c.putEvents(ctx, s, id, since, now.event); err != nil {
			return err
		}
		if err := c.putAnswers(ctx, s, id); err != nil {
			return err
		}
		merchant, err := s.Merchant(ctx, id)
		if err != nil {
			return err
		}
		if err := c.put(ctx, merchant...); err != nil {
			return err
		}
		now.source, err = s.Counts(ctx, id)
		return err
	})
	if err != nil {
		return err
	}
	err = c.to.DB.Snapshot(ctx, func(s *store.Snapshot) error {
		now.target, err = s.Counts(ctx, id)
		return err
	})
	c.settled[id] = now
	return err
}

// putTouched copies the orders that events after one tell of, and those whose
// invoices differ.
func (c *copier) putTouched(ctx context.Context, s *store.Snapshot, id, since int64) error {
	touched := make(map[int64]bool)
	numbers, err := s.TouchedOrders(ctx, id, since)
	if err != nil {
		return err
	}
	for after, more := int64(0), true; more; {
		invoices, err := s.Invoices(ctx, id, after)
		if err != nil {
			return err
		}
		differing, err := c.to.DB.DifferingOrders(ctx, invoices.Part)
		if err != nil {
			return err
		}
		numbers = append(numbers, differing...)
		after, more = invoices.Last, invoices.More
	}
	for _, number := range numbers {
		touched[number] = true
	}
	for lot := range slices.Chunk(slices.Sorted(maps.Keys(touched)), store.MostOrdersNamed) {
		orders, err := s.OrdersNamed(ctx, id, lot)
		if err != nil {
			return err
		}
		if err := c.putOrders(ctx, orders); err != nil {
			return err
		}
	}
	return nil
}
