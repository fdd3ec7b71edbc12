package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/orderpb"
	"merchantorders/internal/store/search"
	"merchantorders/internal/store/sqldb"
)

// Search implements order.Store.
func (db *DB) Search(ctx context.Context, request order.Search) (_ order.SearchPage, err error) {
	defer db.observe(&ctx, "search")(&err)
	ctx, cancel := withTimeout(ctx, db.dialect.StatementTimeout)
	defer cancel()
	page, err := search.Page(ctx, db.sql, db.dialect, searchedOrders{db.sql}, request)
	return page, db.readError("search orders", err, nil)
}

// DueOrders implements order.Store.
func (db *DB) DueOrders(ctx context.Context, now time.Time, after order.Due, limit int) (_ []order.Due, err error) {
	defer db.observe(&ctx, "due_orders")(&err)
	from := int64(math.MinInt64)
	if !after.ExpiresAt.IsZero() {
		from = after.ExpiresAt.Unix()
	}
	keys, err := search.Due(ctx, db.sql, now.Unix()+1, search.Key{At: from, LegacyID: after.LegacyID}, limit)
	due := make([]order.Due, len(keys))
	for i, key := range keys {
		due[i] = order.Due{ExpiresAt: time.Unix(key.At, 0).UTC(), LegacyID: key.LegacyID, MerchantID: key.MerchantID}
	}
	return due, db.readError("read orders past their deadline", err, nil)
}

// selectNearDeadlines reads the index of selectOfDeadlines, and the references of the rows
// that it returns.
var selectNearDeadlines = `SELECT merchant_id, legacy_id, reference, expires_at FROM orders
	WHERE state = ` + sqldb.Literal(order.Registered) + ` AND expires_at IS NOT NULL AND deadline_warned = 0
	AND expires_at <= $1 AND (expires_at, legacy_id) > ($2, $3) ORDER BY expires_at, legacy_id LIMIT $4+0`

// NearDeadlines implements order.Store.
func (db *DB) NearDeadlines(ctx context.Context, until time.Time, after order.Due, limit int) (_ []order.Due, err error) {
	defer db.observe(&ctx, "due_orders")(&err)
	args := []any{until.Unix(), after.ExpiresAt.Unix(), after.LegacyID, limit}
	due, err := sqldb.All(ctx, db.sql, selectNearDeadlines, args, func(rows sqldb.Rows) (o order.Due, err error) {
		err = rows.Scan(&o.MerchantID, &o.LegacyID, &o.Reference, sqldb.Time(&o.ExpiresAt))
		return o, err
	})
	return due, db.readError("read orders near their deadline", err, nil)
}

// searchedOrders implements search.Orders.
type searchedOrders struct{ q sqldb.Querier }

// Key implements search.Orders.
func (o searchedOrders) Key(ctx context.Context, legacyID int64) (search.Key, bool, error) {
	key := search.Key{LegacyID: legacyID}
	err := o.q.QueryRow(ctx, `SELECT merchant_id FROM order_keys WHERE key = $1`, []any{LegacyIDKey(legacyID)}, &key.MerchantID)
	if err == nil {
		err = o.q.QueryRow(ctx, `SELECT created_at FROM orders WHERE merchant_id = $1 AND legacy_id = $2`,
			[]any{key.MerchantID, legacyID}, &key.At)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return search.Key{}, false, nil
	}
	return key, err == nil, err
}

const foundColumns = summaryColumns + `, ` + merchantDataColumns + `, o.details, o.invoice_numbers, o.merchant_id, o.expires_at, CASE WHEN o.active_invoices = 0 THEN 0 ELSE
	(SELECT COUNT(*) FROM invoices i WHERE i.merchant_id = o.merchant_id AND i.legacy_id = o.legacy_id AND i.status = ` + InvoiceActive + `) END`

var selectFound = func() string {
	conditions := make([]string, search.ReadLimit)
	for i := range conditions {
		conditions[i] = fmt.Sprintf(`o.merchant_id = $%d AND o.legacy_id = $%d`, 2*i+1, 2*i+2)
	}
	return `SELECT ` + foundColumns + ` FROM orders o WHERE ` + strings.Join(conditions, ` OR `)
}()

// Read implements search.Orders.
func (o searchedOrders) Read(ctx context.Context, keys []search.Key) ([]*order.FoundOrder, error) {
	positions := make(map[int64]int, len(keys))
	for i, key := range keys {
		positions[key.LegacyID] = i
	}
	found := make([]*order.FoundOrder, len(keys))
	err := o.q.QueryMany(ctx, func(yield func(string, []any) bool) {
		for part := range slices.Chunk(keys, search.ReadLimit) {
			args := make([]any, 0, 2*search.ReadLimit)
			for i := range search.ReadLimit {
				// The last key fills up, so that there is one statement for any number.
				key := part[min(i, len(part)-1)]
				args = append(args, key.MerchantID, key.LegacyID)
			}
			if !yield(selectFound, args) {
				return
			}
		}
	}, func(_ int, rows sqldb.Rows) error {
		var o order.FoundOrder
		var details sql.RawBytes
		err := rows.Scan(append(append(summaryDest(&o.Summary), merchantDataDest(&o.MerchantData)...), &details, &o.InvoiceNumbers, &o.MerchantID, sqldb.Time(&o.ExpiresAt), sqldb.Int(&o.Invoices))...)
		if err != nil {
			return err
		}
		// An order with damaged details is found by its other words.
		if whole := (order.Order{Reference: o.Reference}); orderpb.DecodeDetails(details, &whole) == nil {
			o.Codes = whole.Codes()
		}
		found[positions[o.LegacyID]] = &o
		return nil
	})
	return found, err
}

const selectSearched = `SELECT ` + summaryColumns + `, ` + merchantDataColumns + `, o.details, o.invoice_numbers FROM orders o WHERE o.merchant_id = $1 AND o.legacy_id = $2`

// readWords returns the words of an order, as it is.
func (t *tx) readWords(ctx context.Context, merchantID, legacyID int64) ([]search.Word, error) {
	o := order.Order{MerchantID: merchantID, LegacyID: legacyID}
	var s order.Summary
	var details []byte
	if err := t.QueryRow(ctx, selectSearched, []any{merchantID, legacyID}, append(append(summaryDest(&s), merchantDataDest(&o.MerchantData)...), &details, &o.InvoiceNumbers)...); err != nil {
		return nil, fmt.Errorf("read the words of an order: %w", err)
	}
	o.Reference, o.CreatedAt, o.Customer = s.Reference, s.CreatedAt, s.Customer
	err := orderpb.DecodeDetails(details, &o)
	return search.WordsOf(&o), err
}

// changeWords runs a change of a locked order, and then rewrites the words that it changes.
func (t *tx) changeWords(ctx context.Context, merchantID, legacyID int64, change func() error) error {
	before, err := t.readWords(ctx, merchantID, legacyID)
	if err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	after, err := t.readWords(ctx, merchantID, legacyID)
	if err != nil || slices.Equal(before, after) {
		return err
	}
	if err := search.Replace(ctx, t, t.db.dialect, before, after); err != nil {
		return fmt.Errorf("replace the words of an order: %w", err)
	}
	return nil
}
