package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

const webhookColumns = `merchant_id, id, url, description, types, include_orders, headers, username, password, created_at, secret, old_secret, old_secret_until,
	state, reason, state_set_at, acknowledged, event_merchant, event_position, event_nonce, feed_history, failures, failing_since, next_attempt_at,
	mail, language, digest_every, sent_at, link_hash, link_until, held, digest_end`

const (
	selectWebhook          = `SELECT ` + webhookColumns + ` FROM webhooks WHERE merchant_id = $1 AND id = $2 AND mail = $3`
	selectWebhookPage      = `SELECT ` + webhookColumns + ` FROM webhooks WHERE id > $1 AND ($2 = 0 OR state = $2) AND mail = 0 ORDER BY id LIMIT $3+0`
	selectMerchantWebhooks = `SELECT ` + webhookColumns + ` FROM webhooks WHERE merchant_id = $1 AND mail = $2 ORDER BY id`
)

// webhookRow holds a row of webhookColumns.
type webhookRow struct {
	webhook.Endpoint
	secret, oldSecret, password                 string
	headers, held                               []byte
	createdAt, orders, mail, every              int64
	failures                                    int64
	oldUntil, stateSet, failingSince, nextTryAt sql.NullInt64
	sentAt, linkUntil                           sql.NullInt64
}

func (r *webhookRow) dest() []any {
	return []any{
		&r.MerchantID, &r.ID, &r.URL, &r.Description, sqldb.Int(&r.Types), &r.orders, &r.headers, &r.Username, &r.password, &r.createdAt, &r.secret, &r.oldSecret, &r.oldUntil,
		sqldb.Int(&r.State), &r.Reason, &r.stateSet, &r.Acknowledged.Seq, &r.Acknowledged.MerchantID, &r.Acknowledged.Position, &r.Acknowledged.Nonce, &r.Acknowledged.History,
		&r.failures, &r.failingSince, &r.nextTryAt,
		&r.mail, &r.Language, &r.every, &r.sentAt, &r.LinkHash, &r.linkUntil, &r.held, &r.DigestEnd,
	}
}

// endpoint returns the endpoint of a row that was scanned.
func (r *webhookRow) endpoint() webhook.Endpoint {
	e := r.Endpoint
	if len(r.headers) > 0 {
		_ = json.Unmarshal(r.headers, &e.Headers) // jsonText has made it
	}
	e.Held = heldOf(r.held)
	e.Secret, e.OldSecret, e.OldSecretUntil = webhook.Secret(r.secret), webhook.Secret(r.oldSecret), timeOf(r.oldUntil)
	e.Orders, e.Password = r.orders != 0, webhook.Credential(r.password)
	e.CreatedAt, e.StateSet = time.Unix(r.createdAt, 0).UTC(), timeOf(r.stateSet)
	e.Failures, e.FailingSince, e.NextAttempt = int(r.failures), timeOf(r.failingSince), timeOf(r.nextTryAt)
	e.Mail, e.Every, e.SentAt, e.LinkUntil = r.mail != 0, time.Duration(r.every)*time.Second, timeOf(r.sentAt), timeOf(r.linkUntil)
	return e
}

// jsonText returns n headers or held merchants of an endpoint as they are stored.
func jsonText(n int, values any) string {
	if n == 0 {
		return ""
	}
	text, _ := json.Marshal(values) // texts, numbers and times have a JSON form
	return string(text)
}

// heldOf returns the held merchants of a stored text.
func heldOf(text []byte) (held []webhook.Held) {
	if len(text) > 0 {
		_ = json.Unmarshal(text, &held) // jsonText has made it
	}
	return held
}

// heldUntil returns what is stored of the next attempt for a held merchant.
func heldUntil(held []webhook.Held) any {
	if len(held) == 0 {
		return nil
	}
	return held[0].NextAttempt.Unix()
}

