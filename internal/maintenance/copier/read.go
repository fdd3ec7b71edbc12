package copier

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"strconv"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/store/sqldb"
)

const (
	// orderPage is how many orders are read at a time, with their invoices and
	// keys.
	orderPage = 200
	// orderBatch is how many orders readOrdersByID reads at most.
	orderBatch = 100
	// rowPage is how many events, tokens, invoices or idempotency records are
	// read at a time.
	rowPage = 1000
)

// Statements that find the end of the next page, and conditions for the rows in
// a range.
const (
	selectOrderPageEnd = `SELECT MAX(legacy_id), COUNT(*) FROM (SELECT legacy_id FROM orders
	WHERE merchant_id = $1 AND legacy_id > $2 ORDER BY legacy_id LIMIT $3+0) p`
	selectInvoicePageEnd = `SELECT MAX(legacy_id), COUNT(*) FROM (SELECT legacy_id FROM invoices
	WHERE merchant_id = $1 AND legacy_id > $2 ORDER BY legacy_id LIMIT $3+0) p`
	selectIdempotencyPageEnd = `SELECT MAX(created_at), COUNT(*) FROM (SELECT created_at FROM idempotency_keys
	WHERE merchant_id = $1 AND created_at > $2 ORDER BY created_at LIMIT $3+0) p`
	selectTokenPageEnd = `SELECT MAX(id), COUNT(*) FROM (SELECT id FROM tokens
	WHERE id > $1 ORDER BY id LIMIT $2+0) p`

	whereLegacyIDs = `merchant_id = $1 AND legacy_id > $2 AND legacy_id <= $3`
	whereSeqs      = `merchant_id = $1 AND seq > $2 AND seq <= $3`
	whereCreatedAt = `merchant_id = $1 AND created_at > $2 AND created_at <= $3`
	whereTokenIDs  = `id > $1 AND id <= $2`
)

// readPageEnd runs a statement that finds the end of the next page of up to
// limit rows. The last page, with more false, has no end.
func readPageEnd(ctx context.Context, q sqldb.Querier, statement string, limit int64, args ...any) (last int64, more bool, err error) {
	var end sql.NullInt64
	var count int64
	if err := q.QueryRow(ctx, statement, append(args, limit), &end, &count); err != nil {
		return 0, false, err
	}
	if count < limit {
		return math.MaxInt64, false, nil
	}
	return end.Int64, true, nil
}

// orderSet is some orders of a merchant with all their invoices and keys. There
// are no keys if there are no orders.
type orderSet struct{ orders, invoices, keys rowSet }

// sets returns what there is to copy.
func (s orderSet) sets() []rowSet {
	if len(s.orders.rows) == 0 {
		return []rowSet{s.orders, s.invoices}
	}
	return []rowSet{s.orders, s.invoices, s.keys}
}

// readOrders reads the next orders after a legacy id. last is the legacy id up
// to which the set is complete, and more is true if there are orders after it.
func readOrders(ctx context.Context, q sqldb.Querier, merchantID, after int64) (set orderSet, last int64, more bool, err error) {
	last, more, err = readPageEnd(ctx, q, selectOrderPageEnd, orderPage, merchantID, after)
	if err != nil {
		return orderSet{}, 0, false, err
	}
	set, err = readOrderSet(ctx, q, whereLegacyIDs, merchantID, after, last)
	return set, last, more, err
}

// readOrdersByID reads up to orderBatch orders of a merchant.
func readOrdersByID(ctx context.Context, q sqldb.Querier, merchantID int64, legacyIDs []int64) (orderSet, error) {
	args := make([]any, 0, 1+orderBatch)
	args = append(args, merchantID)
	for i := range orderBatch {
		// The last id fills up, so that there is one statement for any number.
		args = append(args, legacyIDs[min(i, len(legacyIDs)-1)])
	}
	return readOrderSet(ctx, q, `merchant_id = $1 AND legacy_id IN (`+sqldb.Params(2, orderBatch)+`)`, args...)
}

// readOrderSet reads the orders and invoices that meet a condition, and the keys
// of the orders.
func readOrderSet(ctx context.Context, q sqldb.Querier, where string, args ...any) (orderSet, error) {
	var set orderSet
	var err error
	if set.orders, err = readRows(ctx, q, ordersTable, where, args...); err != nil {
		return orderSet{}, err
	}
	if set.invoices, err = readRows(ctx, q, invoicesTable, where, args...); err != nil {
		return orderSet{}, err
	}
	if len(set.orders.rows) == 0 {
		return set, nil
	}
	keys := make([]any, 0, 2*orderPage)
	for _, row := range set.orders.rows {
		keys = append(keys, ordersTable.text(row, "reference"), store.LegacyIDKey(ordersTable.int(row, "legacy_id")))
	}
	for len(keys) < 2*orderPage {
		keys = append(keys, keys[0])
	}
	set.keys, err = readRows(ctx, q, orderKeysTable, `key IN (`+sqldb.Params(1, len(keys))+`)`, keys...)
	return set, err
}

