package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/search"
	"merchantorders/internal/store/sqldb"
)

// Statuses of an invoice entry, as they are written in statements. The database
// stores the numbers: append, never reorder. A released reservation has no entry.
const (
	InvoiceReserved = "1" // holds a slot and a name; its file is being uploaded
	InvoiceActive   = "2" // its file is durable and shown
	InvoiceDeleted  = "3" // soft-deleted; its file is there until the purge
	InvoiceExpired  = "4" // an expired reservation; its name stays used
)

// invoiceColumns are the columns of invoiceDest.
const invoiceColumns = `i.id, i.name, i.size, i.sha256, i.created_at, i.kind, i.number, i.mark, i.link`

// invoiceDest returns the Scan destinations of invoiceColumns. In an outer join all may be NULL.
func invoiceDest(i *order.Invoice) []any {
	return []any{
		sqldb.IntOrZero(&i.ID), sqldb.OrEmpty(&i.Name), sqldb.IntOrZero(&i.Size), &i.SHA256, sqldb.Time(&i.CreatedAt),
		sqldb.OrEmpty(&i.Kind), sqldb.OrEmpty(&i.Number), sqldb.OrEmpty(&i.Mark), sqldb.OrEmpty(&i.Link),
	}
}

// InvoiceFile implements order.Store.
func (db *DB) InvoiceFile(ctx context.Context, merchantID int64, reference, name string) (i order.Invoice, err error) {
	defer db.observe(&ctx, "invoice")(&err)
	err = db.sql.QueryRow(ctx, `SELECT `+invoiceColumns+`
		FROM orders o
		JOIN invoices i ON i.merchant_id = o.merchant_id AND i.legacy_id = o.legacy_id
		WHERE o.merchant_id = $1 AND o.reference = $2 AND i.name = $3 AND i.status = `+InvoiceActive,
		[]any{merchantID, reference, name}, invoiceDest(&i)...)
	return i, db.readError("read invoice", err, order.ErrInvoiceNotFound)
}

const selectInvoiceByID = `SELECT o.reference, m.suspended_at, ` + invoiceColumns + `
	FROM orders o
	JOIN merchants m ON m.id = o.merchant_id
	JOIN invoices i ON i.merchant_id = o.merchant_id AND i.legacy_id = o.legacy_id
	WHERE o.merchant_id = $1 AND o.legacy_id = $2 AND i.id = $3 AND i.status = ` + InvoiceActive

// InvoiceByID implements order.Store.
func (db *DB) InvoiceByID(ctx context.Context, merchantID, legacyID, invoiceID int64) (_ string, _ order.Invoice, err error) {
	defer db.observe(&ctx, "invoice")(&err)
	var reference string
	var suspended bool
	var i order.Invoice
	err = db.sql.QueryRow(ctx, selectInvoiceByID, []any{merchantID, legacyID, invoiceID}, append([]any{&reference, sqldb.NotNull(&suspended)}, invoiceDest(&i)...)...)
	switch {
	case err != nil:
		return "", order.Invoice{}, db.readError("read invoice", err, order.ErrInvoiceNotFound)
	case suspended:
		return "", order.Invoice{}, order.ErrMerchantSuspended
	}
	return reference, i, nil
}

// Statements that read the entries of an order. None reads more than a bounded
// number of them, because the write transaction of SQLite blocks every merchant.
const (
	selectActiveInvoices = `SELECT ` + invoiceColumns + ` FROM invoices i
		WHERE i.merchant_id = $1 AND i.legacy_id = $2 AND i.status = ` + InvoiceActive + ` ORDER BY i.id`
	selectInvoiceByName = `SELECT (SELECT COUNT(*) FROM invoices WHERE merchant_id = $1 AND legacy_id = $2 AND name = $3), COUNT(*) FROM (
		SELECT 1 FROM invoices WHERE merchant_id = $1 AND legacy_id = $2 AND status <> ` + InvoiceExpired + ` LIMIT $4+0) AS files`
)

// Invoices implements order.Tx.
func (t *tx) Invoices(ctx context.Context, o order.LockedOrder) ([]order.Invoice, error) {
	return activeInvoices(ctx, t, o)
}

func activeInvoices(ctx context.Context, q sqldb.Querier, o order.LockedOrder) ([]order.Invoice, error) {
	return sqldb.All(ctx, q, selectActiveInvoices,
		[]any{o.MerchantID, o.LegacyID}, func(rows sqldb.Rows) (i order.Invoice, err error) {
			err = rows.Scan(invoiceDest(&i)...)
			return i, err
		})
}

// InvoiceNameUsed implements order.Tx.
func (t *tx) InvoiceNameUsed(ctx context.Context, o order.LockedOrder, name string) (bool, error) {
	var named, files int64
	err := t.QueryRow(ctx, selectInvoiceByName, []any{o.MerchantID, o.LegacyID, name, order.MaxInvoicesEver}, &named, &files)
	if err == nil && files >= order.MaxInvoicesEver {
		err = order.ErrTooManyFiles
	}
	return named > 0, err
}

// ReserveInvoice implements order.Tx. The UPDATE itself enforces the limit,
// whatever the caller has checked before.
func (t *tx) ReserveInvoice(ctx context.Context, o order.LockedOrder, invoice order.Invoice) (int64, error) {
	err := t.Later(ctx, order.ErrTooManyFiles, `UPDATE orders SET active_invoices = active_invoices + 1
		WHERE merchant_id = $1 AND legacy_id = $2 AND active_invoices < $3`,
		o.MerchantID, o.LegacyID, order.MaxInvoices)
	if err != nil {
		return 0, err
	}
	var id int64
	if err := t.QueryRow(ctx, t.db.dialect.NextInvoiceID, nil, &id); err != nil {
		return 0, err
	}
	err = t.Later(ctx, nil, `INSERT INTO invoices (merchant_id, legacy_id, id, name, status, size, sha256, created_at, kind, number, mark, link)
		VALUES ($1, $2, $3, $4, `+InvoiceReserved+`, $5, $6, $7, $8, $9, $10, $11)`,
		o.MerchantID, o.LegacyID, id, invoice.Name, invoice.Size, invoice.SHA256[:], invoice.CreatedAt.Unix(),
		invoice.Kind, invoice.Number, invoice.Mark, invoice.Link)
	return id, err
}

