package check

import (
	"context"
	"database/sql"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"time"

	"merchantorders/internal/maintenance"
	"merchantorders/internal/order"
	"merchantorders/internal/orderpb"
	"merchantorders/internal/store/search"
	"merchantorders/internal/store/sqldb"
)

// wordCheck compares what is derived from orders for the search with the orders. It
// holds a sum of hashes for each merchant, not the words.
type wordCheck struct {
	seed  maphash.Seed
	sums  map[int64]uint64 // of the words that orders should have, less those stored
	newer map[int64]uint64 // the same, of the words that orders of 1.0 may lack
	wrong map[int64]int64  // orders whose column expires_at differs from their details
	// unreadable are the merchants with an order whose details cannot be decoded: nobody knows
	// its words.
	unreadable map[int64]bool
	reporter   *maintenance.Reporter

	selectOrders string  // of some states, between two times
	states       []int64 // of all orders
}

// checkWords checks the words and the deadlines by which orders are found, block by block:
// the words of an order are in the block of its creation, and change with it.
func checkWords(ctx context.Context, db sqldb.DB, options Options, reporter *maintenance.Reporter) error {
	c := &wordCheck{
		seed: maphash.MakeSeed(), sums: make(map[int64]uint64), newer: make(map[int64]uint64), wrong: make(map[int64]int64),
		unreadable: make(map[int64]bool), reporter: reporter,
		// An index begins with the state and the time.
		selectOrders: selectDerived + ` WHERE state ` + db.Dialect().InList + ` AND created_at >= $2 AND created_at < $3`,
	}
	blocks, err := search.Blocks(ctx, db.WithoutTimeout())
	if err == nil {
		c.states, err = sqldb.Column[int64](ctx, db.WithoutTimeout(), `SELECT DISTINCT state FROM orders`)
	}
	for _, state := range order.States() {
		c.states = append(c.states, int64(state)) // a change may make the first order of a state
	}
	for n := 0; n < len(blocks) && err == nil; n++ {
		err = maintenance.Slice(ctx, db, func(q sqldb.Querier) error {
			if err := c.readOrders(ctx, q, blocks[n]); err != nil {
				return err
			}
			return c.readWords(ctx, q, blocks[n])
		})
	}
	if err != nil {
		return fmt.Errorf("check the words of orders: %w", err)
	}
	maps.DeleteFunc(c.sums, func(_ int64, sum uint64) bool { return sum == 0 })
	merchants := slices.Collect(maps.Keys(c.sums))
	if options.Repair {
		maps.DeleteFunc(c.newer, func(_ int64, sum uint64) bool { return sum == 0 })
		merchants = slices.AppendSeq(merchants, maps.Keys(c.newer))
	}
	merchants = slices.AppendSeq(merchants, maps.Keys(c.wrong))
	slices.Sort(merchants)
	for _, id := range slices.Compact(merchants) {
		if c.unreadable[id] {
			continue
		}
		if options.Repair {
			if err := rebuildWords(ctx, db, id); err != nil {
				return fmt.Errorf("rebuild the words of merchant %d: %w", id, err)
			}
			options.OnRepair(fmt.Sprintf("merchant %d: rebuilt the words and deadlines by which its orders are found", id))
			continue
		}
		problem := "the words by which its orders are found are not those of the orders"
		if c.sums[id] == 0 {
			problem = fmt.Sprintf("%d orders have another deadline (expires_at) than their details", c.wrong[id])
		}
		reporter.Find(maintenance.Finding{MerchantID: id, Problem: problem, Cure: "check --repair rebuilds them"})
	}
	return nil
}

// selectDerived reads orders and what is derived from them.
const selectDerived = `SELECT merchant_id, legacy_id, reference, created_at, email, phone, first_name, last_name, company,
	merchant_reference, merchant_note, invoice_numbers, expires_at, details FROM orders`

// derivedOrder is an order with what is derived from it.
type derivedOrder struct {
	order.Order
	wrongDeadline bool // the column expires_at differs from the details
	undecodable   error
}

func scanDerived(rows sqldb.Rows) (derivedOrder, error) {
	var o derivedOrder
	var expiresAt time.Time
	var encoded sql.RawBytes
	err := rows.Scan(&o.MerchantID, &o.LegacyID, &o.Reference, sqldb.Time(&o.CreatedAt), &o.Customer.Email, &o.Customer.Phone,
		&o.Customer.FirstName, &o.Customer.LastName, &o.Customer.Company, &o.MerchantData.Reference, &o.MerchantData.Note, &o.InvoiceNumbers, sqldb.Time(&expiresAt), &encoded)
	if err == nil {
		o.undecodable = orderpb.DecodeDetails(encoded, &o.Order)
	}
	o.wrongDeadline = expiresAt.Unix() != o.ExpiresAt.Unix()
	return o, err
}

