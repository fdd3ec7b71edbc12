package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// delivers is the condition of delivery.State.Delivers.
const delivers = `state IN (1, 4)`

// waits is the part of a condition after "column - now" that is delivery.Waits.
const waits = ` BETWEEN 1 AND 90000`

// selectDue finds the endpoints of merchants with events to deliver; those of suspended
// merchants wait. It names all merchants: its rows are not shown to anyone.
const (
	dueNow    = ` AND NOT COALESCE(w.next_attempt_at, 0) - $1` + waits + ` AND NOT COALESCE(w.lease_until, 0) - $1` + waits
	selectDue = `SELECT w.merchant_id, w.id, w.mail, w.failures FROM webhooks w JOIN merchants m ON m.id = w.merchant_id
		WHERE w.` + delivers + ` AND m.suspended_at IS NULL AND w.acknowledged < m.last_event` + dueNow
	selectDueOfMerchant = selectDue + ` AND w.merchant_id = $2`
)

// nextOfMarket selects a column of the first event after the cursor of an endpoint w of the
// marketplace, below a position. PostgreSQL would scan all events for EXISTS.
func nextOfMarket(column, end string) string {
	return `(SELECT e.` + column + ` FROM events e
		WHERE (e.position, e.merchant_id, e.seq) > (w.event_position, w.event_merchant, w.acknowledged) AND e.position < ` + end + `
		ORDER BY e.position, e.merchant_id, e.seq LIMIT 1)`
}

// selectMarketDue returns the statement that finds the endpoints of the marketplace with
// events to deliver, also of held merchants. The Worker has to read the feed too if its
// history has changed, or if the database is on another server.
func selectMarketDue(d *sqldb.Dialect) string {
	return `SELECT w.merchant_id, w.id, w.mail, w.failures FROM webhooks w JOIN event_feed m ON m.id = 1
		WHERE w.merchant_id = 0 AND w.` + delivers + dueNow + `
		AND (w.feed_history <> m.history OR ` + countsAnew(d, "m") + ` OR ` + nextOfMarket("seq", d.Feed.End) + ` IS NOT NULL OR NOT w.held_until - $1` + waits + `)`
}

// DueEndpoints implements delivery.Store.
func (db *DB) DueEndpoints(ctx context.Context, merchantID *int64, now time.Time) (_ []delivery.Due, err error) {
	defer db.observe(&ctx, "due_webhooks")(&err)
	text, args := selectDue, []any{now.Unix()}
	switch {
	case merchantID == nil:
	case *merchantID == delivery.Marketplace:
		text = db.selectMarketDue
	default:
		text, args = selectDueOfMerchant, append(args, *merchantID)
	}
	due, err := sqldb.All(ctx, db.sql, text, args, func(rows sqldb.Rows) (delivery.Due, error) {
		var d delivery.Due
		var failures int64
		err := rows.Scan(&d.MerchantID, &d.ID, sqldb.Int(&d.Kind), &failures)
		d.Failing = failures > 0
		return d, err
	})
	return due, db.readError("find due webhooks", err, nil)
}

// EndpointMerchants implements delivery.Store.
func (db *DB) EndpointMerchants(ctx context.Context) (_ []int64, err error) {
	defer db.observe(&ctx, "due_webhooks")(&err)
	ids, err := sqldb.Column[int64](ctx, db.sql, `SELECT DISTINCT merchant_id FROM webhooks WHERE `+delivers)
	return ids, db.readError("find merchants with webhooks", err, nil)
}

const (
	borrowEndpoint = `UPDATE webhooks SET lease_number = lease_number + 1, lease_until = $1
		WHERE merchant_id = $2 AND id = $3 AND NOT COALESCE(lease_until, 0) - $4` + waits
	leaseEndpoint = borrowEndpoint + ` AND ` + delivers + ` AND NOT COALESCE(next_attempt_at, 0) - $4` + waits + `
		AND (SELECT suspended_at FROM merchants WHERE id = $2) IS NULL`
	returnLease = ` RETURNING ` + endpointColumns + `, lease_number, revision`
)

// LeaseEndpoint implements delivery.Store.
func (db *DB) LeaseEndpoint(ctx context.Context, key delivery.Key, now, until time.Time) (delivery.Lease, error) {
	return db.leaseEndpoint(ctx, leaseEndpoint+returnLease, key, now, until)
}

// BorrowEndpoint implements delivery.Store.
func (db *DB) BorrowEndpoint(ctx context.Context, key delivery.Key, now, until time.Time) (delivery.Lease, error) {
	return db.leaseEndpoint(ctx, borrowEndpoint+returnLease, key, now, until)
}

func (db *DB) leaseEndpoint(ctx context.Context, text string, key delivery.Key, now, until time.Time) (delivery.Lease, error) {
	var lease delivery.Lease
	err := db.inTx(ctx, "lease_webhook", func(t *tx) error {
		var r endpointRow
		err := t.QueryRow(ctx, text, []any{until.Unix(), key.MerchantID, key.ID, now.Unix()}, append(r.dest(), &lease.Number, &lease.Revision)...)
		lease.Cursor, lease.To = r.endpoint()
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		_, err = readEndpoint(ctx, t, selectEndpoint, key)
		return cmp.Or(noRow(err, delivery.ErrNotFound), delivery.ErrNotDue)
	})
	return lease, err
}

