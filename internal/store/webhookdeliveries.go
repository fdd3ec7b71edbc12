package store

import (
	"context"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/store/sqldb"
)

// addDelivery writes a delivery into the log, which has the newest of each endpoint.
func (t *tx) addDelivery(ctx context.Context, key delivery.Key, d delivery.Attempt) error {
	err := t.Later(ctx, nil, `INSERT INTO webhook_deliveries (merchant_id, webhook_id, id, at, message_id, event_seq, event_merchant, events, last_event, event_type, status, error, took_ms, response)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		key.MerchantID, key.ID, d.ID, d.At.Unix(), d.MessageID, d.Event, d.EventMerchant, d.Events, d.LastEvent, d.Type, d.Status, d.Error, d.Took.Milliseconds(), d.Response)
	if err == nil && d.ID > webhook.MaxDeliveries {
		err = t.Later(ctx, nil, `DELETE FROM webhook_deliveries WHERE merchant_id = $1 AND webhook_id = $2 AND id <= $3`,
			key.MerchantID, key.ID, d.ID-webhook.MaxDeliveries)
	}
	return err
}

// deliveryColumns are what deliveryOf scans.
const deliveryColumns = `d.webhook_id, d.id, d.at, d.message_id, d.event_seq, d.event_merchant, d.events, d.last_event, d.event_type, d.status, d.error, d.took_ms, d.response`

func deliveryOf(rows sqldb.Rows) (delivery.Attempt, error) {
	var d delivery.Attempt
	var took int64
	err := rows.Scan(&d.WebhookID, &d.ID, sqldb.Time(&d.At), &d.MessageID, &d.Event, &d.EventMerchant, sqldb.Int(&d.Events), &d.LastEvent, &d.Type, sqldb.Int(&d.Status), &d.Error, &took, &d.Response)
	d.Took = time.Duration(took) * time.Millisecond
	return d, err
}

const (
	selectDeliveries = `SELECT ` + deliveryColumns + ` FROM webhook_deliveries d
		WHERE d.merchant_id = $1 AND d.webhook_id = $2 AND d.id < $3 ORDER BY d.id DESC LIMIT $4+0`
	// Times are seconds, within which the ids of an endpoint have the order. CROSS JOIN
	// makes SQLite begin with the events of the order, which are few. Left to itself,
	// and without the keys as a step, SQLite reads all deliveries of the merchant. Those of
	// several events have those whose types the webhook wants.
	selectOrderDeliveries = orderDeliveries + ` AND k.event_seq = e.seq UNION ` + orderDeliveries + ` AND k.event_seq > e.seq - $3 AND k.event_seq < e.seq
		AND d.last_event >= e.seq AND (SELECT w.types = 0 OR (w.types >> CAST(t.type AS INTEGER)) & 1 = 1 FROM events t CROSS JOIN webhooks w
			WHERE t.merchant_id = e.merchant_id AND t.seq = e.seq AND w.merchant_id = d.merchant_id AND w.id = d.webhook_id)
		ORDER BY 3 DESC, 1 DESC, 2 DESC LIMIT $4+0`
	orderDeliveries = `SELECT ` + deliveryColumns + ` FROM events e CROSS JOIN webhook_deliveries k CROSS JOIN webhook_deliveries d
		WHERE e.merchant_id = $1 AND e.legacy_id = $2 AND k.merchant_id = e.merchant_id
		AND d.merchant_id = k.merchant_id AND d.webhook_id = k.webhook_id AND d.id = k.id`
)

// WebhookDeliveries implements webhook.Store.
func (db *DB) WebhookDeliveries(ctx context.Context, key delivery.Key, before int64, limit int) (_ []delivery.Attempt, err error) {
	defer db.observe(&ctx, "webhook_deliveries")(&err)
	deliveries, err := sqldb.All(ctx, db.sql, selectDeliveries, []any{key.MerchantID, key.ID, before, limit}, deliveryOf)
	return deliveries, db.readError("list deliveries", err, nil)
}

// OrderDeliveries implements webhook.Store.
func (db *DB) OrderDeliveries(ctx context.Context, merchantID, legacyID int64, limit int) (_ []delivery.Attempt, err error) {
	defer db.observe(&ctx, "webhook_deliveries")(&err)
	deliveries, err := sqldb.All(ctx, db.sql, selectOrderDeliveries, []any{merchantID, legacyID, webhook.PageEvents, limit}, deliveryOf)
	return deliveries, db.readError("list deliveries of an order", err, nil)
}

// DeleteWebhookDeliveries implements webhook.Store. The times of an endpoint's
// deliveries grow with their ids, nearly: clocks of instances differ.
func (db *DB) DeleteWebhookDeliveries(ctx context.Context, key delivery.Key, before time.Time) (int, error) {
	var deleted int64
	err := db.inTx(ctx, "webhook_deliveries", func(t *tx) (err error) {
		deleted, err = t.Exec(ctx, `DELETE FROM webhook_deliveries WHERE merchant_id = $1 AND webhook_id = $2 AND at < $3`,
			key.MerchantID, key.ID, before.Unix())
		return err
	})
	return int(deleted), err
}
