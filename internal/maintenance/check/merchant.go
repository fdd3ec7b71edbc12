package check

import (
	"context"
	"fmt"
	"math"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/store/sqldb"
)

// merchantTotals is what the check of a merchant counted.
type merchantTotals struct {
	orders, invoices, events int64
	audit                    int64 // entries of the audit log
	missingKeys              int64 // order keys
	// maxLegacyID is the highest legacy id from which the counter counts on, and
	// maxInvoiceID the highest id of an invoice.
	maxLegacyID, maxInvoiceID int64
}

// merchantCheck checks the rows of one merchant, in snapshots of what must agree.
type merchantCheck struct {
	db          sqldb.DB
	q           sqldb.Querier // the snapshot in progress
	merchantID  int64
	options     Options
	reporter    *maintenance.Reporter
	totals      merchantTotals
	ends        logEnds
	missingKeys []orderKey // to be confirmed
	wrongCounts []string   // findings about day counts and the merchant's numbers by state
	// wrongNumbers are the orders that are found by other numbers than those of their files, as
	// after 1.0 has deleted one.
	wrongNumbers []orderRow
	badState     bool // an order has a state that is not valid
}

// logEnds are the numbers of the newest event and audit entry, in the merchant's row and in
// the tables, and the merchant's last position in the feed, all at one moment.
type logEnds struct {
	event, newestEvent, audit, newestAudit, position int64
}

// dayState is the key of a row of order_days.
type dayState struct {
	day   order.Day
	state order.State
}

// checkMerchant checks that the rows of a merchant agree with each other: day
// counts with orders, events with their numbers, orders with the invoices that
// count towards their limit, and orders with their keys.
//
// Servers may change the rows meanwhile. Still no long snapshot is needed: a change keeps in
// agreement what it changes, so rows that agree in one snapshot and others that agree in the
// next were right, and what is damaged stays so. Events and audit entries up to an end never
// change, an order agrees with its own invoices, keys and events, and the counts of orders are
// compared with a count.
func checkMerchant(
	ctx context.Context, db sqldb.DB, merchantID int64, options Options, reporter *maintenance.Reporter,
) (merchantTotals, error) {
	c := &merchantCheck{db: db, merchantID: merchantID, options: options, reporter: reporter}
	slice := func(part func(context.Context) error) func(context.Context) error {
		return func(ctx context.Context) error { return c.slice(ctx, part) }
	}
	for _, part := range []func(context.Context) error{
		c.checkEvents, c.checkAudit, slice(c.checkWebhooks), c.checkOrders, slice(c.checkCounts), c.confirmMissingKeys, c.settleDayCounts, c.settleNumbers,
	} {
		if err := part(ctx); err != nil {
			return c.totals, err
		}
	}
	return c.totals, nil
}

// slice runs a part of the check in a snapshot of its own.
func (c *merchantCheck) slice(ctx context.Context, part func(context.Context) error) error {
	return maintenance.Slice(ctx, c.db, func(q sqldb.Querier) error {
		c.q = q
		return part(ctx)
	})
}

// settleDayCounts reports wrong counts of orders, or rebuilds them. The orders must be
// right for that.
func (c *merchantCheck) settleDayCounts(ctx context.Context) error {
	if len(c.wrongCounts) > 0 && c.options.Repair && !c.badState {
		changed, err := rebuildDayCounts(ctx, c.db, c.merchantID)
		if err == nil && changed > 0 {
			c.options.OnRepair(fmt.Sprintf("merchant %d: rebuilt the counts of orders, of which %d were wrong; restart the servers, which remember the old ones",
				c.merchantID, changed))
		}
		return err
	}
	cure := "check --repair rebuilds the counts of orders"
	if c.badState {
		cure = maintenance.CureRows
	}
	for _, problem := range c.wrongCounts {
		c.reporter.Find(maintenance.Finding{MerchantID: c.merchantID, Problem: problem, Cure: cure})
	}
	return nil
}

// settleNumbers reports orders that are found by wrong numbers, or corrects them.
func (c *merchantCheck) settleNumbers(ctx context.Context) error {
	for _, o := range c.wrongNumbers {
		if !c.options.Repair {
			c.reporter.Find(maintenance.Finding{
				MerchantID: c.merchantID, OrderLegacyID: o.legacyID, OrderReference: o.reference,
				Problem: "it is found by other numbers (invoice_numbers) than those of its invoice files", Cure: "check --repair corrects them",
			})
			continue
		}
		if err := renumber(ctx, c.db, c.merchantID, o.legacyID); err != nil {
			return err
		}
		c.options.OnRepair(fmt.Sprintf("merchant %d, order %s: corrected the numbers by which it is found", c.merchantID, o.reference))
	}
	return nil
}