const (
	// saveEndpoint changes an endpoint if it is as it was when it was leased.
	saveEndpoint = `UPDATE webhooks SET acknowledged = $1, state = $2, reason = $3, state_set_at = $4, failures = $5, failing_since = $6,
		next_attempt_at = $7, lease_until = $8, deliveries = deliveries + $9,
		event_merchant = $10, event_position = $11, event_nonce = $12, feed_history = $13, sent_at = $14, held = $15, held_until = $16, digest_end = $17
		WHERE merchant_id = $18 AND id = $19 AND lease_number = $20 AND revision = $21 AND acknowledged = $22 AND event_nonce = $23 AND state = $24
		RETURNING deliveries, (SELECT suspended_at FROM merchants WHERE id = $18)`
	// countDelivery does not change what a request has changed meanwhile.
	countDelivery = `UPDATE webhooks SET deliveries = deliveries + 1 WHERE merchant_id = $1 AND id = $2 AND lease_number = $3
		RETURNING deliveries`
)

// SaveProgress implements delivery.Store.
func (db *DB) SaveProgress(ctx context.Context, lease delivery.Lease, p delivery.Progress) error {
	var stop bool
	err := db.inTx(ctx, "save_webhook", func(t *tx) (err error) {
		stop, err = t.saveProgress(ctx, lease, p)
		return err
	})
	if err == nil && stop {
		err = delivery.ErrLeaseLost
	}
	return err
}

// saveProgress reports whether the holder of the lease has to stop.
func (t *tx) saveProgress(ctx context.Context, lease delivery.Lease, p delivery.Progress) (stop bool, err error) {
	added := 0
	if p.Attempt != nil {
		added = 1
	}
	var newest int64
	var suspended bool
	err = t.QueryRow(ctx, saveEndpoint, []any{
		p.Acknowledged.Seq, int64(p.State), p.Reason, seconds(p.StateSet), p.Failures, seconds(p.FailingSince),
		seconds(p.NextAttempt), seconds(p.LeaseUntil), added,
		p.Acknowledged.MerchantID, p.Acknowledged.Position, p.Acknowledged.Nonce, p.Acknowledged.History, seconds(p.SentAt), jsonText(len(p.Held), p.Held), heldUntil(p.Held), p.Batch,
		lease.MerchantID, lease.ID, lease.Number, lease.Revision, lease.Acknowledged.Seq, lease.Acknowledged.Nonce, int64(lease.State),
	}, &newest, sqldb.NotNull(&suspended))
	if errors.Is(err, sql.ErrNoRows) {
		return true, t.saveOnlyAttempt(ctx, lease, p.Attempt)
	}
	if err == nil && p.Attempt != nil {
		p.Attempt.ID = newest
		err = t.addDelivery(ctx, lease.Key, *p.Attempt)
	}
	if err == nil && p.Failure != nil {
		t.addFailure(lease.MerchantID, *p.Failure)
	}
	return suspended, err
}

// saveOnlyAttempt writes an attempt into the log of an endpoint that was changed since
// it was leased, unless it was removed or another Worker has the lease.
func (t *tx) saveOnlyAttempt(ctx context.Context, lease delivery.Lease, attempt *delivery.Attempt) error {
	if attempt == nil {
		return nil
	}
	err := t.QueryRow(ctx, countDelivery, []any{lease.MerchantID, lease.ID, lease.Number}, &attempt.ID)
	if err == nil {
		err = t.addDelivery(ctx, lease.Key, *attempt)
	}
	return noRow(err, nil)
}

// addFailure records the event of an endpoint that the service disables, which has no
// order, and its entry in the audit log.
func (t *tx) addFailure(merchantID int64, f delivery.Failure) {
	if f.Event.Type == 0 {
		t.addAudit(merchantID, f.Audit)
		return
	}
	t.add(merchantID, recordedEvent{Event: f.Event, order: order.LockedOrder{MerchantID: merchantID, CreatedAt: time.Unix(0, 0)}}, f.Audit)
}

// ReleaseEndpoint implements delivery.Store.
func (db *DB) ReleaseEndpoint(ctx context.Context, lease delivery.Lease) error {
	return db.inTx(ctx, "lease_webhook", func(t *tx) error {
		_, err := t.Exec(ctx, `UPDATE webhooks SET lease_until = NULL WHERE merchant_id = $1 AND id = $2 AND lease_number = $3`,
			lease.MerchantID, lease.ID, lease.Number)
		return err
	})
}

// ReleaseEndpoints implements delivery.Store.
func (db *DB) ReleaseEndpoints(ctx context.Context) error {
	return db.inTx(ctx, "lease_webhook", func(t *tx) error {
		_, err := t.Exec(ctx, `UPDATE webhooks SET lease_until = NULL WHERE lease_until IS NOT NULL`)
		return err
	})
}
