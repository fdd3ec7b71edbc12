package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"merchantorders/internal/order"
)

// selectKey reads a key that was taken before, and whether the reservation that
// it was left for is still there.
const selectKey = `SELECT k.request, k.taken_at, k.answer,
		CASE WHEN EXISTS (SELECT 1 FROM invoices i
			WHERE i.merchant_id = $1 AND i.order_number = k.order_number AND i.id = k.invoice_id
				AND i.status = ` + statusReserved + `) THEN 1 ELSE 0 END
	FROM idempotency_keys k WHERE k.merchant_id = $1 AND k.key = $2`

// TakeKey implements order.Tx.
func (t *tx) TakeKey(ctx context.Context, merchantID int64, key string, request [sha256.Size]byte, at time.Time) error {
	// Whoever inserts the same key meanwhile is waited for here.
	taken, err := changed(t.exec(ctx, `INSERT INTO idempotency_keys (merchant_id, key, request, taken_at)
		VALUES ($1, $2, $3, $4) ON CONFLICT (merchant_id, key) DO NOTHING`, merchantID, key, request[:], at.Unix()))
	if err != nil || taken {
		return err
	}
	var earlier, answer []byte
	var takenAt, held int64
	err = t.row(ctx, selectKey+t.db.dialect.forUpdate, []any{merchantID, key}, &earlier, &takenAt, &answer, &held)
	if errors.Is(err, sql.ErrNoRows) {
		// Forgotten between the two statements: it was older than is kept.
		return fmt.Errorf("%w: a key was forgotten just now", order.ErrUnavailable)
	}
	if err != nil {
		return err
	}
	expired := !time.Unix(takenAt, 0).Add(order.AnswerLife).After(at)
	switch lapsed := answer == nil && held == 0; {
	case expired, lapsed:
		return must(changed(t.exec(ctx, `UPDATE idempotency_keys
			SET request = $1, taken_at = $2, order_number = NULL, invoice_id = NULL, answer = NULL
			WHERE merchant_id = $3 AND key = $4`, request[:], at.Unix(), merchantID, key)))
	case !bytes.Equal(earlier, request[:]):
		return order.ErrKeyReused
	case answer == nil:
		return order.ErrKeyRunning
	}
	return &order.Repeated{Answer: answer}
}

// HoldKey implements order.Tx.
func (t *tx) HoldKey(ctx context.Context, o order.Head, key string, invoiceID int64) error {
	return must(changed(t.exec(ctx, `UPDATE idempotency_keys SET order_number = $1, invoice_id = $2
		WHERE merchant_id = $3 AND key = $4`, o.Number, invoiceID, o.MerchantID, key)))
}

// KeepAnswer implements order.Tx.
func (t *tx) KeepAnswer(ctx context.Context, merchantID int64, key string, request [sha256.Size]byte, answer []byte) error {
	return must(changed(t.exec(ctx, `UPDATE idempotency_keys SET answer = $1
		WHERE merchant_id = $2 AND key = $3 AND request = $4 AND answer IS NULL`, answer, merchantID, key, request[:])))
}

// takenKey names a key of a merchant.
type takenKey struct {
	merchantID int64
	key        string
}

// ForgetAnswers implements order.Store. Each merchant's keys go in a
// transaction of their own, since merchants may lie on different servers.
func (db *DB) ForgetAnswers(ctx context.Context, before time.Time, limit int) (int, error) {
	old, err := db.oldKeys(ctx, before, limit)
	if err != nil {
		return 0, err
	}
	var merchants []int64
	byMerchant := make(map[int64][]takenKey)
	for _, k := range old {
		if byMerchant[k.merchantID] == nil {
			merchants = append(merchants, k.merchantID)
		}
		byMerchant[k.merchantID] = append(byMerchant[k.merchantID], k)
	}
	forgotten := 0
	for _, id := range merchants {
		err := db.inTx(ctx, "forget", func(t *tx) error { return t.forget(ctx, byMerchant[id], before) })
		if err != nil {
			return forgotten, err
		}
		forgotten += len(byMerchant[id])
	}
	return forgotten, nil
}

// oldKeys returns up to limit keys taken at or before a moment, the oldest
// first, whosever they are: nothing of them is shown to anyone.
func (db *DB) oldKeys(ctx context.Context, before time.Time, limit int) ([]takenKey, error) {
	defer db.timed("forget")()
	old, err := all(ctx, db.read, `SELECT merchant_id, key FROM idempotency_keys WHERE taken_at <= $1
		ORDER BY taken_at LIMIT $2+0`, []any{before.Unix(), limit}, func(rows *sql.Rows) (takenKey, error) {
		var k takenKey
		err := rows.Scan(&k.merchantID, &k.key)
		return k, err
	})
	if err != nil {
		return nil, db.failure(fmt.Errorf("find answers to forget: %w", err))
	}
	return old, nil
}

// forget removes keys, but for those that were taken anew meanwhile.
func (t *tx) forget(ctx context.Context, keys []takenKey, before time.Time) error {
	for _, k := range keys {
		if _, err := t.exec(ctx, `DELETE FROM idempotency_keys WHERE merchant_id = $1 AND key = $2 AND taken_at <= $3`,
			k.merchantID, k.key, before.Unix()); err != nil {
			return err
		}
	}
	return nil
}
