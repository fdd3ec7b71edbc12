package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/orderpb"
	"merchantorders/internal/store/search"
	"merchantorders/internal/store/sqldb"
)

// erasedDigest is the digest of an erased order: no document has it, so another import
// of the order is a conflict.
var erasedDigest = make([]byte, sha256.Size)

// EraseOrder implements order.Tx.
func (t *tx) EraseOrder(ctx context.Context, o order.LockedOrder, cause order.Cause) (bool, error) {
	var whole order.Order
	var phone *string
	var data order.MerchantData
	var digest, details []byte
	c := &whole.Customer
	err := t.QueryRow(ctx, `SELECT user_id, email, phone, first_name, last_name, company, digest, details, `+merchantDataColumns+` FROM orders o
		WHERE merchant_id = $1 AND legacy_id = $2`, []any{o.MerchantID, o.LegacyID},
		append([]any{&c.UserID, &c.Email, &phone, &c.FirstName, &c.LastName, &c.Company, &digest, &details}, merchantDataDest(&data)...)...)
	if err == nil {
		err = t.eraseTraces(ctx, o)
	}
	if err == nil {
		err = orderpb.DecodeDetails(details, &whole)
	}
	if err != nil {
		return false, err
	}
	erased := bytes.Equal(digest, erasedDigest) && phone == nil && whole.Customer == (order.Customer{}) && data == (order.MerchantData{})
	if details, err = orderpb.EncodeDetails(&whole); err != nil {
		return false, err
	}
	whole.Erase()
	before := details
	if details, err = orderpb.EncodeDetails(&whole); err != nil || erased && bytes.Equal(before, details) {
		return false, err
	}
	err = t.changeWords(ctx, o.MerchantID, o.LegacyID, func() error {
		return t.Later(ctx, errNoRow, `UPDATE orders SET user_id = $1, email = $2, phone = NULL, first_name = $3, last_name = $4, company = $5,
				digest = $6, details = $7, revision = $8, merchant_reference = NULL, merchant_note = NULL
			WHERE merchant_id = $9 AND legacy_id = $10`,
			c.UserID, c.Email, c.FirstName, c.LastName, c.Company, erasedDigest, details, o.NextRevision, o.MerchantID, o.LegacyID)
	})
	if err != nil {
		return false, err
	}
	t.addEvent(o, order.Event{Type: order.OrderUpdated, By: cause.By, At: cause.At, Fields: order.ErasedFields})
	t.addAudit(o.MerchantID, order.AuditEntry{
		At: cause.At, Action: order.AuditErased, By: cause.By, LegacyID: o.LegacyID, Reference: o.Reference,
	})
	return true, nil
}

// eraseTraces removes the personal data of an order outside of its row.
func (t *tx) eraseTraces(ctx context.Context, o order.LockedOrder) error {
	events, err := sqldb.Column[int64](ctx, t, `SELECT seq FROM events WHERE merchant_id = $1 AND legacy_id = $2`, o.MerchantID, o.LegacyID)
	if err != nil {
		return err
	}
	for _, owner := range []int64{o.MerchantID, 0} { // 0: the marketplace
		if _, err := t.Exec(ctx, `UPDATE webhook_deliveries SET response = '' WHERE event_seq `+t.db.dialect.InList+`
			AND merchant_id = $2 AND event_merchant = $3 AND response <> ''`, events, owner, o.MerchantID-owner); err != nil {
			return err
		}
		// Reservations stay.
		if _, err := t.Exec(ctx, `DELETE FROM idempotency_keys WHERE merchant_id = $1 AND legacy_id = $2 AND response IS NOT NULL`,
			owner, o.LegacyID); err != nil {
			return err
		}
	}
	return nil
}

// selectFilesToRemove has the conditions of the index invoices_to_clean.
const selectFilesToRemove = `SELECT i.merchant_id, i.legacy_id, o.reference, i.id, i.name FROM invoices i
	JOIN orders o ON o.merchant_id = i.merchant_id AND o.legacy_id = i.legacy_id
	WHERE i.merchant_id = $1 AND i.legacy_id = $2 AND i.purged_at IS NULL AND i.status IN (` + InvoiceDeleted + `, ` + InvoiceExpired + `)`

// FilesToRemove implements order.Store.
func (db *DB) FilesToRemove(ctx context.Context, merchantID, legacyID int64) (_ []order.StoredInvoice, err error) {
	defer db.observe(&ctx, "clean")(&err)
	invoices, err := sqldb.All(ctx, db.sql, selectFilesToRemove, []any{merchantID, legacyID}, scanStoredInvoice)
	return invoices, db.readError("find invoices to remove", err, nil)
}

// EraseFileNames implements order.Store. The new name is unique in the order, because
// every other name has an extension.
func (db *DB) EraseFileNames(ctx context.Context, merchantID, legacyID int64) error {
	return db.inTx(ctx, "clean", func(t *tx) error {
		_, err := t.Exec(ctx, `UPDATE invoices SET name = 'erased-' || CAST(id AS TEXT), kind = '', number = '', mark = '', link = ''
			WHERE merchant_id = $1 AND legacy_id = $2 AND purged_at IS NOT NULL`, merchantID, legacyID)
		return err
	})
}

// CustomerOrders implements order.Store. It reads all pages in one snapshot: an erasure
// that misses an order would report success.
func (db *DB) CustomerOrders(ctx context.Context, email string) (_ []order.LockedOrder, err error) {
	defer db.observe(&ctx, "customer_orders")(&err)
	var found []order.LockedOrder
	email = order.TrimEmail(email)
	request := order.Search{Email: email, From: order.NoDay, To: order.NoDay, Limit: order.MaxSearchLimit}
	err = db.sql.Snapshot(ctx, func(q sqldb.Querier) error {
		for {
			page, err := search.Page(ctx, q, db.dialect, searchedOrders{q}, request)
			if err != nil {
				return err
			}
			for _, o := range page.Orders {
				if strings.EqualFold(order.TrimEmail(o.Customer.Email), email) {
					found = append(found, order.LockedOrder{MerchantID: o.MerchantID, LegacyID: o.LegacyID, Reference: o.Reference, ActiveInvoices: o.Invoices})
				}
			}
			if request.After = page.Next; page.Next == nil {
				return nil
			}
		}
	})
	return found, db.readError("find the orders of a customer", err, nil)
}
