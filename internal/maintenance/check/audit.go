package check

import (
	"context"
	"fmt"
	"math"
	"slices"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/store/sqldb"
)

// cureAudit is the cure of every finding about the audit log. Nothing may rewrite it.
const cureAudit = "the audit log cannot be repaired: keep a copy of the database, and compare it with the newest backup that check --backup finds right"

// auditCheck goes through a chain of the audit log.
type auditCheck struct {
	merchantID int64 // 0: of what belongs to no merchant
	reporter   *maintenance.Reporter

	previous  order.AuditEntry
	fromEvent int64 // entries that were written with an event
	broken    bool  // there was a finding
}

// checkAudit checks the chain of a merchant: numbers without gaps, hashes that follow
// from each other, and an end where the counter says, which was last when end was the number
// of the newest entry. It reads pages: entries never change. It returns the check with what
// it has counted.
func checkAudit(ctx context.Context, db sqldb.DB, merchantID, last, end int64, reporter *maintenance.Reporter) (*auditCheck, error) {
	c := &auditCheck{merchantID: merchantID, reporter: reporter}
	text := `SELECT ` + store.AuditColumns + ` FROM audit WHERE merchant_id = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT $4+0`
	for after, n := int64(math.MinInt64), logPage; n == logPage; after = c.previous.Seq {
		n = 0
		err := maintenance.Slice(ctx, db, func(q sqldb.Querier) error {
			return q.Query(ctx, text, []any{merchantID, after, end, logPage}, func(rows sqldb.Rows) error {
				n++
				var e order.AuditEntry
				if err := store.ScanAudit(rows, &e); err != nil {
					return err
				}
				c.entry(e)
				return nil
			})
		})
		if err != nil {
			return nil, err
		}
	}
	if c.previous.Seq != last {
		c.find("the newest audit entry is %d, but entry %d was written last", c.previous.Seq, last)
	}
	return c, nil
}

func (c *auditCheck) find(format string, args ...any) {
	c.broken = true
	c.reporter.Find(maintenance.Finding{MerchantID: c.merchantID, Problem: fmt.Sprintf(format, args...), Cure: cureAudit})
}

// entry checks the next entry of the chain.
func (c *auditCheck) entry(e order.AuditEntry) {
	switch before := c.previous; {
	case e.Seq == before.Seq+2:
		c.find("audit entry %d is missing", e.Seq-1)
	case e.Seq > before.Seq+2:
		c.find("audit entries %d to %d are missing", before.Seq+1, e.Seq-1)
	case e.Seq <= 0:
		c.find("audit entry %d has an invalid number", e.Seq)
	case e.Sum(before.Hash) == e.Hash:
	case before.Seq == 0:
		c.find("audit entry 1 was changed: its hash does not match")
	default:
		c.find("audit entry %d does not continue entry %d: one of them was changed or moved", e.Seq, before.Seq)
	}
	if slices.Contains(order.EventNames, string(e.Action)) {
		c.fromEvent++
	}
	c.previous = e
}

// checkAudit checks the audit log of the merchant, after its events. A chain without its
// beginning is whole, but lacks entries of events.
func (c *merchantCheck) checkAudit(ctx context.Context) error {
	chain, err := checkAudit(ctx, c.db, c.merchantID, c.ends.audit, c.ends.newestAudit, c.reporter)
	if err != nil {
		return err
	}
	c.totals.audit = chain.previous.Seq
	if missing := c.totals.events - chain.fromEvent; missing > 0 && !chain.broken {
		chain.find("%d of %d events have no entry in the audit log", missing, c.totals.events)
	}
	return nil
}

// checkServiceAudit checks the chain of what belongs to no merchant.
func checkServiceAudit(ctx context.Context, db sqldb.DB, reporter *maintenance.Reporter) error {
	var last, end int64
	err := maintenance.Slice(ctx, db, func(q sqldb.Querier) (err error) {
		if last, err = lastServiceEntry(ctx, q); err != nil {
			return err
		}
		return q.QueryRow(ctx, `SELECT COALESCE(MAX(seq), 0) FROM audit WHERE merchant_id = 0`, nil, &end)
	})
	if err == nil {
		_, err = checkAudit(ctx, db, 0, last, end, reporter)
	}
	return err
}

// lastServiceEntry returns the number of the newest entry of what belongs to no merchant.
func lastServiceEntry(ctx context.Context, q sqldb.Querier) (last int64, err error) {
	err = q.QueryRow(ctx, `SELECT COALESCE(MAX(last), 0) FROM counters WHERE name = 'audit'`, nil, &last)
	return last, err
}