func readWebhook(ctx context.Context, q sqldb.Querier, text string, key webhook.Key) (webhook.Endpoint, error) {
	var r webhookRow
	err := q.QueryRow(ctx, text, []any{key.MerchantID, key.ID, flag(key.Mail)}, r.dest()...)
	return r.endpoint(), err
}

// Webhook implements webhook.Store.
func (db *DB) Webhook(ctx context.Context, key webhook.Key) (_ webhook.Endpoint, err error) {
	defer db.observe(&ctx, "webhook")(&err)
	e, err := readWebhook(ctx, db.sql, selectWebhook, key)
	return e, db.readError("read webhook", err, webhook.ErrNotFound)
}

// Webhooks implements webhook.Store.
func (db *DB) Webhooks(ctx context.Context, merchantID int64, mail bool) (_ []webhook.Endpoint, err error) {
	defer db.observe(&ctx, "webhooks")(&err)
	return db.readWebhooks(ctx, selectMerchantWebhooks, merchantID, flag(mail))
}

// WebhookPage implements webhook.Store.
func (db *DB) WebhookPage(ctx context.Context, state webhook.State, after int64, limit int) (_ []webhook.Endpoint, err error) {
	defer db.observe(&ctx, "webhooks")(&err)
	return db.readWebhooks(ctx, selectWebhookPage, after, int64(state), limit)
}

func (db *DB) readWebhooks(ctx context.Context, text string, args ...any) ([]webhook.Endpoint, error) {
	endpoints, err := sqldb.All(ctx, db.sql, text, args, func(rows sqldb.Rows) (webhook.Endpoint, error) {
		var r webhookRow
		err := rows.Scan(r.dest()...)
		return r.endpoint(), err
	})
	return endpoints, db.readError("list webhooks", err, nil)
}

// InWebhookTx implements webhook.Store.
func (db *DB) InWebhookTx(ctx context.Context, fn func(webhook.Tx) error) error {
	return db.inTx(ctx, "webhook", func(t *tx) error { return fn(webhookTx{t}) })
}

// webhookTx implements webhook.Tx.
type webhookTx struct{ *tx }

// NewestEvent implements webhook.Tx.
func (t webhookTx) NewestEvent(ctx context.Context, merchantID int64) (int64, error) {
	var last int64
	err := t.QueryRow(ctx, `SELECT last_event FROM merchants WHERE id = $1`, []any{merchantID}, &last)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, webhook.ErrNoMerchant
	}
	return last, err
}

