package store

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"strconv"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

const (
	// copiedOrders is how many orders a copy reads at a time, with all that hangs
	// on them.
	copiedOrders = 200
	// copiedRows is how many events, tokens or invoices it reads at a time.
	copiedRows = 1000
)

// CopiedOrders are orders of one merchant with their invoices and keys, as they
// were at one moment.
type CopiedOrders struct {
	Parts []Part // orders, invoices, and keys where there are any
	Last  int64  // the highest number that is covered
	More  bool   // there are orders beyond Last
}

// Len returns how many orders there are.
func (c CopiedOrders) Len() int { return len(c.Parts[0].rows) }

// KeptFiles returns the entries among the orders' invoices whose files are kept.
func (c CopiedOrders) KeptFiles() []KeptFile {
	references := make(map[any]string, c.Len())
	for _, row := range c.Parts[0].rows {
		references[row[1]] = row[ordersTable.column("reference")].(string)
	}
	var files []KeptFile
	for _, row := range c.Parts[1].rows {
		at := func(column string) any { return row[invoicesTable.column(column)] }
		status := strconv.FormatInt(at("status").(int64), 10)
		if status != statusActive && (status != statusDeleted || at("purged_at") != nil) {
			continue
		}
		file := KeptFile{
			StoredInvoice: order.StoredInvoice{
				MerchantID: row[0].(int64), OrderLegacyID: row[1].(int64), Reference: references[row[1]],
				ID: at("id").(int64), Name: at("name").(string),
			},
			Size: at("size").(int64), Active: status == statusActive,
		}
		copy(file.SHA256[:], at("sha256").([]byte))
		files = append(files, file)
	}
	return files
}

// Statements and conditions that find the next rows of a merchant.
const (
	selectOrdersEnd = `SELECT MAX(number), COUNT(*) FROM (SELECT number FROM orders
	WHERE merchant_id = $1 AND number > $2 ORDER BY number LIMIT $3+0) p`
	selectInvoicesEnd = `SELECT MAX(order_number), COUNT(*) FROM (SELECT order_number FROM invoices
	WHERE merchant_id = $1 AND order_number > $2 ORDER BY order_number LIMIT $3+0) p`
	selectAnswersEnd = `SELECT MAX(taken_at), COUNT(*) FROM (SELECT taken_at FROM idempotency_keys
	WHERE merchant_id = $1 AND taken_at > $2 ORDER BY taken_at LIMIT $3+0) p`
	whereTaken        = `merchant_id = $1 AND taken_at > $2 AND taken_at <= $3`
	whereNumbers      = `merchant_id = $1 AND number > $2 AND number <= $3`
	whereOrderNumbers = `merchant_id = $1 AND order_number > $2 AND order_number <= $3`
	whereSeqs         = `merchant_id = $1 AND seq > $2 AND seq <= $3`
)

// Orders returns the next orders of a merchant, those with the lowest numbers
// after a given one.
func (s *Snapshot) Orders(ctx context.Context, merchantID, after int64) (CopiedOrders, error) {
	last, more, err := s.end(ctx, selectOrdersEnd, copiedOrders, merchantID, after)
	if err != nil {
		return CopiedOrders{}, err
	}
	orders, err := part(ctx, s, ordersTable, whereNumbers, merchantID, after, last)
	if err != nil {
		return CopiedOrders{}, err
	}
	invoices, err := s.invoices(ctx, merchantID, after, last)
	if err != nil {
		return CopiedOrders{}, err
	}
	return s.withKeys(ctx, orders, invoices, last, more)
}

// OrdersNamed returns orders of a merchant by their numbers, up to
// MostOrdersNamed of them.
func (s *Snapshot) OrdersNamed(ctx context.Context, merchantID int64, numbers []int64) (CopiedOrders, error) {
	args := make([]any, 0, 1+MostOrdersNamed)
	args = append(args, merchantID)
	for i := range MostOrdersNamed {
		// Filled up with the last one, so that there is one statement for any number.
		args = append(args, numbers[min(i, len(numbers)-1)])
	}
	list := ` IN (` + parameters(1, MostOrdersNamed) + `)`
	orders, err := part(ctx, s, ordersTable, `merchant_id = $1 AND number`+list, args...)
	if err != nil {
		return CopiedOrders{}, err
	}
	invoices, err := part(ctx, s, invoicesTable, `merchant_id = $1 AND order_number`+list, args...)
	if err != nil {
		return CopiedOrders{}, err
	}
	return s.withKeys(ctx, orders, invoices, 0, false)
}

// MostOrdersNamed is how many orders OrdersNamed takes.
const MostOrdersNamed = 100

// withKeys adds the keys of orders. They lie elsewhere, by the key itself.
func (s *Snapshot) withKeys(ctx context.Context, orders, invoices Part, last int64, more bool) (CopiedOrders, error) {
	found := CopiedOrders{Parts: []Part{orders, invoices}, Last: last, More: more}
	if len(orders.rows) == 0 {
		return found, nil
	}
	keys := make([]any, 0, 2*copiedOrders)
	for _, row := range orders.rows {
		number, reference := row[1].(int64), row[ordersTable.column("reference")]
		keys = append(keys, reference, numberKey(number))
	}
	for len(keys) < 2*copiedOrders {
		keys = append(keys, keys[0])
	}
	taken, err := part(ctx, s, keysTable, `key IN (`+parameters(0, len(keys))+`)`, keys...)
	found.Parts = append(found.Parts, taken)
	return found, err
}

