package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/orderpb"
	"merchantorders/internal/store/search"
	"merchantorders/internal/store/sqldb"
)

// importTx imports orders with different references in a transaction. Their
// results are independent of each other, except for the legacy ids.
type importTx struct {
	*tx
	lastLegacyID int64 // the highest one known to be given out
}

// importItem is one order of a batch.
type importItem struct {
	order.Incoming
	*prepared
	legacyID int64 // assigned to it; 0: none yet
	result   order.ImportResult
}

// prepared is what is stored of an order beside its columns.
type prepared struct {
	details []byte
	words   []search.Word // without the legacy id
	err     error
}

// Prepare implements order.Store.
func (db *DB) Prepare(incoming *order.Incoming) {
	details, err := orderpb.EncodeDetails(&incoming.Order)
	incoming.Prepared = &prepared{details: details, words: search.WordsOf(&incoming.Order), err: err}
}

// newImportItem prepares an order that is not prepared yet.
func (db *DB) newImportItem(incoming order.Incoming) (*importItem, error) {
	if incoming.Prepared == nil {
		db.Prepare(&incoming)
	}
	item := &importItem{Incoming: incoming, prepared: incoming.Prepared.(*prepared)}
	return item, item.err
}

// reject sets the result of an order that is not imported.
func (i *importItem) reject(status order.LineStatus, format string, args ...any) {
	i.result = order.ImportResult{Status: status, Reason: fmt.Sprintf(format, args...)}
}

// longWait is longer than a transaction of an import waits unless others write.
const longWait = time.Millisecond / 2

// ImportOrders implements order.Store.
func (db *DB) ImportOrders(ctx context.Context, batch []order.Incoming, cause order.Cause) ([]order.ImportResult, error) {
	items := make([]*importItem, len(batch))
	for i := range batch {
		// Outside of the transaction, which locks rows.
		item, err := db.newImportItem(batch[i])
		if err != nil {
			return nil, err
		}
		items[i] = item
	}
	for first := 0; first < len(items); {
		part := items[first:]
		if limit := db.dialect.MaxImportOrders; limit != 0 {
			if db.importWaited.Load() {
				limit /= 2
			}
			part = part[:min(len(part), limit)]
		}
		part = part[:distinctReferences(part)]
		begun := db.now()
		err := db.inTx(ctx, "add", func(t *tx) error {
			db.importWaited.Store(db.now().Sub(begun) > longWait)
			return (&importTx{tx: t}).importAll(ctx, part, cause)
		})
		if err != nil {
			return nil, err
		}
		first += len(part)
	}
	return importResults(items), nil
}

// ImportOrder implements order.Tx.
func (t *tx) ImportOrder(ctx context.Context, incoming order.Incoming, cause order.Cause) (order.ImportResult, error) {
	item, err := t.db.newImportItem(incoming)
	if err != nil {
		return order.ImportResult{}, err
	}
	err = (&importTx{tx: t}).importAll(ctx, []*importItem{item}, cause)
	return item.result, err
}

// importResults returns the results of a batch.
func importResults(items []*importItem) []order.ImportResult {
	results := make([]order.ImportResult, len(items))
	for i, item := range items {
		results[i] = item.result
	}
	return results
}

// distinctReferences returns how many items, from the first on, have different
// references.
func distinctReferences(items []*importItem) int {
	seen := make(map[string]bool, len(items))
	for i, item := range items {
		if seen[item.Order.Reference] {
			return i
		}
		seen[item.Order.Reference] = true
	}
	return len(items)
}

// importAll locks rows in an order in which transactions cannot deadlock: new orders,
// then the rows that other changes need (see merchantRecords), and last the counter,
// which all merchants share. These are locked for a short time.
func (in *importTx) importAll(ctx context.Context, items []*importItem, cause order.Cause) error {
	in.limit.extend(len(items))
	known, err := in.checkMerchants(ctx, items)
	if err != nil {
		return err
	}
	unused, err := in.claimReferences(ctx, known)
	if err != nil {
		return fmt.Errorf("claim references: %w", err)
	}
	if err := in.claimLegacyIDs(ctx, unused); err != nil {
		return fmt.Errorf("claim legacy ids: %w", err)
	}
	var created []*importItem
	for _, item := range unused {
		if item.legacyID != 0 {
			item.result = order.ImportResult{Status: order.Created, LegacyID: item.legacyID}
			created = append(created, item)
			in.addEvent(order.LockedOrder{
				MerchantID: item.Order.MerchantID, LegacyID: item.legacyID, Reference: item.Order.Reference, CreatedAt: item.Order.CreatedAt,
			}, order.Event{Type: order.OrderCreated, By: cause.By, At: cause.At, To: item.Order.State})
		}
	}
	// In the order of the table, so that neighbors come one after the other.
	slices.SortFunc(created, func(a, b *importItem) int {
		return cmp.Or(cmp.Compare(a.Order.MerchantID, b.Order.MerchantID), cmp.Compare(a.legacyID, b.legacyID))
	})
	if err := in.insertOrders(ctx, created); err != nil {
		return fmt.Errorf("insert orders: %w", err)
	}
	if err := in.insertWords(ctx, created); err != nil {
		return fmt.Errorf("insert words of orders: %w", err)
	}
	if err := in.writeRecords(ctx); err != nil {
		return err
	}
	return in.Later(ctx, nil, `UPDATE counters SET last = $1 WHERE name = 'order' AND last < $1`, in.lastLegacyID)
}

