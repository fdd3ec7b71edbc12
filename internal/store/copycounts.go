package store

import (
	"context"
	"fmt"

	"merchantorders/internal/store/sqldb"
)

// TableCounts is how many rows there are of one merchant.
type TableCounts struct {
	Orders, Days, Invoices, Events int64
}

// Counts counts a merchant's rows.
func (s *Snapshot) Counts(ctx context.Context, merchantID int64) (TableCounts, error) {
	var c TableCounts
	for _, one := range []struct {
		text string
		into *int64
	}{
		{`SELECT COUNT(*) FROM orders WHERE merchant_id = $1`, &c.Orders},
		{`SELECT COUNT(*) FROM order_days WHERE merchant_id = $1`, &c.Days},
		{`SELECT COUNT(*) FROM invoices WHERE merchant_id = $1`, &c.Invoices},
		{`SELECT COUNT(*) FROM events WHERE merchant_id = $1`, &c.Events},
	} {
		if err := s.QueryRow(ctx, one.text, []any{merchantID}, one.into); err != nil {
			return TableCounts{}, fmt.Errorf("count rows: %w", err)
		}
	}
	return c, nil
}

// KeyCounts counts the order keys of each merchant.
func (s *Snapshot) KeyCounts(ctx context.Context) (map[int64]int64, error) {
	return s.perMerchant(ctx, `SELECT merchant_id, COUNT(*) FROM order_keys GROUP BY merchant_id`)
}

// OrderCounts counts the orders of each merchant.
func (s *Snapshot) OrderCounts(ctx context.Context) (map[int64]int64, error) {
	return s.perMerchant(ctx, `SELECT merchant_id, COUNT(*) FROM orders GROUP BY merchant_id`)
}

// LastEvents returns the number of the newest event of each merchant.
func (s *Snapshot) LastEvents(ctx context.Context) (map[int64]int64, error) {
	return s.perMerchant(ctx, `SELECT id, last_event FROM merchants`)
}

// CountTokens counts all tokens.
func (s *Snapshot) CountTokens(ctx context.Context) (int64, error) {
	var n int64
	err := s.QueryRow(ctx, `SELECT COUNT(*) FROM tokens`, nil, &n)
	return n, err
}

func (s *Snapshot) perMerchant(ctx context.Context, text string) (map[int64]int64, error) {
	numbers := make(map[int64]int64)
	err := sqldb.Each(ctx, s, text, nil, func(rows sqldb.Rows) error {
		var id, n int64
		err := rows.Scan(&id, &n)
		numbers[id] = n
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count rows: %w", err)
	}
	return numbers, nil
}