// end returns the last of the next numbers that a statement finds, and whether
// there may be more; without more it is beyond all numbers. How many to look for
// is the statement's last parameter.
func (s *Snapshot) end(ctx context.Context, text string, most int64, args ...any) (int64, bool, error) {
	var highest sql.NullInt64
	var count int64
	if err := s.QueryRow(ctx, text, append(args, most), &highest, &count); err != nil {
		return 0, false, err
	}
	if count < most {
		return math.MaxInt64, false, nil
	}
	return highest.Int64, true, nil
}

func (s *Snapshot) invoices(ctx context.Context, merchantID, after, last int64) (Part, error) {
	return part(ctx, s, invoicesTable, whereOrderNumbers, merchantID, after, last)
}

// CopiedInvoices are all invoices of some orders of one merchant.
type CopiedInvoices struct {
	Part Part
	Last int64 // the highest order number that is covered
	More bool  // there are invoices beyond Last
}

// Invoices returns the invoices of a merchant's next orders after a given one
// that have any.
func (s *Snapshot) Invoices(ctx context.Context, merchantID, after int64) (CopiedInvoices, error) {
	last, more, err := s.end(ctx, selectInvoicesEnd, copiedRows, merchantID, after)
	if err != nil {
		return CopiedInvoices{}, err
	}
	p, err := s.invoices(ctx, merchantID, after, last)
	return CopiedInvoices{Part: p, Last: last, More: more}, err
}

// MostEvents is how many events are best read at a time.
const MostEvents = copiedRows

// Events returns a merchant's events after one, up to a last one.
func (s *Snapshot) Events(ctx context.Context, merchantID, after, last int64) (Part, error) {
	return part(ctx, s, eventsTable, whereSeqs, merchantID, after, last)
}

// CopiedAnswers are keys of one merchant with the answers that are kept.
type CopiedAnswers struct {
	Part Part
	Last int64 // the latest second, of Unix time, that is covered
	More bool  // there are keys taken later than Last
}

// Answers returns a merchant's next keys with their answers, those taken after a
// second of Unix time.
func (s *Snapshot) Answers(ctx context.Context, merchantID, after int64) (CopiedAnswers, error) {
	last, more, err := s.end(ctx, selectAnswersEnd, copiedRows, merchantID, after)
	if err != nil {
		return CopiedAnswers{}, err
	}
	p, err := part(ctx, s, answersTable, whereTaken, merchantID, after, last)
	return CopiedAnswers{Part: p, Last: last, More: more}, err
}

// TouchedOrders returns the numbers of the orders that a merchant's events after
// one tell of.
func (s *Snapshot) TouchedOrders(ctx context.Context, merchantID, after int64) ([]int64, error) {
	return sqldb.All(ctx, s, `SELECT DISTINCT order_number FROM events WHERE merchant_id = $1 AND seq > $2`,
		[]any{merchantID, after}, func(rows sqldb.Rows) (int64, error) {
			var number int64
			err := rows.Scan(&number)
			return number, err
		})
}

// LastEvent returns the number of a merchant's newest event; 0 where there is
// none or no such merchant.
func (s *Snapshot) LastEvent(ctx context.Context, merchantID int64) (int64, error) {
	var last int64
	err := s.QueryRow(ctx, `SELECT last_event FROM merchants WHERE id = $1`, []any{merchantID}, &last)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return last, err
}

// Merchant returns a merchant's own row and its day counts.
func (s *Snapshot) Merchant(ctx context.Context, merchantID int64) ([]Part, error) {
	merchant, err := part(ctx, s, merchantsTable, `id = $1`, merchantID)
	if err != nil {
		return nil, err
	}
	days, err := part(ctx, s, daysTable, `merchant_id = $1`, merchantID)
	return []Part{days, merchant}, err
}

// Tokens returns all tokens.
func (s *Snapshot) Tokens(ctx context.Context) ([]Part, error) {
	var parts []Part
	for after, more := int64(0), true; more; {
		var last int64
		var err error
		last, more, err = s.end(ctx, `SELECT MAX(id), COUNT(*) FROM (SELECT id FROM tokens
			WHERE id > $1 ORDER BY id LIMIT $2+0) p`, copiedRows, after)
		if err != nil {
			return nil, err
		}
		tokens, err := part(ctx, s, tokensTable, `id > $1 AND id <= $2`, after, last)
		if err != nil {
			return nil, err
		}
		parts, after = append(parts, tokens), last
	}
	return parts, nil
}

// CopiedCounters are the newest numbers for the whole service.
type CopiedCounters struct {
	Part        Part
	lastInvoice int64
}

// Counters returns the newest numbers for the whole service.
func (s *Snapshot) Counters(ctx context.Context) (CopiedCounters, error) {
	// Ids of invoice files are counted elsewhere where many servers take them.
	p, err := part(ctx, s, countersTable, `name <> 'invoice'`)
	if err != nil {
		return CopiedCounters{}, err
	}
	found := CopiedCounters{Part: p}
	err = s.QueryRow(ctx, s.db.dialect.LastInvoiceID, nil, &found.lastInvoice)
	return found, err
}