// ActivateInvoice implements order.Tx.
func (t *tx) ActivateInvoice(ctx context.Context, o order.LockedOrder, invoice order.Invoice, cause order.Cause) error {
	err := t.Later(ctx, order.ErrInvoiceNotFound, `UPDATE invoices SET status = `+InvoiceActive+`
		WHERE merchant_id = $1 AND legacy_id = $2 AND id = $3 AND status = `+InvoiceReserved, o.MerchantID, o.LegacyID, invoice.ID)
	if err == nil && invoice.Number+invoice.Mark != "" {
		err = Renumber(ctx, t, t.db.dialect, o)
	}
	if err != nil {
		return err
	}
	return t.recordInvoice(ctx, o, 0, order.InvoiceUploaded, invoice.ID, cause)
}

// DeleteInvoice implements order.Tx.
func (t *tx) DeleteInvoice(ctx context.Context, o order.LockedOrder, id int64, cause order.Cause) error {
	err := t.Later(ctx, order.ErrInvoiceNotFound, `UPDATE invoices SET status = `+InvoiceDeleted+`, deleted_at = $1
		WHERE merchant_id = $2 AND legacy_id = $3 AND id = $4 AND status = `+InvoiceActive,
		cause.At.Unix(), o.MerchantID, o.LegacyID, id)
	if err == nil && o.InvoiceNumbers != "" {
		err = Renumber(ctx, t, t.db.dialect, o)
	}
	if err != nil {
		return err
	}
	return t.recordInvoice(ctx, o, -1, order.InvoiceDeleted, id, cause)
}

// Renumber makes an order found by the numbers and marks of the invoices that are active now,
// in a transaction that has locked the order.
func Renumber(ctx context.Context, q sqldb.Querier, dialect *sqldb.Dialect, o order.LockedOrder) error {
	invoices, err := activeInvoices(ctx, q, o)
	if err != nil {
		return err
	}
	err = q.Later(ctx, errNoRow, `UPDATE orders SET invoice_numbers = $1 WHERE merchant_id = $2 AND legacy_id = $3`,
		order.InvoiceNumbers(invoices), o.MerchantID, o.LegacyID)
	if err != nil {
		return err
	}
	words := func(numbers string) []search.Word {
		return search.WordsOf(&order.Order{MerchantID: o.MerchantID, LegacyID: o.LegacyID, CreatedAt: o.CreatedAt, InvoiceNumbers: numbers})
	}
	return search.Replace(ctx, q, dialect, words(o.InvoiceNumbers), words(order.InvoiceNumbers(invoices)))
}

// recordInvoice writes the new revision and the event of an order whose invoices
// have changed. It adds slots to the number of its active files and reservations.
func (t *tx) recordInvoice(ctx context.Context, o order.LockedOrder, slots int, kind order.EventType, id int64, cause order.Cause) error {
	err := t.Later(ctx, errNoRow, `UPDATE orders SET revision = $1, active_invoices = active_invoices + $2
		WHERE merchant_id = $3 AND legacy_id = $4`, o.NextRevision, slots, o.MerchantID, o.LegacyID)
	if err != nil {
		return err
	}
	t.addEvent(o, order.Event{Type: kind, By: cause.By, At: cause.At, InvoiceID: id})
	return nil
}

// ReleaseInvoice implements order.Tx.
func (t *tx) ReleaseInvoice(ctx context.Context, o order.LockedOrder, id int64) error {
	n, err := t.Exec(ctx, `DELETE FROM invoices
		WHERE merchant_id = $1 AND legacy_id = $2 AND id = $3 AND status = `+InvoiceReserved, o.MerchantID, o.LegacyID, id)
	if err != nil || n == 0 {
		return err
	}
	return t.freeSlot(ctx, o)
}

// freeSlot frees the slot of an active file or a reservation.
func (t *tx) freeSlot(ctx context.Context, o order.LockedOrder) error {
	return t.Later(ctx, errNoRow, `UPDATE orders SET active_invoices = active_invoices - 1
		WHERE merchant_id = $1 AND legacy_id = $2`, o.MerchantID, o.LegacyID)
}

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

func (db *DB) toClean(ctx context.Context, text string, before time.Time, limit int) (_ []order.StoredInvoice, err error) {
	defer db.observe(&ctx, "clean")(&err)
	invoices, err := sqldb.All(ctx, db.sql, text, []any{before.Unix(), limit}, scanStoredInvoice)
	return invoices, db.readError("find invoices to clean up", err, nil)
}

func scanStoredInvoice(rows sqldb.Rows) (i order.StoredInvoice, err error) {
	err = rows.Scan(&i.MerchantID, &i.OrderLegacyID, &i.Reference, &i.ID, &i.Name)
	return i, err
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

const selectFileEntries = `SELECT ` + invoiceColumns + `, i.deleted_at, i.purged_at FROM orders o
	JOIN invoices i ON i.merchant_id = o.merchant_id AND i.legacy_id = o.legacy_id
	WHERE o.merchant_id = $1 AND o.reference = $2 AND i.status IN (` + InvoiceActive + `, ` + InvoiceDeleted + `) ORDER BY i.id`
