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
	"merchantorders/internal/store"
	"merchantorders/internal/store/orderpb"
	"merchantorders/internal/store/sqldb"
)

// wordCheck compares what is derived from orders for the search with the orders. It
// holds a sum of hashes for each merchant, not the words.
type wordCheck struct {
	seed  maphash.Seed
	sums  map[int64]uint64 // of the words that orders should have, less those stored
	wrong map[int64]int64  // orders whose column expires_at differs from their details
}

// checkWords checks the words and the deadlines by which orders are found. Orders that
// are yet to be indexed count for nothing.
func checkWords(ctx context.Context, db sqldb.DB, options Options, reporter *maintenance.Reporter) error {
	c := &wordCheck{seed: maphash.MakeSeed(), sums: make(map[int64]uint64), wrong: make(map[int64]int64)}
	err := db.Snapshot(ctx, func(q sqldb.Querier) error {
		q = q.WithoutTimeout()
		if err := c.readOrders(ctx, q); err != nil {
			return err
		}
		return c.readWords(ctx, q)
	})
	if err != nil {
		return fmt.Errorf("check the words of orders: %w", err)
	}
	maps.DeleteFunc(c.sums, func(_ int64, sum uint64) bool { return sum == 0 })
	merchants := slices.Collect(maps.Keys(c.sums))
	merchants = slices.AppendSeq(merchants, maps.Keys(c.wrong))
	slices.Sort(merchants)
	for _, id := range slices.Compact(merchants) {
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

const selectIndexedOrders = `SELECT merchant_id, legacy_id, reference, created_at, email, phone, first_name, last_name, company,
	expires_at, details FROM orders WHERE indexed = 1`

// readOrders adds what the orders should have.
func (c *wordCheck) readOrders(ctx context.Context, q sqldb.Querier) error {
	return sqldb.Each(ctx, q, selectIndexedOrders, nil, func(rows sqldb.Rows) error {
		var o order.Order
		var createdAt int64
		var phone sql.NullString
		var expiresAt sql.NullInt64
		var details sql.RawBytes
		err := rows.Scan(&o.MerchantID, &o.LegacyID, &o.Reference, &createdAt, &o.Customer.Email, &phone,
			&o.Customer.FirstName, &o.Customer.LastName, &o.Customer.Company, &expiresAt, &details)
		if err != nil {
			return err
		}
		if o.CreatedAt = time.Unix(createdAt, 0); phone.Valid {
			o.Customer.Phone = &phone.String
		}
		for _, word := range store.WordsOf(&o) {
			c.sums[o.MerchantID] += maphash.Comparable(c.seed, word)
		}
		if err := orderpb.DecodeDetails(details, &o); err != nil {
			return err
		}
		if expiresAt.Valid == o.ExpiresAt.IsZero() || expiresAt.Valid && expiresAt.Int64 != o.ExpiresAt.Unix() {
			c.wrong[o.MerchantID]++
		}
		return nil
	})
}

// readWords subtracts the words that are stored where searches find them.
func (c *wordCheck) readWords(ctx context.Context, q sqldb.Querier) error {
	return sqldb.Each(ctx, q, `SELECT block, word, created_at, legacy_id, merchant_id FROM order_words`, nil, func(rows sqldb.Rows) error {
		var block int64
		var word store.Word
		err := rows.Scan(&block, &word.Text, &word.CreatedAt, &word.LegacyID, &word.MerchantID)
		if !word.Misplaced(block) {
			c.sums[word.MerchantID] -= maphash.Comparable(c.seed, word)
		}
		return err
	})
}

// rebuildWords deletes the words of a merchant and indexes its orders again. Servers
// may do the latter too.
func rebuildWords(ctx context.Context, db sqldb.DB, merchantID int64) error {
	err := sqldb.RetryTx(ctx, db, func(q sqldb.Querier) error {
		q = q.WithoutTimeout()
		// The orders first, so that no other transaction indexes one in between.
		if _, err := q.Exec(ctx, `UPDATE orders SET indexed = 0 WHERE merchant_id = $1`, merchantID); err != nil {
			return err
		}
		_, err := q.Exec(ctx, `DELETE FROM order_words WHERE merchant_id = $1`, merchantID)
		return err
	})
	orders := store.New(db, store.Options{})
	for n := 1; n > 0 && err == nil; {
		n, err = orders.IndexOrders(ctx)
	}
	return err
}