// find reports a finding about the merchant.
func (c *merchantCheck) find(format string, args ...any) {
	c.reporter.Find(maintenance.Finding{MerchantID: c.merchantID, Problem: fmt.Sprintf(format, args...), Cure: maintenance.CureRows})
}

// logPage is how many events or audit entries are read at a time.
const logPage = 5000

// checkEvents checks that events are numbered 1, 2, 3, ..., that the newest one has the
// number and the nonce in the merchant's row, and that the feed of all merchants has them in
// their order.
func (c *merchantCheck) checkEvents(ctx context.Context) error {
	var merchantNonce, eventNonce int64
	err := c.db.WithoutTimeout().QueryRow(ctx, `SELECT m.last_event, m.audit_seq, m.last_position, m.data_nonce, COALESCE(e.nonce, m.data_nonce),
			(SELECT COALESCE(MAX(seq), 0) FROM events WHERE merchant_id = $1), (SELECT COALESCE(MAX(seq), 0) FROM audit WHERE merchant_id = $1)
		FROM merchants m LEFT JOIN events e ON e.merchant_id = m.id AND e.seq = m.last_event WHERE m.id = $1`, []any{c.merchantID},
		&c.ends.event, &c.ends.audit, &c.ends.position, &merchantNonce, &eventNonce, &c.ends.newestEvent, &c.ends.newestAudit)
	if err != nil {
		return err
	}
	switch {
	case c.ends.newestEvent != c.ends.event:
		c.find("the newest event is %d, but the merchant's last event is %d", c.ends.newestEvent, c.ends.event)
	case merchantNonce != eventNonce:
		c.find("the nonce of event %d is not the one in the merchant's row", c.ends.event)
	}
	var early, beyond, before int64
	next := int64(1)
	for after, n := int64(math.MinInt64), logPage; n == logPage; {
		n = 0
		err := c.slice(ctx, func(ctx context.Context) error {
			return c.q.Query(ctx, `SELECT seq, position FROM events WHERE merchant_id = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT $4+0`,
				[]any{c.merchantID, after, c.ends.newestEvent, logPage}, func(rows sqldb.Rows) error {
					n++
					var position int64
					err := rows.Scan(&after, &position)
					if position < before {
						early++
					}
					if position > c.ends.position {
						beyond++
					}
					before = position
					c.findGap(next, after)
					next = max(next, after+1)
					return err
				})
		})
		if err != nil {
			return err
		}
		c.totals.events += int64(n)
	}
	if early > 0 || beyond > 0 {
		c.find("the feed of all merchants has %d events before an earlier one, and %d after the merchant's last position", early, beyond)
	}
	return nil
}

// findGap reports the numbers that events lack between the next one and one that follows.
func (c *merchantCheck) findGap(next, seq int64) {
	switch {
	case seq < next:
		c.find("event %d has an invalid number", seq)
	case seq == next+1:
		c.find("event %d is missing", next)
	case seq > next:
		c.find("events %d to %d are missing", next, seq-1)
	}
}

// wrongStateCounts returns the findings about the numbers by state in a merchant's row,
// compared with its orders.
func wrongStateCounts(ctx context.Context, q sqldb.Querier, merchantID int64, orders map[dayState]int64) ([]string, error) {
	counted := make(map[order.State]int64)
	for key, n := range orders {
		counted[key.state] += n
	}
	stored, err := store.ReadStateCounts(ctx, q, merchantID)
	var wrong []string
	for _, state := range order.States() {
		if n := stored[state]; n != counted[state] {
			wrong = append(wrong, fmt.Sprintf("%v: the merchant's number of orders is %d, but there are %d", state, n, counted[state]))
		}
	}
	return wrong, err
}

// checkCounts compares the merchant's numbers by state and the day counts with the orders.
func (c *merchantCheck) checkCounts(ctx context.Context) error {
	orders, err := countOrders(ctx, c.q, c.merchantID)
	if err != nil {
		return err
	}
	if c.wrongCounts, err = wrongStateCounts(ctx, c.q, c.merchantID, orders); err != nil {
		return err
	}
	compare := func(key dayState, count int64) {
		if n := orders[key]; n != count {
			c.wrongCounts = append(c.wrongCounts, fmt.Sprintf("%v, %v: the day count is %d, but there are %d orders", key.day, key.state, count, n))
		}
		delete(orders, key)
	}
	err = c.q.Query(ctx, `SELECT day, state, orders FROM order_days WHERE merchant_id = $1 ORDER BY day, state`,
		[]any{c.merchantID}, func(rows sqldb.Rows) error {
			var key dayState
			var count int64
			err := rows.Scan(sqldb.Int(&key.day), sqldb.Int(&key.state), &count)
			compare(key, count)
			return err
		})
	for key := range orders {
		compare(key, 0)
	}
	return err
}
