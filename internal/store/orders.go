package store

import (
	"context"
	"database/sql"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/orderpb"
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
	selectOrder = `SELECT ` + summaryColumns + `, o.revision, o.details, o.active_invoices,
		(SELECT name FROM merchants WHERE id = $1) FROM orders o WHERE o.merchant_id = $1 AND `
	selectOrderByLegacyID  = selectOrder + `o.legacy_id = $2`
	selectOrderByReference = selectOrder + `o.reference = $2`
)

// selectOrderInvoices reads the active invoices of an order and its revision: one
// row for each invoice, or one without.
const selectOrderInvoices = `SELECT o.revision, ` + invoiceColumns + `
	FROM orders o
	LEFT JOIN invoices i ON i.merchant_id = o.merchant_id AND i.legacy_id = o.legacy_id AND i.status = ` + InvoiceActive + `
	WHERE o.merchant_id = $1 AND o.legacy_id = $2 ORDER BY i.id`

// byIdentifier returns the statement for an identifier, and its argument.
func byIdentifier(id order.Identifier, byLegacyID, byReference string) (string, any) {
	if id.Reference != "" {
		return byReference, id.Reference
	}
	return byLegacyID, id.LegacyID
}

// Order implements order.Store with one query, and a second one if the order has
// invoices: a join doubles the time of the query, and most orders have no invoice.
func (db *DB) Order(ctx context.Context, merchantID int64, id order.Identifier) (order.Order, error) {
	defer db.timed("order")()
	o, err := db.readOrder(ctx, merchantID, id)
	return o, db.readError("read order", err, order.ErrNotFound)
}

// readOrder reads an order and its active invoices. It reads both again if the
// order has changed between the two queries.
func (db *DB) readOrder(ctx context.Context, merchantID int64, id order.Identifier) (order.Order, error) {
	text, value := byIdentifier(id, selectOrderByLegacyID, selectOrderByReference)
	for {
		var row summaryRow
		var details sql.RawBytes
		var o order.Order
		var invoices, revision int64
		err := db.sql.QueryRow(ctx, text, []any{merchantID, value}, append(row.dest(), &o.Revision, &details, &invoices, &o.MerchantName)...)
		if err != nil {
			return order.Order{}, err
		}
		s := row.summary()
		o.MerchantID, o.LegacyID, o.Reference = merchantID, s.LegacyID, s.Reference
		o.State, o.Currency, o.CountryCode = s.State, s.Currency, s.CountryCode
		o.CreatedAt, o.UpdatedAt, o.Total, o.Customer = s.CreatedAt, s.UpdatedAt, s.Total, s.Customer
		if err := orderpb.DecodeDetails(details, &o); err != nil || invoices == 0 {
			return o, err
		}
		err = sqldb.Each(ctx, db.sql, selectOrderInvoices, []any{merchantID, o.LegacyID}, func(rows sqldb.Rows) error {
			var invoice invoiceRow
			err := rows.Scan(append([]any{&revision}, invoice.dest()...)...)
			if invoice.id.Valid {
				o.Invoices = append(o.Invoices, invoice.invoice())
			}
			return err
		})
		if err != nil || revision == o.Revision {
			return o, err
		}
	}
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

// OrderMerchant implements order.Store.
func (db *DB) OrderMerchant(ctx context.Context, reference string) (int64, error) {
	defer db.timed("order_merchant")()
	var merchantID int64
	err := db.sql.QueryRow(ctx, `SELECT merchant_id FROM order_keys WHERE key = $1`, []any{reference}, &merchantID)
	return merchantID, db.readError("read the merchant of an order", err, order.ErrNotFound)
}
