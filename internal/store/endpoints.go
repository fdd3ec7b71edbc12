package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/digest"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/store/sqldb"
)

// endpointColumns are those of webhooks, which has the endpoints of all kinds, that requests
// write. The key is last. digest_end is delivery.Cursor.Batch; it was added for e-mails.
const endpointColumns = `url, description, types, include_orders, batch, headers, username, password, created_at, secret, old_secret, old_secret_until,
	state, reason, state_set_at, acknowledged, event_merchant, event_position, event_nonce, feed_history, failures, failing_since, next_attempt_at,
	mail, language, digest_every, sent_at, link_hash, link_until, held, held_until, digest_end, merchant_id, id`

const (
	selectEndpoint          = `SELECT ` + endpointColumns + ` FROM webhooks WHERE merchant_id = $1 AND id = $2 AND mail = $3`
	selectWebhookPage       = `SELECT ` + endpointColumns + ` FROM webhooks WHERE id > $1 AND ($2 = 0 OR state = $2) AND mail = 0 ORDER BY id LIMIT $3+0`
	selectMerchantEndpoints = `SELECT ` + endpointColumns + ` FROM webhooks WHERE merchant_id = $1 AND mail = $2 ORDER BY id`
)

var insertEndpoint, updateEndpoint = func() (insert, update string) {
	columns := strings.Split(endpointColumns, ",")
	var values, changes []string
	for i, column := range columns {
		value := fmt.Sprint("$", i+1)
		values, changes = append(values, value), append(changes, column+" = "+value)
	}
	key := len(columns) - 2
	return `INSERT INTO webhooks (` + endpointColumns + `) VALUES (` + strings.Join(values, ", ") + `)`,
		`UPDATE webhooks SET ` + strings.Join(changes[:key], ", ") + `, revision = revision + 1 WHERE ` + strings.Join(changes[key:], " AND ")
}()

// endpointRow is a row of endpointColumns: a webhook, or an e-mail address, whose cursor, text
// and secret are those of the webhook.
type endpointRow struct {
	webhook.Endpoint
	address digest.Address

	headers, held []byte
	every         int64
	heldUntil     time.Time
}

func (r *endpointRow) dest() []any {
	at := &r.Acknowledged
	return []any{
		&r.URL, &r.Description, sqldb.Int(&r.Types), sqldb.Flag(&r.Orders), sqldb.Int(&r.MaxEvents), &r.headers, &r.Username, (*string)(&r.Password), sqldb.Time(&r.CreatedAt),
		(*string)(&r.Secret), (*string)(&r.OldSecret), sqldb.Time(&r.OldSecretUntil),
		sqldb.Int(&r.State), &r.Reason, sqldb.Time(&r.StateSet), &at.Seq, &at.MerchantID, &at.Position, &at.Nonce, &at.History, sqldb.Int(&r.Failures), sqldb.Time(&r.FailingSince), sqldb.Time(&r.NextAttempt),
		sqldb.Int(&r.Kind), &r.address.Language, &r.every, sqldb.Time(&r.SentAt), &r.address.LinkHash, sqldb.Time(&r.address.LinkUntil),
		&r.held, sqldb.Time(&r.heldUntil), sqldb.Int(&r.Batch), &r.MerchantID, &r.ID,
	}
}

// values returns what dest scans, of an endpoint.
func (r *endpointRow) values() []any {
	at := r.Acknowledged
	return []any{
		r.URL, r.Description, int64(r.Types), flag(r.Orders), max(r.MaxEvents, 1), jsonText(len(r.Headers), r.Headers), r.Username, string(r.Password), r.CreatedAt.Unix(), string(r.Secret), string(r.OldSecret), seconds(r.OldSecretUntil),
		int64(r.State), r.Reason, seconds(r.StateSet), at.Seq, at.MerchantID, at.Position, at.Nonce, at.History, r.Failures, seconds(r.FailingSince), seconds(r.NextAttempt),
		int64(r.Kind), r.address.Language, int64(r.address.Every / time.Second), seconds(r.SentAt), r.address.LinkHash, seconds(r.address.LinkUntil),
		jsonText(len(r.Held), r.Held), heldUntil(r.Held), r.Batch, r.MerchantID, r.ID,
	}
}

// webhookRow returns the row of a webhook.
func webhookRow(e webhook.Endpoint) endpointRow { return endpointRow{Endpoint: e} }

