package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"merchantorders/internal/order"
	"merchantorders/internal/orderpb"
	"merchantorders/internal/store/sqldb"
)

// summaryColumns are the columns of a list, in the order of summaryDest.
const summaryColumns = `o.legacy_id, o.reference, o.state, o.created_at, o.updated_at, o.currency,
	o.country_code, o.total, o.has_invoice, o.user_id, o.email, o.phone, o.first_name, o.last_name, o.company`

// summaryDest returns the Scan destinations of summaryColumns.
func summaryDest(s *order.Summary) []any {
	return []any{
		&s.LegacyID, &s.Reference, sqldb.Int(&s.State), sqldb.Time(&s.CreatedAt), sqldb.Time(&s.UpdatedAt), &s.Currency,
		&s.CountryCode, &s.Total, sqldb.Flag(&s.HasInvoice), &s.Customer.UserID, &s.Customer.Email, &s.Customer.Phone,
		&s.Customer.FirstName, &s.Customer.LastName, &s.Customer.Company,
	}
}

// readSummaries reads the orders of a statement with summaryColumns and the columns of more.
func readSummaries(ctx context.Context, q sqldb.Querier, text string, args []any, more ...any) ([]order.Summary, error) {
	var s order.Summary
	dest := append(summaryDest(&s), more...)
	return sqldb.All(ctx, q, text, args, func(rows sqldb.Rows) (order.Summary, error) {
		err := rows.Scan(dest...)
		return s, err
	})
}

// orderColumns are the columns of a whole order with one of its active invoices, if it has
// any, in the order of orderRow.dest. They need orderJoins: as a subquery, the merchant's name
// makes a cluster ask every node.
const (
	orderColumns = summaryColumns + `, ` + merchantDataColumns + `, o.merchant_id, o.revision, o.details, m.name, ` + invoiceColumns
	orderJoins   = ` JOIN merchants m ON m.id = o.merchant_id
	LEFT JOIN invoices i ON i.merchant_id = o.merchant_id AND i.legacy_id = o.legacy_id AND i.status = ` + InvoiceActive
)

// orderRow is a row of orderColumns.
type orderRow struct {
	order.Summary
	merchantData         order.MerchantData
	merchantID, revision int64
	details              sql.RawBytes
	merchantName         string
	invoice              order.Invoice // id 0: none
}

// dest returns the Scan destinations of orderColumns.
func (r *orderRow) dest() []any {
	dest := append(append(summaryDest(&r.Summary), merchantDataDest(&r.merchantData)...), &r.merchantID, &r.revision, &r.details, &r.merchantName)
	return append(dest, invoiceDest(&r.invoice)...)
}

// order returns the scanned order without its invoices.
func (r *orderRow) order() (order.Order, error) {
	s := r.Summary
	o := order.Order{
		MerchantID: r.merchantID, MerchantName: r.merchantName, LegacyID: s.LegacyID, Reference: s.Reference, Revision: r.revision,
		State: s.State, Currency: s.Currency, CountryCode: s.CountryCode,
		CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt, Total: s.Total, Customer: s.Customer, MerchantData: r.merchantData,
	}
	return o, orderpb.DecodeDetails(r.details, &o)
}

// Statements that read one order.
const (
	selectOrder            = `SELECT ` + orderColumns + ` FROM orders o` + orderJoins + ` WHERE o.merchant_id = $1 AND `
	selectOrderByLegacyID  = selectOrder + `o.legacy_id = $2`
	selectOrderByReference = selectOrder + `o.reference = $2`
)

// selectOrders returns the statement that reads the orders of two lists, of merchants and
// of legacy ids. CROSS JOIN makes SQLite begin with the lists. The lists of merchants in
// conditions send a statement for one merchant to one node of a cluster.
func selectOrders(dialect *sqldb.Dialect) string {
	return `SELECT ` + orderColumns + ` FROM ` + dialect.PairList + ` CROSS JOIN orders o` + orderJoins + `
	WHERE o.merchant_id = k.a AND o.legacy_id = k.b AND o.merchant_id ` + dialect.InList + ` AND m.id ` + dialect.InList
}

// byIdentifier returns the statement for an identifier, and its argument.
func byIdentifier(id order.Identifier, byLegacyID, byReference string) (string, any) {
	if id.Reference != "" {
		return byReference, id.Reference
	}
	return byLegacyID, id.LegacyID
}

