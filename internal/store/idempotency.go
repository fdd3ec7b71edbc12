package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

const selectIdempotencyRecord = `SELECT request_digest, created_at, legacy_id, invoice_id, response FROM idempotency_keys
	WHERE merchant_id = $1 AND key = $2 AND line = $3`

const selectReservation = `SELECT COUNT(*) FROM invoices
	WHERE merchant_id = $1 AND legacy_id = $2 AND id = $3 AND status = ` + InvoiceReserved

// ReserveIdempotencyKey implements order.Tx.
func (t *tx) ReserveIdempotencyKey(ctx context.Context, merchantID int64, key order.Key, at time.Time) error {
	// Waits for another transaction that has inserted the same key.
	n, err := t.Exec(ctx, `INSERT INTO idempotency_keys (merchant_id, key, line, request_digest, created_at)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT (merchant_id, key, line) DO NOTHING`, merchantID, key.Text, key.Line, key.Digest[:], at.Unix())
	if err != nil || n > 0 {
		return err
	}
	var recorded, response []byte
	var createdAt time.Time
	var legacyID, invoiceID int64 // 0: none
	err = t.QueryRow(ctx, selectIdempotencyRecord+t.db.dialect.RowLock, []any{merchantID, key.Text, key.Line},
		&recorded, sqldb.Time(&createdAt), sqldb.IntOrZero(&legacyID), sqldb.IntOrZero(&invoiceID), &response)
	if errors.Is(err, sql.ErrNoRows) {
		// Deleted between the two statements because it was too old.
		return fmt.Errorf("the database is %w: an old idempotency record was deleted at this moment; retry", order.ErrUnavailable)
	}
	if err != nil {
		return err
	}
	expired := !createdAt.Add(order.IdempotencyRetention).After(at)
	if !expired && response == nil {
		var uploads int64 // in progress
		err := t.QueryRow(ctx, selectReservation, []any{merchantID, legacyID, invoiceID}, &uploads)
		if err != nil {
			return err
		}
		expired = uploads == 0
	}
	switch {
	case expired:
		return t.Later(ctx, errNoRow, `UPDATE idempotency_keys
			SET request_digest = $1, created_at = $2, legacy_id = NULL, invoice_id = NULL, response = NULL
			WHERE merchant_id = $3 AND key = $4 AND line = $5`, key.Digest[:], at.Unix(), merchantID, key.Text, key.Line)
	case !bytes.Equal(recorded, key.Digest[:]):
		return order.ErrIdempotencyKeyReused
	case response == nil:
		return order.ErrIdempotencyKeyInUse
	}
	return &order.ReplayError{Response: response}
}

// HoldIdempotencyKey implements order.Tx.
func (t *tx) HoldIdempotencyKey(ctx context.Context, o order.LockedOrder, key order.Key, invoiceID int64) error {
	return t.Later(ctx, errNoRow, `UPDATE idempotency_keys SET legacy_id = $1, invoice_id = $2
		WHERE merchant_id = $3 AND key = $4 AND line = $5`, o.LegacyID, invoiceID, o.MerchantID, key.Text, key.Line)
}

// SaveResponse implements order.Tx.
func (t *tx) SaveResponse(ctx context.Context, merchantID int64, key order.Key, response []byte) error {
	// The order of the change, so that the record goes when the order is erased.
	return t.Later(ctx, errNoRow, `UPDATE idempotency_keys SET response = $1, legacy_id = COALESCE($2, legacy_id)
		WHERE merchant_id = $3 AND key = $4 AND line = $5 AND request_digest = $6 AND response IS NULL`,
		response, idOrNull(t.lockedOrder), merchantID, key.Text, key.Line, key.Digest[:])
}

const countIdempotencyRecords = `SELECT count(*) FROM (SELECT 1 FROM idempotency_keys WHERE merchant_id = $1 AND (line > 0) = ($2 > 0) LIMIT $3+0) AS records`

// CountIdempotencyRecords implements order.KeyStore.
func (db *DB) CountIdempotencyRecords(ctx context.Context, merchantID int64, lines bool, limit int) (n int, err error) {
	defer db.observe(&ctx, "count_keys")(&err)
	err = db.sql.QueryRow(ctx, countIdempotencyRecords, []any{merchantID, flag(lines), limit}, sqldb.Int(&n))
	return n, db.readError("count idempotency records", err, nil)
}

// selectOldIdempotencyKeys finds the records to delete, the oldest first. It
// names no merchant: its rows are not shown to anyone.
const selectOldIdempotencyKeys = `SELECT merchant_id, key, line FROM idempotency_keys WHERE created_at <= $1 ORDER BY created_at LIMIT $2+0`

// DeleteIdempotencyRecords implements order.Store. It uses one transaction for
// each merchant, because merchants may be on different nodes of a cluster.
func (db *DB) DeleteIdempotencyRecords(ctx context.Context, before time.Time, limit int) (int, error) {
	type record struct {
		merchantID int64
		key        order.Key
	}
	end := db.observe(&ctx, "forget")
	records, err := sqldb.All(ctx, db.sql, selectOldIdempotencyKeys, []any{before.Unix(), limit}, func(rows sqldb.Rows) (r record, err error) {
		err = rows.Scan(&r.merchantID, &r.key.Text, &r.key.Line)
		return r, err
	})
	end(&err)
	if err != nil {
		return 0, db.readError("find old idempotency records", err, nil)
	}
	byMerchant := make(map[int64][]order.Key)
	for _, r := range records {
		byMerchant[r.merchantID] = append(byMerchant[r.merchantID], r.key)
	}
	deleted := 0
	for id, keys := range byMerchant {
		err := db.inTx(ctx, "forget", func(t *tx) error {
			for _, key := range keys {
				// Unless it has been used again since it was found.
				if _, err := t.Exec(ctx, `DELETE FROM idempotency_keys WHERE merchant_id = $1 AND key = $2 AND line = $3 AND created_at <= $4`,
					id, key.Text, key.Line, before.Unix()); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return deleted, err
		}
		deleted += len(keys)
	}
	return deleted, nil
}