// selectImportMerchants is completed by Dialect.InList.
const selectImportMerchants = `SELECT id, (` + selectLegacyIDCounter + `) FROM merchants WHERE id `

// checkMerchants returns the orders whose merchant exists, and rejects the others. It reads
// the counter of legacy ids in the same round trip.
func (in *importTx) checkMerchants(ctx context.Context, items []*importItem) (known []*importItem, err error) {
	var ids []int64
	for _, item := range items {
		item.legacyID, item.result = 0, order.ImportResult{} // of an earlier attempt of the transaction
		ids = append(ids, item.Order.MerchantID)
	}
	slices.Sort(ids)
	var merchants []int64
	err = in.Query(ctx, selectImportMerchants+in.db.dialect.InList, []any{slices.Compact(ids)}, func(rows sqldb.Rows) error {
		var id, last int64
		err := rows.Scan(&id, &last)
		merchants, in.lastLegacyID = append(merchants, id), max(in.lastLegacyID, last)
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		if id := item.Order.MerchantID; slices.Contains(merchants, id) {
			known = append(known, item)
		} else {
			item.reject(order.Invalid, "merchantId: there is no merchant %d", id)
		}
	}
	return known, nil
}

// compare sets the result of an order whose reference exists.
func (in *importTx) compare(ctx context.Context, item *importItem) error {
	var legacyID int64
	var digest []byte // nil: the order is deleted
	err := in.QueryRow(ctx, `SELECT legacy_id, digest FROM orders WHERE merchant_id = $1 AND reference = $2
		UNION ALL SELECT legacy_id, NULL FROM deleted_orders WHERE merchant_id = $1 AND reference = $2`,
		[]any{item.Order.MerchantID, item.Order.Reference}, &legacyID, &digest)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	deleted := err == nil && digest == nil
	item.compareWith(legacyID, deleted || err == nil && bytes.Equal(digest, item.Digest[:]))
	if deleted && item.result.Status == order.Unchanged {
		item.result.Status = order.Deleted
	}
	return nil
}

// compareWith sets the result of an order whose reference belongs to an order with a
// legacy id. same says that it has the same merchant and content.
func (i *importItem) compareWith(legacyID int64, same bool) {
	requested := i.Order.LegacyID
	switch {
	case !same:
		i.reject(order.Conflict, "reference: %s is taken by an order with other content", i.Order.Reference)
	case requested != 0 && requested != legacyID:
		i.reject(order.Conflict, "orderId: the order %s has the number %d", i.Order.Reference, legacyID)
	default:
		i.result = order.ImportResult{Status: order.Unchanged, LegacyID: legacyID}
	}
}

var insertOrders = sqldb.NewBulkInsert("orders", `merchant_id, legacy_id, reference, state, created_at, updated_at,
	expires_at, currency, country_code, total, has_invoice, user_id, email, phone, first_name, last_name, company,
	revision, active_invoices, digest, details`, "")

// insertOrders inserts orders.
func (in *importTx) insertOrders(ctx context.Context, items []*importItem) error {
	values := make([]any, 0, len(items)*insertOrders.Columns)
	for _, item := range items {
		o, c := &item.Order, &item.Order.Customer
		values = append(values, o.MerchantID, item.legacyID, o.Reference, int64(o.State), o.CreatedAt.Unix(), seconds(o.UpdatedAt),
			seconds(o.ExpiresAt), o.Currency, o.CountryCode, o.Total, flag(o.InvoiceDetails != nil), c.UserID, c.Email, c.Phone, c.FirstName, c.LastName, c.Company,
			order.NextRevision(0), 0, item.Digest[:], item.details)
	}
	return in.insert(ctx, insertOrders, values)
}

// insertWords writes the words of new orders.
func (in *importTx) insertWords(ctx context.Context, items []*importItem) error {
	words := make([]search.Word, 0, 16*len(items))
	for _, item := range items {
		for _, word := range item.words {
			word.LegacyID = item.legacyID
			words = append(words, word)
		}
	}
	return search.AddNew(ctx, in, in.db.dialect, words)
}
