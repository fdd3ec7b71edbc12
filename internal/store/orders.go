package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/orderpb"
	"merchantorders/internal/store/sqldb"
)

// summaryColumns are the columns of a list, in the order of summaryRow.
const summaryColumns = `o.legacy_id, o.reference, o.state, o.created_at, o.updated_at, o.currency,
	o.country_code, o.total, o.has_invoice, o.user_id, o.email, o.phone, o.first_name, o.last_name, o.company`

// summaryRow is a row of summaryColumns as the database gives it.
type summaryRow struct {
	order.Summary
	createdAt  int64
	updatedAt  sql.NullInt64
	hasInvoice int64
	phone      sql.NullString
}

// into lists where the columns go.
func (r *summaryRow) into() []any {
	return []any{
		&r.LegacyID, &r.Reference, sqldb.Int(&r.State), &r.createdAt, &r.updatedAt, &r.Currency,
		&r.CountryCode, &r.Total, &r.hasInvoice, &r.Customer.UserID, &r.Customer.Email, &r.phone,
		&r.Customer.FirstName, &r.Customer.LastName, &r.Customer.Company,
	}
}

// summary returns what the columns say.
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

// Statements that read one whole order with its active invoices: one row for
// each invoice, or one without.
const (
	selectOrder = `SELECT ` + summaryColumns + `, o.revision, o.details, ` + invoiceColumns + `
	FROM orders o
	LEFT JOIN invoices i ON i.merchant_id = o.merchant_id AND i.legacy_id = o.legacy_id AND i.status = ` + InvoiceActive + `
	WHERE o.merchant_id = $1 AND `
	selectOrderByNumber    = selectOrder + `o.legacy_id = $2 ORDER BY i.id`
	selectOrderByReference = selectOrder + `o.reference = $2 ORDER BY i.id`
)

// Statements that read an order without its invoices, and whether it has any.
const (
	selectBare            = `SELECT ` + summaryColumns + `, o.revision, o.details, o.active_invoices FROM orders o WHERE o.merchant_id = $1 AND `
	selectBareByNumber    = selectBare + `o.legacy_id = $2`
	selectBareByReference = selectBare + `o.reference = $2`
)

// byKey chooses the statement for a key and returns the key's value with it.
func byKey(key order.Identifier, byNumber, byReference string) (string, any) {
	if key.Reference != "" {
		return byReference, key.Reference
	}
	return byNumber, key.LegacyID
}

// Order implements order.Store with one query, or two if the order has invoices:
// the join, which most orders do not need, doubles the time of the query.
func (db *DB) Order(ctx context.Context, merchantID int64, key order.Identifier) (order.Order, error) {
	defer db.timed("order")()
	found, err := db.readBare(ctx, merchantID, key)
	if err == nil && found.LegacyID != 0 {
		found.MerchantName, err = db.merchantName(ctx, merchantID)
	}
	if err != nil {
		return order.Order{}, db.wrap(fmt.Errorf("read order: %w", err))
	}
	if found.LegacyID == 0 {
		return order.Order{}, order.ErrNotFound
	}
	return found, nil
}

// readBare reads an order that has no invoices by itself, and any other with
// them. Without an order the number is 0.
func (db *DB) readBare(ctx context.Context, merchantID int64, key order.Identifier) (order.Order, error) {
	text, value := byKey(key, selectBareByNumber, selectBareByReference)
	var found order.Order
	var row summaryRow
	var raw sql.RawBytes
	var invoices int64
	err := db.sql.QueryRow(ctx, text, []any{merchantID, value}, append(row.into(), &found.Revision, &raw, &invoices)...)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return order.Order{}, nil
	case err != nil:
		return order.Order{}, err
	case invoices > 0:
		return db.readOrder(ctx, merchantID, key)
	}
	return found, fillOrder(&found, merchantID, row.summary(), raw)
}

// merchantName returns a merchant's name, which never changes.
func (db *DB) merchantName(ctx context.Context, id int64) (string, error) {
	if name, known := db.names.Load(id); known {
		return name.(string), nil
	}
	var name string
	if err := db.sql.QueryRow(ctx, `SELECT name FROM merchants WHERE id = $1`, []any{id}, &name); err != nil {
		return "", err
	}
	db.names.Store(id, name)
	return name, nil
}

// readOrder reads an order with its invoices. Without one the number is 0.
func (db *DB) readOrder(ctx context.Context, merchantID int64, key order.Identifier) (order.Order, error) {
	text, value := byKey(key, selectOrderByNumber, selectOrderByReference)
	var found order.Order
	var row summaryRow
	var raw sql.RawBytes
	err := sqldb.Each(ctx, db.sql, text, []any{merchantID, value}, func(rows sqldb.Rows) error {
		var invoice nullInvoice
		into := append(row.into(), &found.Revision, &raw)
		if err := rows.Scan(append(into, invoice.into()...)...); err != nil {
			return err
		}
		if found.LegacyID == 0 {
			if err := fillOrder(&found, merchantID, row.summary(), raw); err != nil {
				return err
			}
		}
		if invoice.id.Valid {
			found.Invoices = append(found.Invoices, invoice.invoice())
		}
		return nil
	})
	return found, err
}

// Statements that read which revision of an order is the newest.
const (
	selectRevision            = `SELECT legacy_id, revision FROM orders WHERE merchant_id = $1 AND `
	selectRevisionByNumber    = selectRevision + `legacy_id = $2`
	selectRevisionByReference = selectRevision + `reference = $2`
)

// Revision implements order.Store.
func (db *DB) Revision(ctx context.Context, merchantID int64, key order.Identifier) (number, revision int64, err error) {
	defer db.timed("revision")()
	text, value := byKey(key, selectRevisionByNumber, selectRevisionByReference)
	err = db.sql.QueryRow(ctx, text, []any{merchantID, value}, &number, &revision)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, 0, order.ErrNotFound
	}
	if err != nil {
		return 0, 0, db.wrap(fmt.Errorf("read revision: %w", err))
	}
	return number, revision, nil
}

// fillOrder puts together what the columns and the details say of an order.
func fillOrder(o *order.Order, merchantID int64, s order.Summary, rawDetails []byte) error {
	o.MerchantID, o.LegacyID, o.Reference = merchantID, s.LegacyID, s.Reference
	o.State, o.Currency, o.CountryCode = s.State, s.Currency, s.CountryCode
	o.CreatedAt, o.UpdatedAt, o.Total, o.Customer = s.CreatedAt, s.UpdatedAt, s.Total, s.Customer
	return orderpb.DecodeDetails(rawDetails, o)
}