// invoiceFiles returns the invoices whose files must be in the storage.
func (s orderSet) invoiceFiles() []maintenance.InvoiceFile {
	references := make(map[int64]string, len(s.orders.rows))
	for _, row := range s.orders.rows {
		references[ordersTable.int(row, "legacy_id")] = ordersTable.text(row, "reference")
	}
	var files []maintenance.InvoiceFile
	for _, row := range s.invoices.rows {
		status, purgedAt := strconv.FormatInt(invoicesTable.int(row, "status"), 10), invoicesTable.column(row, "purged_at")
		if status != store.InvoiceActive && (status != store.InvoiceDeleted || purgedAt != nil) {
			continue
		}
		legacyID := invoicesTable.int(row, "legacy_id")
		file := maintenance.InvoiceFile{
			StoredInvoice: order.StoredInvoice{
				MerchantID: invoicesTable.int(row, "merchant_id"), OrderLegacyID: legacyID, Reference: references[legacyID],
				ID: invoicesTable.int(row, "id"), Name: invoicesTable.text(row, "name"),
			},
			Size: invoicesTable.int(row, "size"), Active: status == store.InvoiceActive,
		}
		copy(file.SHA256[:], invoicesTable.column(row, "sha256").([]byte))
		files = append(files, file)
	}
	return files
}

// readInvoices reads the invoices of a merchant's next orders after a legacy id;
// see readOrders.
func readInvoices(ctx context.Context, q sqldb.Querier, merchantID, after int64) (set rowSet, last int64, more bool, err error) {
	last, more, err = readPageEnd(ctx, q, selectInvoicePageEnd, rowPage, merchantID, after)
	if err != nil {
		return rowSet{}, 0, false, err
	}
	set, err = readRows(ctx, q, invoicesTable, whereLegacyIDs, merchantID, after, last)
	return set, last, more, err
}

// readChangedOrders returns the legacy ids of the orders of a merchant that have
// events after one.
func readChangedOrders(ctx context.Context, q sqldb.Querier, merchantID, after int64) ([]int64, error) {
	return sqldb.All(ctx, q, `SELECT DISTINCT legacy_id FROM events WHERE merchant_id = $1 AND seq > $2`,
		[]any{merchantID, after}, func(rows sqldb.Rows) (int64, error) {
			var legacyID int64
			err := rows.Scan(&legacyID)
			return legacyID, err
		})
}

// readEvents reads the events of a merchant after one, up to another.
func readEvents(ctx context.Context, q sqldb.Querier, merchantID, after, last int64) (rowSet, error) {
	return readRows(ctx, q, eventsTable, whereSeqs, merchantID, after, last)
}

// readIdempotencyRecords reads the next idempotency records of a merchant after
// a time, which is in Unix seconds. last is the time up to which the set is
// complete, and more is true if there are later records.
func readIdempotencyRecords(ctx context.Context, q sqldb.Querier, merchantID, after int64) (set rowSet, last int64, more bool, err error) {
	last, more, err = readPageEnd(ctx, q, selectIdempotencyPageEnd, rowPage, merchantID, after)
	if err != nil {
		return rowSet{}, 0, false, err
	}
	set, err = readRows(ctx, q, idempotencyTable, whereCreatedAt, merchantID, after, last)
	return set, last, more, err
}

// readLastEvent returns the number of a merchant's newest event; 0 if there is
// none or no such merchant.
func readLastEvent(ctx context.Context, q sqldb.Querier, merchantID int64) (int64, error) {
	var last int64
	err := q.QueryRow(ctx, `SELECT last_event FROM merchants WHERE id = $1`, []any{merchantID}, &last)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return last, err
}

// readTokens reads all tokens, page by page.
func readTokens(ctx context.Context, q sqldb.Querier) ([]rowSet, error) {
	var sets []rowSet
	for after, more := int64(0), true; more; {
		var last int64
		var err error
		if last, more, err = readPageEnd(ctx, q, selectTokenPageEnd, rowPage, after); err != nil {
			return nil, err
		}
		set, err := readRows(ctx, q, tokensTable, whereTokenIDs, after, last)
		if err != nil {
			return nil, err
		}
		sets, after = append(sets, set), last
	}
	return sets, nil
}
