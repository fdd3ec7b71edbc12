package copier

import (
	"context"
	"strconv"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/order"
	"merchantorders/internal/store"
	"merchantorders/internal/store/sqldb"
)

// orderPage is how many orders are copied at a time.
const orderPage = 200

// orderSet is some orders of a merchant with all their invoices and keys.
type orderSet struct{ orders, invoices, keys rowSet }

// readOrders reads the next orders after a legacy id. last is the legacy id up
// to which the set is complete, math.MaxInt64 if there are no orders after it.
func readOrders(ctx context.Context, q sqldb.Querier, merchantID, after int64) (set orderSet, last int64, err error) {
	last, err = ordersTable.pageEnd(ctx, q, merchantID, after, orderPage)
	if err != nil {
		return orderSet{}, 0, err
	}
	set, err = readOrderSet(ctx, q, ordersTable.wherePage, merchantID, after, last)
	return set, last, err
}

// readOrdersByID reads up to orderPage orders of a merchant.
func readOrdersByID(ctx context.Context, q sqldb.Querier, merchantID int64, legacyIDs []int64) (orderSet, error) {
	args := []any{merchantID}
	for i := range orderPage {
		// The last id fills up, so that there is one statement for any number.
		args = append(args, legacyIDs[min(i, len(legacyIDs)-1)])
	}
	return readOrderSet(ctx, q, `merchant_id = $1 AND legacy_id IN (`+sqldb.Params(2, orderPage)+`)`, args...)
}

// readOrderSet reads the orders and invoices that meet a condition, and the keys
// of the orders.
func readOrderSet(ctx context.Context, q sqldb.Querier, where string, args ...any) (set orderSet, err error) {
	if set.orders, err = readRows(ctx, q, ordersTable, where, args...); err != nil {
		return orderSet{}, err
	}
	if set.invoices, err = readRows(ctx, q, invoicesTable, where, args...); err != nil {
		return orderSet{}, err
	}
	var keys []any
	for _, row := range set.orders.rows {
		keys = append(keys, ordersTable.text(row, "reference"), store.LegacyIDKey(ordersTable.int(row, "legacy_id")))
	}
	for len(keys) < 2*orderPage {
		keys = append(keys, "") // no key: there is one statement for any number
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
