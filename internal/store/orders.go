package store

import (
	"context"
	"database/sql"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/orderpb"
	"merchantorders/internal/store/sqldb"
)

// summaryColumns are the columns of a list, in the order of summaryRow.dest.
const summaryColumns = `o.legacy_id, o.reference, o.state, o.created_at, o.updated_at, o.currency,
	o.country_code, o.total, o.has_invoice, o.user_id, o.email, o.phone, o.first_name, o.last_name, o.company`

// summaryRow is a row of summaryColumns.
type summaryRow struct {
	order.Summary
	createdAt  int64
	updatedAt  sql.NullInt64
	hasInvoice int64
	phone      sql.NullString
}

// dest returns the Scan destinations of summaryColumns.
func (r *summaryRow) dest() []any {
	return []any{
		&r.LegacyID, &r.Reference, sqldb.Int(&r.State), &r.createdAt, &r.updatedAt, &r.Currency,
		&r.CountryCode, &r.Total, &r.hasInvoice, &r.Customer.UserID, &r.Customer.Email, &r.phone,
		&r.Customer.FirstName, &r.Customer.LastName, &r.Customer.Company,
	}
}

// summary returns the scanned summary.
func (r *summaryRow) summary() order.Summary {
	s := r.Summary
	s.CreatedAt = time.Unix(r.createdAt, 0).UTC()
	s.UpdatedAt = timeOf(r.updatedAt)
	s.HasInvoice = r.hasInvoice != 0
	if r.phone.Valid {
		phone := r.phone.String
		s.Customer.Phone = &phone
	}
	return s
}

// Statements that read one order. The column active_invoices counts reservations
// too.
const (
	selectOrder            = `SELECT ` + summaryColumns + `, o.revision, o.details, o.active_invoices FROM orders o WHERE o.merchant_id = $1 AND `
	selectOrderByLegacyID  = selectOrder + `o.legacy_id = $2`
	selectOrderByReference = selectOrder + `o.reference = $2`
)

// Statements that read one order with its active invoices: one row for each
// invoice, or one without.
const (
	selectOrderWithInvoices = `SELECT ` + summaryColumns + `, o.revision, o.details, ` + invoiceColumns + `
	FROM orders o
	LEFT JOIN invoices i ON i.merchant_id = o.merchant_id AND i.legacy_id = o.legacy_id AND i.status = ` + InvoiceActive + `
	WHERE o.merchant_id = $1 AND `
	selectOrderWithInvoicesByLegacyID  = selectOrderWithInvoices + `o.legacy_id = $2 ORDER BY i.id`
	selectOrderWithInvoicesByReference = selectOrderWithInvoices + `o.reference = $2 ORDER BY i.id`
)

// byIdentifier returns the statement for an identifier, and its argument.
func byIdentifier(id order.Identifier, byLegacyID, byReference string) (string, any) {
	if id.Reference != "" {
		return byReference, id.Reference
	}
	return byLegacyID, id.LegacyID
}

// Order implements order.Store with one query. If the order has invoices, a
// second query reads all of it again: the join doubles the time of the query, and
// most orders have no invoice.
func (db *DB) Order(ctx context.Context, merchantID int64, id order.Identifier) (order.Order, error) {
	defer db.timed("order")()
	o, invoices, err := db.readOrder(ctx, merchantID, id)
	if err == nil && invoices > 0 {
		o, err = db.readOrderWithInvoices(ctx, merchantID, id)
	}
	if err == nil {
		o.MerchantName, err = db.merchantName(ctx, merchantID)
	}
	return o, db.readError("read order", err, order.ErrNotFound)
}

// readOrder reads an order without its invoices, and how many invoices and
// reservations it has; if it has any, the order is not set. It returns
// sql.ErrNoRows if there is no order.
func (db *DB) readOrder(ctx context.Context, merchantID int64, id order.Identifier) (o order.Order, invoices int64, err error) {
	text, value := byIdentifier(id, selectOrderByLegacyID, selectOrderByReference)
	var row summaryRow
	var details sql.RawBytes
	err = db.sql.QueryRow(ctx, text, []any{merchantID, value}, append(row.dest(), &o.Revision, &details, &invoices)...)
	if err == nil && invoices == 0 {
		err = setOrder(&o, merchantID, row.summary(), details)
	}
	return o, invoices, err
}

// readOrderWithInvoices reads an order and its active invoices. It returns
// sql.ErrNoRows if there is no order.
func (db *DB) readOrderWithInvoices(ctx context.Context, merchantID int64, id order.Identifier) (order.Order, error) {
	text, value := byIdentifier(id, selectOrderWithInvoicesByLegacyID, selectOrderWithInvoicesByReference)
	var o order.Order
	var row summaryRow
	var details sql.RawBytes
	err := sqldb.Each(ctx, db.sql, text, []any{merchantID, value}, func(rows sqldb.Rows) error {
		var invoice invoiceRow
		dest := append(row.dest(), &o.Revision, &details)
		if err := rows.Scan(append(dest, invoice.dest()...)...); err != nil {
			return err
		}
		if o.LegacyID == 0 {
			if err := setOrder(&o, merchantID, row.summary(), details); err != nil {
				return err
			}
		}
		if invoice.id.Valid {
			o.Invoices = append(o.Invoices, invoice.invoice())
		}
		return nil
	})
	if err == nil && o.LegacyID == 0 {
		err = sql.ErrNoRows
	}
	return o, err
}

// setOrder sets the fields of an order from its columns and details.
func setOrder(o *order.Order, merchantID int64, s order.Summary, details []byte) error {
	o.MerchantID, o.LegacyID, o.Reference = merchantID, s.LegacyID, s.Reference
	o.State, o.Currency, o.CountryCode = s.State, s.Currency, s.CountryCode
	o.CreatedAt, o.UpdatedAt, o.Total, o.Customer = s.CreatedAt, s.UpdatedAt, s.Total, s.Customer
	return orderpb.DecodeDetails(details, o)
}

// Statements that read the newest revision of an order.
const (
	selectRevision            = `SELECT legacy_id, revision FROM orders WHERE merchant_id = $1 AND `
	selectRevisionByLegacyID  = selectRevision + `legacy_id = $2`
	selectRevisionByReference = selectRevision + `reference = $2`
)

// Revision implements order.Store.
func (db *DB) Revision(ctx context.Context, merchantID int64, id order.Identifier) (legacyID, revision int64, err error) {
	defer db.timed("revision")()
	text, value := byIdentifier(id, selectRevisionByLegacyID, selectRevisionByReference)
	err = db.sql.QueryRow(ctx, text, []any{merchantID, value}, &legacyID, &revision)
	return legacyID, revision, db.readError("read revision", err, order.ErrNotFound)
}
