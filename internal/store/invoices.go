package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"merchantorders/internal/order"
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

// invoiceColumns are the columns of nullInvoice.
const invoiceColumns = `i.id, i.name, i.size, i.sha256, i.created_at`

// nullInvoice is a row of invoiceColumns, all NULL where there is no invoice.
type nullInvoice struct {
	id, size, createdAt sql.NullInt64
	name                sql.NullString
	sha256              []byte
}

func (n *nullInvoice) into() []any {
	return []any{&n.id, &n.name, &n.size, &n.sha256, &n.createdAt}
}

func (n *nullInvoice) invoice() order.Invoice {
	invoice := order.Invoice{
		ID: n.id.Int64, Name: n.name.String, Size: n.size.Int64, CreatedAt: timeOf(n.createdAt),
	}
	copy(invoice.SHA256[:], n.sha256)
	return invoice
}

// InvoiceFile implements order.Store.
func (db *DB) InvoiceFile(ctx context.Context, merchantID int64, reference, name string) (order.Invoice, error) {
	defer db.timed("invoice")()
	var found nullInvoice
	err := db.sql.QueryRow(ctx, `SELECT `+invoiceColumns+`
		FROM orders o
		JOIN invoices i ON i.merchant_id = o.merchant_id AND i.legacy_id = o.legacy_id
		WHERE o.merchant_id = $1 AND o.reference = $2 AND i.name = $3 AND i.status = `+InvoiceActive,
		[]any{merchantID, reference, name}, found.into()...)
	if errors.Is(err, sql.ErrNoRows) {
		return order.Invoice{}, order.ErrInvoiceNotFound
	}
	if err != nil {
		return order.Invoice{}, db.wrap(fmt.Errorf("read invoice: %w", err))
	}
	return found.invoice(), nil
}

// Invoices implements order.Tx.
func (t *tx) Invoices(ctx context.Context, o order.LockedOrder) ([]order.Invoice, error) {
	var invoices []order.Invoice
	err := sqldb.Each(ctx, t, `SELECT `+invoiceColumns+` FROM invoices i
		WHERE i.merchant_id = $1 AND i.legacy_id = $2 AND i.status = `+InvoiceActive+` ORDER BY i.id`,
		[]any{o.MerchantID, o.LegacyID}, func(rows sqldb.Rows) error {
			var row nullInvoice
			if err := rows.Scan(row.into()...); err != nil {
				return err
			}
			invoices = append(invoices, row.invoice())
			return nil
		})
	return invoices, err
}

// InvoiceNames implements order.Tx.
func (t *tx) InvoiceNames(ctx context.Context, o order.LockedOrder) ([]string, error) {
	var names []string
	err := sqldb.Each(ctx, t, `SELECT name FROM invoices WHERE merchant_id = $1 AND legacy_id = $2`,
		[]any{o.MerchantID, o.LegacyID}, func(rows sqldb.Rows) error {
			var name string
			err := rows.Scan(&name)
			names = append(names, name)
			return err
		})
	return names, err
}

// ReserveInvoice implements order.Tx. The limit is held by the UPDATE itself,
// whatever the caller has looked at before.
func (t *tx) ReserveInvoice(ctx context.Context, o order.LockedOrder, invoice order.Invoice) (int64, error) {
	free, err := changed(t.Exec(ctx, `UPDATE orders SET active_invoices = active_invoices + 1
		WHERE merchant_id = $1 AND legacy_id = $2 AND active_invoices < $3`,
		o.MerchantID, o.LegacyID, order.MaxInvoices))
	if err != nil {
		return 0, err
	}
	if !free {
		return 0, order.ErrTooManyFiles
	}
	var id int64
	if err := t.QueryRow(ctx, t.db.dialect.NextInvoiceID, nil, &id); err != nil {
		return 0, err
	}
	_, err = t.Exec(ctx, `INSERT INTO invoices (merchant_id, legacy_id, id, name, status, size, sha256, created_at)
		VALUES ($1, $2, $3, $4, `+InvoiceReserved+`, $5, $6, $7)`,
		o.MerchantID, o.LegacyID, id, invoice.Name, invoice.Size, invoice.SHA256[:], invoice.CreatedAt.Unix())
	return id, err
}

// ActivateInvoice implements order.Tx.
func (t *tx) ActivateInvoice(ctx context.Context, o order.LockedOrder, id int64, cause order.Cause) error {
	did, err := changed(t.Exec(ctx, `UPDATE invoices SET status = `+InvoiceActive+`
		WHERE merchant_id = $1 AND legacy_id = $2 AND id = $3 AND status = `+InvoiceReserved, o.MerchantID, o.LegacyID, id))
	if err != nil {
		return err
	}
	if !did {
		return order.ErrInvoiceNotFound
	}
	if err := t.revise(ctx, o, 0); err != nil {
		return err
	}
	return t.appendEvent(ctx, o, order.Event{Type: order.InvoiceUploaded, Actor: cause.Actor, At: cause.At, InvoiceID: id})
}

// ReleaseInvoice implements order.Tx.
func (t *tx) ReleaseInvoice(ctx context.Context, o order.LockedOrder, id int64) error {
	did, err := changed(t.Exec(ctx, `DELETE FROM invoices
		WHERE merchant_id = $1 AND legacy_id = $2 AND id = $3 AND status = `+InvoiceReserved, o.MerchantID, o.LegacyID, id))
	if err != nil || !did {
		return err
	}
	return t.freePlace(ctx, o)
}

// DeleteInvoice implements order.Tx.
func (t *tx) DeleteInvoice(ctx context.Context, o order.LockedOrder, id int64, cause order.Cause) error {
	did, err := changed(t.Exec(ctx, `UPDATE invoices SET status = `+InvoiceDeleted+`, deleted_at = $1
		WHERE merchant_id = $2 AND legacy_id = $3 AND id = $4 AND status = `+InvoiceActive,
		cause.At.Unix(), o.MerchantID, o.LegacyID, id))
	if err != nil {
		return err
	}
	if !did {
		return order.ErrInvoiceNotFound
	}
	if err := t.revise(ctx, o, -1); err != nil {
		return err
	}
	return t.appendEvent(ctx, o, order.Event{Type: order.InvoiceDeleted, Actor: cause.Actor, At: cause.At, InvoiceID: id})
}

// revise notes that what a single order shows has changed, and how many places
// for files it has taken more.
func (t *tx) revise(ctx context.Context, o order.LockedOrder, places int) error {
	return expectOneRow(t.Exec(ctx, `UPDATE orders SET revision = revision + 1, active_invoices = active_invoices + $1
		WHERE merchant_id = $2 AND legacy_id = $3`, places, o.MerchantID, o.LegacyID))
}

// freePlace gives a place back that nobody has seen taken.
func (t *tx) freePlace(ctx context.Context, o order.LockedOrder) error {
	return expectOneRow(t.Exec(ctx, `UPDATE orders SET active_invoices = active_invoices - 1
		WHERE merchant_id = $1 AND legacy_id = $2`, o.MerchantID, o.LegacyID))
}
