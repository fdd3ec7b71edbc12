package check

import (
	"context"
	"fmt"

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

// merchantCheck checks the rows of one merchant in one snapshot.
type merchantCheck struct {
	q           sqldb.Querier
	merchantID  int64
	reporter    *maintenance.Reporter
	totals      merchantTotals
	orders      map[dayState]int64
	missingKeys []orderKey // to be confirmed
	wrongCounts []string   // findings about day counts and the merchant's numbers by state
	badState    bool       // an order has a state that is not valid
}

// dayState is the key of a row of order_days.
type dayState struct {
	day   order.Day
	state order.State
}

// checkMerchant checks that the rows of a merchant agree with each other: day
// counts with orders, events with their numbers, orders with the invoices that
// count towards their limit, and orders with their keys.
func checkMerchant(
	ctx context.Context, db sqldb.DB, merchantID int64, options Options, reporter *maintenance.Reporter,
) (merchantTotals, error) {
	c := &merchantCheck{merchantID: merchantID, reporter: reporter, orders: make(map[dayState]int64)}
	err := db.Snapshot(ctx, func(q sqldb.Querier) error {
		c.q = q.WithoutTimeout()
		if err := c.checkEvents(ctx); err != nil {
			return err
		}
		if err := c.checkAudit(ctx); err != nil {
			return err
		}
		if err := c.checkWebhooks(ctx); err != nil {
			return err
		}
		if err := c.checkOrders(ctx); err != nil {
			return err
		}
		wrong, err := wrongStateCounts(ctx, c.q, c.merchantID, c.orders)
		if err != nil {
			return err
		}
		c.wrongCounts = wrong
		return c.checkDayCounts(ctx)
	})
	if err == nil {
		err = c.confirmMissingKeys(ctx, db.WithoutTimeout())
	}
	if err == nil {
		err = c.settleDayCounts(ctx, db, options)
	}
	return c.totals, err
}

// settleDayCounts reports wrong counts of orders, or rebuilds them. The orders must be
// right for that.
func (c *merchantCheck) settleDayCounts(ctx context.Context, db sqldb.DB, options Options) error {
	if len(c.wrongCounts) > 0 && options.Repair && !c.badState {
		changed, err := rebuildDayCounts(ctx, db, c.merchantID)
		if err == nil && changed > 0 {
			options.OnRepair(fmt.Sprintf("merchant %d: rebuilt the counts of orders, of which %d were wrong; restart the servers, which remember the old ones",
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

// find reports a finding about the merchant.
func (c *merchantCheck) find(format string, args ...any) {
	c.reporter.Find(maintenance.Finding{MerchantID: c.merchantID, Problem: fmt.Sprintf(format, args...), Cure: maintenance.CureRows})
}

// checkEvents checks that events are numbered 1, 2, 3, ... and that the newest
// one has the number and the nonce in the merchant's row.
func (c *merchantCheck) checkEvents(ctx context.Context) error {
	var last, merchantNonce, eventNonce, first, newest int64
	err := c.q.QueryRow(ctx, `SELECT m.last_event, m.data_nonce, COALESCE(e.nonce, m.data_nonce) FROM merchants m
		LEFT JOIN events e ON e.merchant_id = m.id AND e.seq = m.last_event WHERE m.id = $1`,
		[]any{c.merchantID}, &last, &merchantNonce, &eventNonce)
	if err != nil {
		return err
	}
	err = c.q.QueryRow(ctx, `SELECT COUNT(*), COALESCE(MIN(seq), 1), COALESCE(MAX(seq), 0) FROM events WHERE merchant_id = $1`,
		[]any{c.merchantID}, &c.totals.events, &first, &newest)
	if err != nil {
		return err
	}
	switch {
	case newest != last:
		c.find("the newest event is %d, but the merchant's last event is %d", newest, last)
	case merchantNonce != eventNonce:
		c.find("the nonce of event %d is not the one in the merchant's row", last)
	}
	if err := c.checkPositions(ctx); err != nil || first == 1 && newest == c.totals.events {
		return err
	}
	return c.findGaps(ctx)
}

// checkPositions checks that the feed of all merchants has the events in their order.
func (c *merchantCheck) checkPositions(ctx context.Context) error {
	var early, beyond int64
	err := c.q.QueryRow(ctx, `SELECT COALESCE(SUM(CASE WHEN e.position < e.before THEN 1 ELSE 0 END), 0),
			COALESCE(SUM(CASE WHEN e.position > m.last_position THEN 1 ELSE 0 END), 0)
		FROM merchants m JOIN (SELECT merchant_id, position, LAG(position) OVER (ORDER BY seq) AS before FROM events WHERE merchant_id = $1) e
			ON e.merchant_id = m.id WHERE m.id = $1`, []any{c.merchantID}, &early, &beyond)
	if early > 0 || beyond > 0 {
		c.find("the feed of all merchants has %d events before an earlier one, and %d after the merchant's last position", early, beyond)
	}
	return err
}

// findGaps reports the numbers that events lack.
func (c *merchantCheck) findGaps(ctx context.Context) error {
	seqs, err := sqldb.Column[int64](ctx, c.q, `SELECT seq FROM events WHERE merchant_id = $1 ORDER BY seq`, c.merchantID)
	next := int64(1)
	for _, seq := range seqs {
		switch {
		case seq < next:
			c.find("event %d has an invalid number", seq)
		case seq == next+1:
			c.find("event %d is missing", next)
		case seq > next:
			c.find("events %d to %d are missing", next, seq-1)
		}
		next = max(next, seq+1)
	}
	return err
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

// checkDayCounts compares the day counts with the orders that were read.
func (c *merchantCheck) checkDayCounts(ctx context.Context) error {
	err := sqldb.Each(ctx, c.q, `SELECT day, state, orders FROM order_days WHERE merchant_id = $1 ORDER BY day, state`,
		[]any{c.merchantID}, func(rows sqldb.Rows) error {
			var key dayState
			var count int64
			if err := rows.Scan(sqldb.Int(&key.day), sqldb.Int(&key.state), &count); err != nil {
				return err
			}
			c.compareDayCount(key, count)
			delete(c.orders, key)
			return nil
		})
	for key := range c.orders {
		c.compareDayCount(key, 0)
	}
	return err
}

func (c *merchantCheck) compareDayCount(key dayState, count int64) {
	if orders := c.orders[key]; orders != count {
		c.wrongCounts = append(c.wrongCounts, fmt.Sprintf("%v, %v: the day count is %d, but there are %d orders", key.day, key.state, count, orders))
	}
}
