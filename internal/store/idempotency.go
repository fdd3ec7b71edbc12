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
	"merchantorders/internal/store/sqldb"
)

// selectKey reads a key that was taken before.
const selectKey = `SELECT request_digest, created_at, legacy_id, invoice_id, response FROM idempotency_keys
	WHERE merchant_id = $1 AND key = $2`

// ReserveIdempotencyKey implements order.Tx.
func (t *tx) ReserveIdempotencyKey(ctx context.Context, merchantID int64, key string, request [sha256.Size]byte, at time.Time) error {
	// Whoever inserts the same key meanwhile is waited for here.
	taken, err := changed(t.Exec(ctx, `INSERT INTO idempotency_keys (merchant_id, key, request_digest, created_at)
		VALUES ($1, $2, $3, $4) ON CONFLICT (merchant_id, key) DO NOTHING`, merchantID, key, request[:], at.Unix()))
	if err != nil || taken {
		return err
	}
	var earlier, answer []byte
	var takenAt int64
	var number, invoiceID sql.NullInt64
	err = t.QueryRow(ctx, selectKey+t.db.dialect.RowLock, []any{merchantID, key}, &earlier, &takenAt, &number, &invoiceID, &answer)
	if errors.Is(err, sql.ErrNoRows) {
		// Forgotten between the two statements: it was older than is kept.
		return fmt.Errorf("%w: a key was forgotten just now", order.ErrUnavailable)
	}
	if err != nil {
		return err
	}
	free := !time.Unix(takenAt, 0).Add(order.IdempotencyRetention).After(at)
	if !free && answer == nil {
		held, err := t.reserved(ctx, merchantID, number.Int64, invoiceID.Int64)
		if err != nil {
			return err
		}
		free = !held
	}
	switch {
	case free:
		return expectOneRow(t.Exec(ctx, `UPDATE idempotency_keys
			SET request_digest = $1, created_at = $2, legacy_id = NULL, invoice_id = NULL, response = NULL
			WHERE merchant_id = $3 AND key = $4`, request[:], at.Unix(), merchantID, key))
	case !bytes.Equal(earlier, request[:]):
		return order.ErrIdempotencyKeyReused
	case answer == nil:
		return order.ErrIdempotencyKeyInUse
	}
	return &order.ReplayError{Response: answer}
}

// selectReserved finds a place for a file that is on its way.
const selectReserved = `SELECT id FROM invoices
	WHERE merchant_id = $1 AND legacy_id = $2 AND id = $3 AND status = ` + InvoiceReserved

// reserved reports whether the file of a reservation is still on its way.
func (t *tx) reserved(ctx context.Context, merchantID, number, id int64) (bool, error) {
	err := t.QueryRow(ctx, selectReserved, []any{merchantID, number, id}, &id)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// HoldIdempotencyKey implements order.Tx.
func (t *tx) HoldIdempotencyKey(ctx context.Context, o order.LockedOrder, key string, invoiceID int64) error {
	return expectOneRow(t.Exec(ctx, `UPDATE idempotency_keys SET legacy_id = $1, invoice_id = $2
		WHERE merchant_id = $3 AND key = $4`, o.LegacyID, invoiceID, o.MerchantID, key))
}

// SaveResponse implements order.Tx.
func (t *tx) SaveResponse(ctx context.Context, merchantID int64, key string, request [sha256.Size]byte, answer []byte) error {
	return expectOneRow(t.Exec(ctx, `UPDATE idempotency_keys SET response = $1
		WHERE merchant_id = $2 AND key = $3 AND request_digest = $4 AND response IS NULL`, answer, merchantID, key, request[:]))
}

// takenKey names a key of a merchant.
type takenKey struct {
	merchantID int64
	key        string
}

// DeleteIdempotencyRecords implements order.Store. Each merchant's keys go in a
// transaction of their own, since merchants may lie on different servers.
func (db *DB) DeleteIdempotencyRecords(ctx context.Context, before time.Time, limit int) (int, error) {
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

// selectOldKeys finds the keys to forget, the oldest first, whosever they are:
// nothing of them is shown to anyone.
const selectOldKeys = `SELECT merchant_id, key FROM idempotency_keys WHERE created_at <= $1 ORDER BY created_at LIMIT $2+0`

// oldKeys returns up to limit keys taken at or before a moment.
func (db *DB) oldKeys(ctx context.Context, before time.Time, limit int) ([]takenKey, error) {
	defer db.timed("forget")()
	old, err := sqldb.All(ctx, db.sql, selectOldKeys, []any{before.Unix(), limit}, func(rows sqldb.Rows) (takenKey, error) {
		var k takenKey
		err := rows.Scan(&k.merchantID, &k.key)
		return k, err
	})
	if err != nil {
		return nil, db.wrap(fmt.Errorf("find answers to forget: %w", err))
	}
	return old, nil
}

// forget removes keys, but for those that were taken anew meanwhile.
func (t *tx) forget(ctx context.Context, keys []takenKey, before time.Time) error {
	for _, k := range keys {
		if _, err := t.Exec(ctx, `DELETE FROM idempotency_keys WHERE merchant_id = $1 AND key = $2 AND created_at <= $3`,
			k.merchantID, k.key, before.Unix()); err != nil {
			return err
		}
	}
	return nil
}