func (c *wordCheck) sumsOf(word search.Word) map[int64]uint64 {
	if word.SinceFirst() {
		return c.newer
	}
	return c.sums
}

// readOrders adds what the orders of a block should have.
func (c *wordCheck) readOrders(ctx context.Context, q sqldb.Querier, block int64) error {
	from, to := search.BlockTimes(block)
	return q.Query(ctx, c.selectOrders, []any{c.states, from, to}, func(rows sqldb.Rows) error {
		o, err := scanDerived(rows)
		if err == nil && o.undecodable != nil {
			c.unreadable[o.MerchantID] = true
			c.reporter.Find(maintenance.Finding{
				MerchantID: o.MerchantID, OrderLegacyID: o.LegacyID, OrderReference: o.Reference,
				Problem: "its details cannot be decoded", Cure: "put the row back from a backup; until then the order cannot be read",
			})
			return nil
		}
		for _, word := range search.WordsOf(&o.Order) {
			c.sumsOf(word)[o.MerchantID] += maphash.Comparable(c.seed, word)
		}
		if o.wrongDeadline {
			c.wrong[o.MerchantID]++
		}
		return err
	})
}

// readWords subtracts the words of a block that are stored where searches find them.
func (c *wordCheck) readWords(ctx context.Context, q sqldb.Querier, block int64) error {
	return q.Query(ctx, `SELECT word, created_at, legacy_id, merchant_id FROM order_words WHERE block = $1`, []any{block}, func(rows sqldb.Rows) error {
		var word search.Word
		err := rows.Scan(&word.Text, &word.CreatedAt, &word.LegacyID, &word.MerchantID)
		if !word.Misplaced(block) {
			c.sumsOf(word)[word.MerchantID] -= maphash.Comparable(c.seed, word)
		}
		return err
	})
}

// rebuildPage is how many orders a transaction of rebuildWords derives the words of.
const rebuildPage = 100

// rebuildWords deletes the words of a merchant, and derives words and deadlines from its
// orders again. Servers may change orders meanwhile. If it is interrupted, the next check
// finds what is missing.
func rebuildWords(ctx context.Context, db sqldb.DB, merchantID int64) error {
	err := sqldb.RetryTx(ctx, db, func(q sqldb.Querier) error {
		_, err := q.WithoutTimeout().Exec(ctx, `DELETE FROM order_words WHERE merchant_id = $1`, merchantID)
		return err
	})
	for after, n := int64(0), rebuildPage; n == rebuildPage && err == nil; {
		var page []derivedOrder
		err = sqldb.RetryTx(ctx, db, func(q sqldb.Querier) (err error) {
			page, err = rebuildOrders(ctx, q, db.Dialect(), merchantID, after)
			return err
		})
		if n = len(page); n > 0 {
			after = page[n-1].LegacyID
		}
	}
	return err
}

// rebuildOrders derives the words and deadlines of the next orders of a merchant, and
// returns these orders. It locks them, as a change does that rewrites their words.
func rebuildOrders(ctx context.Context, q sqldb.Querier, dialect *sqldb.Dialect, merchantID, after int64) ([]derivedOrder, error) {
	orders, err := sqldb.All(ctx, q, selectDerived+` WHERE merchant_id = $1 AND legacy_id > $2 ORDER BY legacy_id LIMIT $3+0`+dialect.RowLock,
		[]any{merchantID, after, rebuildPage}, scanDerived)
	if err != nil {
		return nil, err
	}
	var derived []search.Word
	for _, o := range orders {
		derived = append(derived, search.WordsOf(&o.Order)...)
		if !o.wrongDeadline {
			continue
		}
		var expiresAt any
		if !o.ExpiresAt.IsZero() {
			expiresAt = o.ExpiresAt.Unix()
		}
		_, err := q.Exec(ctx, `UPDATE orders SET expires_at = $1, deadline_warned = 0 WHERE merchant_id = $2 AND legacy_id = $3`, expiresAt, merchantID, o.LegacyID)
		if err != nil {
			return nil, err
		}
	}
	return orders, search.Add(ctx, q, dialect, derived) // words of changes meanwhile may be there
}