// AddWebhook implements webhook.Tx. It locks the counter first, so that the count is right.
func (t webhookTx) AddWebhook(ctx context.Context, e webhook.Endpoint) (id int64, err error) {
	if err := t.QueryRow(ctx, `UPDATE counters SET last = last + 1 WHERE name = 'webhook' RETURNING last`, nil, &id); err != nil {
		return 0, err
	}
	var count, same int64
	err = t.QueryRow(ctx, `SELECT COUNT(*), COUNT(CASE WHEN url = $1 THEN 1 END) FROM webhooks WHERE merchant_id = $2 AND mail = $3`,
		[]any{e.URL, e.MerchantID, flag(e.Mail)}, &count, &same)
	switch {
	case err != nil:
		return 0, err
	case e.Mail && same > 0:
		return 0, webhook.ErrAddressExists
	case count >= e.Max():
		return 0, webhook.ErrTooMany
	}
	_, err = t.Exec(ctx, `INSERT INTO webhooks (`+webhookColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, '', 0)`,
		e.MerchantID, id, e.URL, e.Description, int64(e.Types), flag(e.Orders), jsonText(len(e.Headers), e.Headers), e.Username, string(e.Password), e.CreatedAt.Unix(), string(e.Secret), string(e.OldSecret), seconds(e.OldSecretUntil),
		int64(e.State), e.Reason, seconds(e.StateSet), e.Acknowledged.Seq, e.Acknowledged.MerchantID, e.Acknowledged.Position, e.Acknowledged.Nonce, e.Acknowledged.History,
		e.Failures, seconds(e.FailingSince), seconds(e.NextAttempt),
		flag(e.Mail), e.Language, int64(e.Every/time.Second), seconds(e.SentAt), e.LinkHash, seconds(e.LinkUntil))
	return id, err
}

// Links implements webhook.Tx. No index has the actions: it reads the newest entries of
// the merchant, as the audit log does.
func (t webhookTx) Links(ctx context.Context, merchantID int64, detail string, after time.Time) (l webhook.Links, err error) {
	err = t.QueryRow(ctx, `SELECT COUNT(CASE WHEN detail LIKE $1 AND action <> $2 THEN 1 END), COUNT(CASE WHEN action <> $2 THEN 1 END),
			COUNT(CASE WHEN detail LIKE $1 AND action = $2 THEN 1 END), COUNT(CASE WHEN action = $2 THEN 1 END)
		FROM (SELECT at, action, detail FROM audit WHERE merchant_id = $3 ORDER BY seq DESC LIMIT $4+0) newest
		WHERE at > $5 AND action IN ($2, $6, $7)`,
		[]any{detail + "%", string(webhook.AuditMailNotSent), merchantID, maxAuditScan, after.Unix(), string(webhook.AuditMailAdded), string(webhook.AuditMailLink)},
		&l.ToAddress, &l.All, &l.ToAddressFailed, &l.Failed)
	return l, err
}

// LockWebhook implements webhook.Tx.
func (t webhookTx) LockWebhook(ctx context.Context, key webhook.Key) (webhook.Endpoint, error) {
	e, err := readWebhook(ctx, t, selectWebhook+t.db.dialect.RowLock, key)
	if errors.Is(err, sql.ErrNoRows) {
		err = webhook.ErrNotFound
	}
	return e, err
}

// UpdateWebhook implements webhook.Tx.
func (t webhookTx) UpdateWebhook(ctx context.Context, e webhook.Endpoint) error {
	return t.update(ctx, webhook.ErrNotFound, `UPDATE webhooks SET url = $1, description = $2, types = $3, secret = $4, old_secret = $5,
		old_secret_until = $6, state = $7, reason = $8, state_set_at = $9, acknowledged = $10, failures = $11, failing_since = $12, next_attempt_at = $13,
		include_orders = $14, headers = $15, username = $16, password = $17, revision = revision + 1,
		event_merchant = $18, event_position = $19, event_nonce = $20, feed_history = $21, link_hash = $22, link_until = $23,
		held = $24, held_until = $25
		WHERE merchant_id = $26 AND id = $27`,
		e.URL, e.Description, int64(e.Types), string(e.Secret), string(e.OldSecret), seconds(e.OldSecretUntil),
		int64(e.State), e.Reason, seconds(e.StateSet), e.Acknowledged.Seq, e.Failures, seconds(e.FailingSince), seconds(e.NextAttempt),
		flag(e.Orders), jsonText(len(e.Headers), e.Headers), e.Username, string(e.Password),
		e.Acknowledged.MerchantID, e.Acknowledged.Position, e.Acknowledged.Nonce, e.Acknowledged.History, e.LinkHash, seconds(e.LinkUntil),
		jsonText(len(e.Held), e.Held), heldUntil(e.Held), e.MerchantID, e.ID)
}

// RemoveWebhook implements webhook.Tx.
func (t webhookTx) RemoveWebhook(ctx context.Context, key webhook.Key) error {
	if _, err := t.Exec(ctx, `DELETE FROM webhook_deliveries WHERE merchant_id = $1 AND webhook_id = $2`, key.MerchantID, key.ID); err != nil {
		return err
	}
	return t.update(ctx, webhook.ErrNotFound, `DELETE FROM webhooks WHERE merchant_id = $1 AND id = $2`, key.MerchantID, key.ID)
}

// Audit implements webhook.Tx.
func (t webhookTx) Audit(ctx context.Context, entry order.AuditEntry) error {
	t.addAudit(entry.MerchantID, entry)
	return nil
}