// Order implements order.Store.
func (db *DB) Order(ctx context.Context, merchantID int64, id order.Identifier) (_ order.Order, err error) {
	defer db.observe(&ctx, "order")(&err)
	text, value := byIdentifier(id, selectOrderByLegacyID, selectOrderByReference)
	orders, damaged, err := db.readOrders(ctx, text, []any{merchantID, value})
	if err = cmp.Or(err, damaged); err == nil {
		for _, o := range orders {
			return o, nil
		}
		err = sql.ErrNoRows
	}
	return order.Order{}, db.readError("read order", err, order.ErrNotFound)
}

// Orders implements order.Store.
func (db *DB) Orders(ctx context.Context, at []order.Locator) (_ map[order.Locator]order.Order, err error) {
	defer db.observe(&ctx, "orders")(&err)
	at = slices.Clone(at)
	slices.SortFunc(at, func(a, b order.Locator) int {
		return cmp.Or(cmp.Compare(a.MerchantID, b.MerchantID), cmp.Compare(a.LegacyID, b.LegacyID))
	})
	orders, _, err := db.readOrders(ctx, selectOrders(db.dialect), listsOf(slices.Compact(at)))
	return orders, db.readError("read orders", err, nil)
}

// readOrders reads orders with their active invoices. damaged is the error of one whose
// details cannot be decoded; the others can be read.
func (db *DB) readOrders(ctx context.Context, text string, args []any) (orders map[order.Locator]order.Order, damaged, err error) {
	orders = make(map[order.Locator]order.Order)
	err = db.sql.Query(ctx, text, args, scanOrders(orders, &damaged))
	return orders, damaged, err
}

// scanOrders returns a function that scans a row of an order, and adds what it has.
func scanOrders(orders map[order.Locator]order.Order, damaged *error) func(sqldb.Rows) error {
	var row orderRow
	return func(rows sqldb.Rows) error {
		if err := rows.Scan(row.dest()...); err != nil {
			return err
		}
		key := order.Locator{MerchantID: row.merchantID, LegacyID: row.LegacyID}
		o, again := orders[key] // with another invoice
		if !again {
			var err error
			if o, err = row.order(); err != nil {
				o.Unreadable, *damaged = true, err
			}
		}
		if row.invoice.ID != 0 {
			o.Invoices = append(o.Invoices, row.invoice)
			slices.SortFunc(o.Invoices, func(a, b order.Invoice) int { return cmp.Compare(a.ID, b.ID) })
		}
		orders[key] = o
		return nil
	}
}

// Inspect implements order.Store.
func (db *DB) Inspect(ctx context.Context, merchantID int64, reference string) (all order.Inspection, err error) {
	defer db.observe(&ctx, "inspect")(&err)
	var found bool
	var damaged error
	orders := make(map[order.Locator]order.Order)
	scanOrder, scanEvent := scanOrders(orders, &damaged), scanEvents(&all.Events, &found)
	err = db.sql.QueryMany(ctx, func(yield func(string, []any) bool) {
		_ = yield(selectOrderByReference, []any{merchantID, reference}) &&
			yield(selectOrderEventsByReference, []any{0, merchantID, reference, order.MaxFeedLimit}) &&
			yield(selectFileEntries, []any{merchantID, reference})
	}, func(n int, rows sqldb.Rows) error {
		switch n {
		case 0:
			return scanOrder(rows)
		case 1:
			return scanEvent(rows)
		}
		var file order.FileEntry
		err := rows.Scan(append(invoiceDest(&file.Invoice), sqldb.Time(&file.DeletedAt), sqldb.Time(&file.PurgedAt))...)
		all.Files = append(all.Files, file)
		return err
	})
	for _, o := range orders {
		all.Order = o
	}
	if err = cmp.Or(err, damaged); err == nil && all.Order.LegacyID == 0 {
		err = sql.ErrNoRows
	}
	return all, db.readError("read everything about an order", err, order.ErrNotFound)
}

// listsOf returns the arguments of the statements that read the orders of two lists.
func listsOf(at []order.Locator) []any {
	merchants, legacyIDs := make([]int64, len(at)), make([]int64, len(at))
	for i, key := range at {
		merchants[i], legacyIDs[i] = key.MerchantID, key.LegacyID
	}
	return []any{merchants, legacyIDs}
}

// OrderMerchant implements order.Store.
func (db *DB) OrderMerchant(ctx context.Context, reference string) (_ int64, err error) {
	defer db.observe(&ctx, "order_merchant")(&err)
	var merchantID int64
	err = db.sql.QueryRow(ctx, `SELECT merchant_id FROM order_keys WHERE key = $1`, []any{reference}, &merchantID)
	return merchantID, db.readError("read the merchant of an order", err, order.ErrNotFound)
}
