package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// Statements that find the entries for the janitor, the oldest first. They name no
// merchant: their rows are not shown to anyone. The first two conditions repeat
// those of the index invoices_to_clean, without which SQLite would not use it.
const (
	selectToClean = `SELECT i.merchant_id, i.legacy_id, o.reference, i.id, i.name
	FROM invoices i
	JOIN orders o ON o.merchant_id = i.merchant_id AND o.legacy_id = i.legacy_id
	WHERE i.purged_at IS NULL AND i.status <> ` + InvoiceActive + ` AND `
	selectExpiredReservations = selectToClean + `i.status IN (` + InvoiceReserved + `, ` + InvoiceExpired + `)
	AND (i.status = ` + InvoiceExpired + ` OR i.created_at < $1)
	ORDER BY i.created_at, i.id LIMIT $2+0`
	selectDeletedInvoices = selectToClean + `i.status = ` + InvoiceDeleted + ` AND i.deleted_at < $1
	ORDER BY i.created_at, i.id LIMIT $2+0`
)

// ExpiredReservations implements order.Store.
func (db *DB) ExpiredReservations(ctx context.Context, before time.Time, limit int) ([]order.StoredInvoice, error) {
	return db.toClean(ctx, selectExpiredReservations, before, limit)
}

// DeletedInvoices implements order.Store.
func (db *DB) DeletedInvoices(ctx context.Context, before time.Time, limit int) ([]order.StoredInvoice, error) {
	return db.toClean(ctx, selectDeletedInvoices, before, limit)
}

func (db *DB) toClean(ctx context.Context, text string, before time.Time, limit int) ([]order.StoredInvoice, error) {
	defer db.timed("clean")()
	invoices, err := sqldb.All(ctx, db.sql, text, []any{before.Unix(), limit}, func(rows sqldb.Rows) (order.StoredInvoice, error) {
		var i order.StoredInvoice
		err := rows.Scan(&i.MerchantID, &i.OrderLegacyID, &i.Reference, &i.ID, &i.Name)
		return i, err
	})
	return invoices, db.readError("find invoices to clean up", err, nil)
}

// ExpireReservation implements order.Store.
func (db *DB) ExpireReservation(ctx context.Context, invoice order.StoredInvoice, at time.Time) (bool, error) {
	expired := false
	err := db.inTx(ctx, "clean", func(t *tx) error {
		o, err := t.LockOrder(ctx, invoice.MerchantID, order.ByLegacyID(invoice.OrderLegacyID))
		if err != nil {
			return err
		}
		var status string
		err = t.QueryRow(ctx, `SELECT CAST(status AS TEXT) FROM invoices WHERE merchant_id = $1 AND legacy_id = $2 AND id = $3`,
			[]any{invoice.MerchantID, invoice.OrderLegacyID, invoice.ID}, &status)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		expired = status == InvoiceReserved || status == InvoiceExpired
		if status != InvoiceReserved {
			return nil
		}
		if _, err := t.Exec(ctx, `UPDATE invoices SET status = `+InvoiceExpired+`, deleted_at = $1
			WHERE merchant_id = $2 AND legacy_id = $3 AND id = $4 AND status = `+InvoiceReserved,
			at.Unix(), invoice.MerchantID, invoice.OrderLegacyID, invoice.ID); err != nil {
			return err
		}
		return t.freeSlot(ctx, o)
	})
	return expired, err
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
