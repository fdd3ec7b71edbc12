package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// Statements that find what is to be cleaned up, the oldest first. They serve
// the service itself and name no merchant: nothing of what they find is shown
// to anyone. That none is active is said in the words of the index, without
// which SQLite does not use it and reads every invoice there is.
const (
	selectToClean = `SELECT i.merchant_id, i.legacy_id, o.reference, i.id, i.name
	FROM invoices i
	JOIN orders o ON o.merchant_id = i.merchant_id AND o.legacy_id = i.legacy_id
	WHERE i.purged_at IS NULL AND i.status <> ` + InvoiceActive + ` AND `
	selectStale = selectToClean + `i.status IN (` + InvoiceReserved + `, ` + InvoiceExpired + `)
	AND (i.status = ` + InvoiceExpired + ` OR i.created_at < $1)
	ORDER BY i.created_at, i.id LIMIT $2+0`
	selectDeleted = selectToClean + `i.status = ` + InvoiceDeleted + ` AND i.deleted_at < $1
	ORDER BY i.created_at, i.id LIMIT $2+0`
)

// ExpiredReservations implements order.Store.
func (db *DB) ExpiredReservations(ctx context.Context, before time.Time, limit int) ([]order.StoredInvoice, error) {
	return db.toClean(ctx, selectStale, before, limit)
}

// DeletedInvoices implements order.Store.
func (db *DB) DeletedInvoices(ctx context.Context, before time.Time, limit int) ([]order.StoredInvoice, error) {
	return db.toClean(ctx, selectDeleted, before, limit)
}

func (db *DB) toClean(ctx context.Context, text string, before time.Time, limit int) ([]order.StoredInvoice, error) {
	defer db.timed("clean")()
	var found []order.StoredInvoice
	err := sqldb.Each(ctx, db.sql, text, []any{before.Unix(), limit}, func(rows sqldb.Rows) error {
		var i order.StoredInvoice
		err := rows.Scan(&i.MerchantID, &i.OrderLegacyID, &i.Reference, &i.ID, &i.Name)
		found = append(found, i)
		return err
	})
	if err != nil {
		return nil, db.wrap(fmt.Errorf("find files to clean up: %w", err))
	}
	return found, nil
}

// ExpireReservation implements order.Store.
func (db *DB) ExpireReservation(ctx context.Context, invoice order.StoredInvoice, at time.Time) (bool, error) {
	abandoned := false
	err := db.inTx(ctx, "clean", func(t *tx) error {
		head, err := t.LockOrder(ctx, invoice.MerchantID, order.ByLegacyID(invoice.OrderLegacyID))
		if err != nil {
			return err
		}
		var status string
		err = t.QueryRow(ctx, `SELECT CAST(status AS TEXT) FROM invoices WHERE merchant_id = $1 AND legacy_id = $2 AND id = $3`,
			[]any{invoice.MerchantID, invoice.OrderLegacyID, invoice.ID}, &status)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		abandoned = status == InvoiceReserved || status == InvoiceExpired
		if status != InvoiceReserved {
			return nil
		}
		if _, err := t.Exec(ctx, `UPDATE invoices SET status = `+InvoiceExpired+`, deleted_at = $1
			WHERE merchant_id = $2 AND legacy_id = $3 AND id = $4 AND status = `+InvoiceReserved,
			at.Unix(), invoice.MerchantID, invoice.OrderLegacyID, invoice.ID); err != nil {
			return err
		}
		return t.freePlace(ctx, head)
	})
	return abandoned, err
}

// MarkPurged implements order.Store.
func (db *DB) MarkPurged(ctx context.Context, invoice order.StoredInvoice, at time.Time) error {
	return db.inTx(ctx, "clean", func(t *tx) error {
		_, err := t.Exec(ctx, `UPDATE invoices SET purged_at = $1
			WHERE merchant_id = $2 AND legacy_id = $3 AND id = $4 AND status IN (`+InvoiceDeleted+`, `+InvoiceExpired+`)`,
			at.Unix(), invoice.MerchantID, invoice.OrderLegacyID, invoice.ID)
		return err
	})
}
