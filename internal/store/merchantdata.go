package store

import (
	"context"

	"merchantorders/internal/order"
)

// merchantDataColumns are the columns of merchantDataDest.
const merchantDataColumns = `o.merchant_reference, o.merchant_note`

func merchantDataDest(d *order.MerchantData) []any { return []any{&d.Reference, &d.Note} }

// UpdateMerchantData implements order.Tx.
func (t *tx) UpdateMerchantData(ctx context.Context, o order.LockedOrder, update order.MerchantDataUpdate, cause order.Cause) ([]string, error) {
	var data order.MerchantData
	err := t.QueryRow(ctx, `SELECT `+merchantDataColumns+` FROM orders o WHERE o.merchant_id = $1 AND o.legacy_id = $2`,
		[]any{o.MerchantID, o.LegacyID}, merchantDataDest(&data)...)
	if err != nil {
		return nil, err
	}
	fields := update.Apply(&data)
	if len(fields) == 0 {
		return nil, nil
	}
	err = t.changeWords(ctx, o.MerchantID, o.LegacyID, func() error {
		return t.Later(ctx, errNoRow, `UPDATE orders SET merchant_reference = $1, merchant_note = $2, revision = $3
			WHERE merchant_id = $4 AND legacy_id = $5`, data.Reference, data.Note, o.NextRevision, o.MerchantID, o.LegacyID)
	})
	if err != nil {
		return nil, err
	}
	t.addEvent(o, order.Event{Type: order.OrderUpdated, By: cause.By, At: cause.At, Fields: fields})
	return fields, nil
}

// Statements about the orders with a merchant's own number. Step 101 has their index. The
// version is of the moment of the orders, or of that there are none.
const (
	withMerchantReference     = ` FROM orders o WHERE o.merchant_id = $1 AND o.merchant_reference = $2`
	selectByMerchantReference = `SELECT ` + summaryColumns + `, ` + dataVersion + withMerchantReference + ` ORDER BY o.created_at DESC, o.legacy_id DESC LIMIT $3+0`
	selectNoMerchantReference = `SELECT ` + dataVersion + `, EXISTS (SELECT 1` + withMerchantReference + `)`
)

// ByMerchantReference implements order.Store.
func (db *DB) ByMerchantReference(ctx context.Context, merchantID int64, number string, limit int) (_ []order.Summary, version order.DataVersion, err error) {
	defer db.observe(&ctx, "by_merchant_reference")(&err)
	for meanwhile := true; meanwhile && err == nil; {
		var orders []order.Summary
		orders, err = readSummaries(ctx, db.sql, selectByMerchantReference, []any{merchantID, number, limit}, &version.Event, &version.Nonce)
		if len(orders) > 0 {
			return orders, version, err
		}
		if err == nil {
			err = db.sql.QueryRow(ctx, selectNoMerchantReference, []any{merchantID, number}, &version.Event, &version.Nonce, &meanwhile)
		}
	}
	return nil, version, db.readError("read orders by the merchant's own number", err, nil)
}