// addressRow returns the row of an e-mail address.
func addressRow(a digest.Address) endpointRow {
	return endpointRow{Endpoint: webhook.Endpoint{Cursor: a.Cursor, URL: a.Email, Secret: a.Secret}, address: a}
}

// webhook returns the webhook of a row that was scanned.
func (r *endpointRow) webhook() webhook.Endpoint {
	e := r.Endpoint
	e.Headers, e.Held = ofJSON[map[string]delivery.Secret](r.headers), ofJSON[[]delivery.Held](r.held)
	return e
}

// toAddress returns the e-mail address of a row that was scanned.
func (r *endpointRow) toAddress() digest.Address {
	a, e := r.address, r.webhook()
	a.Cursor, a.Email, a.Secret = e.Cursor, e.URL, e.Secret
	a.Every = time.Duration(r.every) * time.Second
	return a
}

// endpoint returns the cursor of a row that was scanned, and the endpoint as its sender has it.
func (r *endpointRow) endpoint() (delivery.Cursor, any) {
	if r.Kind == digest.Kind {
		a := r.toAddress()
		return a.Cursor, a
	}
	e := r.webhook()
	return e.Cursor, e
}

// jsonText returns n headers or held merchants of an endpoint as they are stored.
func jsonText(n int, values any) string {
	if n == 0 {
		return ""
	}
	text, _ := json.Marshal(values) // texts, numbers and times have a JSON form
	return string(text)
}

// ofJSON returns the value of a stored text.
func ofJSON[T any](text []byte) (value T) {
	if len(text) > 0 {
		_ = json.Unmarshal(text, &value) // jsonText has made it
	}
	return value
}

// heldUntil returns what is stored of the next attempt for a held merchant.
func heldUntil(held []delivery.Held) any {
	if len(held) == 0 {
		return nil
	}
	return held[0].NextAttempt.Unix()
}

// readEndpoint returns a row that was scanned, or sql.ErrNoRows.
func readEndpoint(ctx context.Context, q sqldb.Querier, text string, key delivery.Key) (*endpointRow, error) {
	r := new(endpointRow)
	return r, q.QueryRow(ctx, text, []any{key.MerchantID, key.ID, int64(key.Kind)}, r.dest()...)
}

// readEndpoints returns the endpoints that a function makes of rows.
func readEndpoints[E any](ctx context.Context, db *DB, text string, args []any, endpoint func(*endpointRow) E) (_ []E, err error) {
	defer db.observe(&ctx, "webhooks")(&err)
	endpoints, err := sqldb.All(ctx, db.sql, text, args, func(rows sqldb.Rows) (E, error) {
		r := new(endpointRow)
		err := rows.Scan(r.dest()...)
		return endpoint(r), err
	})
	return endpoints, db.readError("list webhooks", err, nil)
}

// Webhook implements webhook.Store.
func (db *DB) Webhook(ctx context.Context, key delivery.Key) (_ webhook.Endpoint, err error) {
	defer db.observe(&ctx, "webhook")(&err)
	r, err := readEndpoint(ctx, db.sql, selectEndpoint, key)
	return r.webhook(), db.readError("read webhook", err, delivery.ErrNotFound)
}

// Webhooks implements webhook.Store.
func (db *DB) Webhooks(ctx context.Context, merchantID int64) ([]webhook.Endpoint, error) {
	return readEndpoints(ctx, db, selectMerchantEndpoints, []any{merchantID, int64(webhook.Kind)}, (*endpointRow).webhook)
}

// WebhookPage implements webhook.Store.
func (db *DB) WebhookPage(ctx context.Context, state delivery.State, after int64, limit int) ([]webhook.Endpoint, error) {
	return readEndpoints(ctx, db, selectWebhookPage, []any{after, int64(state), limit}, (*endpointRow).webhook)
}

// Addresses implements digest.Store.
func (db *DB) Addresses(ctx context.Context, merchantID int64) ([]digest.Address, error) {
	return readEndpoints(ctx, db, selectMerchantEndpoints, []any{merchantID, int64(digest.Kind)}, (*endpointRow).toAddress)
}

// LastMail implements digest.Store. It names all merchants: its result is shown to nobody.
func (db *DB) LastMail(ctx context.Context) (last time.Time, err error) {
	defer db.observe(&ctx, "last_mail")(&err)
	err = db.sql.QueryRow(ctx, `SELECT MAX(sent_at) FROM webhooks WHERE mail = 1`, nil, sqldb.Time(&last))
	return last, db.readError("find the last e-mail", err, nil)
}

