package check

import (
	"context"

	"merchantorders/internal/store/sqldb"
)

// checkWebhooks checks that no webhook of the merchant has acknowledged more events than
// there are, and that no delivery is of a webhook that does not exist.
func (c *merchantCheck) checkWebhooks(ctx context.Context) error {
	err := c.q.Query(ctx, `SELECT w.id, w.acknowledged, m.last_event FROM webhooks w JOIN merchants m ON m.id = w.merchant_id
		WHERE w.merchant_id = $1 AND w.acknowledged > m.last_event ORDER BY w.id`, []any{c.merchantID}, func(rows sqldb.Rows) error {
		var id, acknowledged, last int64
		err := rows.Scan(&id, &acknowledged, &last)
		c.find("webhook %d has acknowledged event %d, but the newest is %d", id, acknowledged, last)
		return err
	})
	if err != nil {
		return err
	}
	return c.q.Query(ctx, `SELECT d.webhook_id, COUNT(*) FROM webhook_deliveries d
		LEFT JOIN webhooks w ON w.merchant_id = d.merchant_id AND w.id = d.webhook_id
		WHERE d.merchant_id = $1 AND w.id IS NULL GROUP BY d.webhook_id ORDER BY d.webhook_id`, []any{c.merchantID}, func(rows sqldb.Rows) error {
		var id, deliveries int64
		err := rows.Scan(&id, &deliveries)
		c.find("webhook %d does not exist, but has %d deliveries", id, deliveries)
		return err
	})
}
