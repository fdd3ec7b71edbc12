package store

import (
	"context"
	"fmt"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// Fault is something in the database that does not fit together.
type Fault struct {
	MerchantID  int64 // 0: of no merchant
	OrderNumber int64 // 0: of no order
	InvoiceID   int64 // 0: of no invoice
	Problem     string
}

// String names whose fault it is, and what it is.
func (f Fault) String() string {
	var whose strings.Builder
	for _, part := range []struct {
		name string
		id   int64
	}{{"merchant", f.MerchantID}, {"order", f.OrderNumber}, {"invoice", f.InvoiceID}} {
		if part.id == 0 {
			continue
		}
		if whose.Len() > 0 {
			whose.WriteString(", ")
		}
		fmt.Fprintf(&whose, "%s %d", part.name, part.id)
	}
	if whose.Len() == 0 {
		return f.Problem
	}
	return whose.String() + ": " + f.Problem
}

// Checked is what was found of one merchant.
type Checked struct {
	Orders, Invoices, Events int64 // how many
	MissingKeys              int64 // keys that should be there
	LastOrder, LastInvoice   int64 // the highest number and id; a number that is counted on from
}

// merchantCheck looks through one merchant's rows at one moment.
type merchantCheck struct {
	*Snapshot
	merchantID int64
	found      func(Fault)
	seen       Checked
	days       map[dayState]int64
	missing    []orderKey
}

type dayState struct {
	day   order.Day
	state order.State
}

// CheckMerchant looks whether a merchant's rows fit together, all at one moment:
// day counts and orders, events and their number, orders and the places for
// files that their invoices take, orders and their keys. found gets every fault.
func (db *DB) CheckMerchant(ctx context.Context, merchantID int64, found func(Fault)) (Checked, error) {
	c := &merchantCheck{merchantID: merchantID, found: found, days: make(map[dayState]int64)}
	err := db.Snapshot(ctx, func(s *Snapshot) error {
		c.Snapshot = s
		if err := c.checkEvents(ctx); err != nil {
			return err
		}
		for after, more := int64(0), true; more; {
			var err error
			if after, more, err = c.checkOrders(ctx, after); err != nil {
				return err
			}
		}
		return c.checkDays(ctx)
	})
	if err == nil {
		err = c.confirmMissing(ctx, db)
	}
	if err != nil {
		return Checked{}, fmt.Errorf("check merchant %d: %w", merchantID, db.wrap(err))
	}
	return c.seen, nil
}

// report reports a fault of the merchant.
func (c *merchantCheck) report(number, invoiceID int64, format string, args ...any) {
	c.found(Fault{MerchantID: c.merchantID, OrderNumber: number, InvoiceID: invoiceID, Problem: fmt.Sprintf(format, args...)})
}

// checkEvents looks whether events are numbered 1, 2, 3, ... up to the newest.
func (c *merchantCheck) checkEvents(ctx context.Context) error {
	last, err := c.LastEvent(ctx, c.merchantID)
	if err != nil {
		return err
	}
	var first, newest int64
	err = c.QueryRow(ctx, `SELECT COUNT(*), COALESCE(MIN(seq), 1), COALESCE(MAX(seq), 0) FROM events WHERE merchant_id = $1`,
		[]any{c.merchantID}, &c.seen.Events, &first, &newest)
	if err != nil {
		return err
	}
	if newest != last {
		c.report(0, 0, "the newest event is %d, the merchant's counter says %d", newest, last)
	}
	if first == 1 && newest == c.seen.Events {
		return nil
	}
	next := int64(1)
	return sqldb.Each(ctx, c, `SELECT seq FROM events WHERE merchant_id = $1 ORDER BY seq`, []any{c.merchantID}, func(rows sqldb.Rows) error {
		var seq int64
		if err := rows.Scan(&seq); err != nil {
			return err
		}
		switch {
		case seq < next:
			c.report(0, 0, "event %d is none", seq)
		case seq == next+1:
			c.report(0, 0, "event %d is missing", next)
		case seq > next:
			c.report(0, 0, "events %d to %d are missing", next, seq-1)
		}
		next = max(next, seq+1)
		return nil
	})
}

// checkDays compares the day counts with the orders that were counted.
func (c *merchantCheck) checkDays(ctx context.Context) error {
	err := sqldb.Each(ctx, c, `SELECT day, state, orders FROM order_days WHERE merchant_id = $1 ORDER BY day, state`,
		[]any{c.merchantID}, func(rows sqldb.Rows) error {
			var at dayState
			var kept int64
			if err := rows.Scan(sqldb.Int(&at.day), sqldb.Int(&at.state), &kept); err != nil {
				return err
			}
			c.compareDay(at, c.days[at], kept)
			delete(c.days, at)
			return nil
		})
	for at, counted := range c.days {
		c.compareDay(at, counted, 0)
	}
	return err
}

func (c *merchantCheck) compareDay(at dayState, counted, kept int64) {
	if counted != kept {
		c.report(0, 0, "%v, %v: the day count says %d, orders are %d", at.day, at.state, kept, counted)
	}
}