// InWebhookTx implements webhook.Store.
func (db *DB) InWebhookTx(ctx context.Context, fn func(webhook.Tx) error) error {
	return db.inTx(ctx, "webhook", func(t *tx) error {
		return fn(endpointTx[webhook.Endpoint]{t, webhookRow, (*endpointRow).webhook, webhook.MaxEndpoints, nil})
	})
}

// InAddressTx implements digest.Store.
func (db *DB) InAddressTx(ctx context.Context, fn func(digest.Tx) error) error {
	return db.inTx(ctx, "webhook", func(t *tx) error {
		return fn(addressTx{endpointTx[digest.Address]{t, addressRow, (*endpointRow).toAddress, digest.MaxAddresses, digest.ErrAddressExists}})
	})
}

// endpointTx implements delivery.Tx for a kind of endpoints.
type endpointTx[E any] struct {
	*tx
	row  func(E) endpointRow
	of   func(*endpointRow) E
	max  int64
	same error // for an endpoint with the URL of another one; nil: there may be several
}

// NewestEvent implements delivery.Tx.
func (t endpointTx[E]) NewestEvent(ctx context.Context, merchantID int64) (int64, error) {
	var last int64
	err := t.QueryRow(ctx, `SELECT last_event FROM merchants WHERE id = $1`, []any{merchantID}, &last)
	return last, noRow(err, delivery.ErrNoMerchant)
}

// Add implements delivery.Tx. It locks the counter first, so that the count is right.
func (t endpointTx[E]) Add(ctx context.Context, e E) (id int64, err error) {
	r := t.row(e)
	if err := t.QueryRow(ctx, `UPDATE counters SET last = last + 1 WHERE name = 'webhook' RETURNING last`, nil, &r.ID); err != nil {
		return 0, err
	}
	var count, equal int64
	err = t.QueryRow(ctx, `SELECT COUNT(*), COUNT(CASE WHEN url = $1 THEN 1 END) FROM webhooks WHERE merchant_id = $2 AND mail = $3`,
		[]any{r.URL, r.MerchantID, int64(r.Kind)}, &count, &equal)
	switch {
	case err != nil:
		return 0, err
	case t.same != nil && equal > 0:
		return 0, t.same
	case count >= t.max:
		return 0, delivery.ErrTooMany
	}
	_, err = t.Exec(ctx, insertEndpoint, r.values()...)
	return r.ID, err
}

// Lock implements delivery.Tx.
func (t endpointTx[E]) Lock(ctx context.Context, key delivery.Key) (E, error) {
	r, err := readEndpoint(ctx, t, selectEndpoint+t.db.dialect.RowLock, key)
	return t.of(r), noRow(err, delivery.ErrNotFound)
}

// Update implements delivery.Tx.
func (t endpointTx[E]) Update(ctx context.Context, e E) error {
	r := t.row(e)
	return t.update(ctx, delivery.ErrNotFound, updateEndpoint, r.values()...)
}

// Remove implements delivery.Tx.
func (t endpointTx[E]) Remove(ctx context.Context, key delivery.Key) error {
	if _, err := t.Exec(ctx, `DELETE FROM webhook_deliveries WHERE merchant_id = $1 AND webhook_id = $2`, key.MerchantID, key.ID); err != nil {
		return err
	}
	return t.update(ctx, delivery.ErrNotFound, `DELETE FROM webhooks WHERE merchant_id = $1 AND id = $2`, key.MerchantID, key.ID)
}

// addressTx implements digest.Tx.
type addressTx struct{ endpointTx[digest.Address] }

const (
	linkActions = `('` + string(digest.AuditAdded) + `', '` + string(digest.AuditLink) + `', '` + string(digest.AuditNotSent) + `')`
	selectLinks = `SELECT COUNT(CASE WHEN detail LIKE $1 AND action <> $2 THEN 1 END), COUNT(CASE WHEN action <> $2 THEN 1 END),
			COUNT(CASE WHEN detail LIKE $1 AND action = $2 THEN 1 END), COUNT(CASE WHEN action = $2 THEN 1 END)
		FROM audit WHERE merchant_id = $3 AND at > $4 AND action IN ` + linkActions
)

// Links implements digest.Tx.
func (t addressTx) Links(ctx context.Context, merchantID int64, detail string, after time.Time) (l digest.Links, err error) {
	err = t.QueryRow(ctx, selectLinks, []any{detail + "%", string(digest.AuditNotSent), merchantID, after.Unix()},
		&l.ToAddress, &l.All, &l.ToAddressFailed, &l.Failed)
	return l, err
}
