package maintenance

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// Installation is a database and the storage of its invoice files.
type Installation struct {
	DB    sqldb.DB
	Files Files
}

// Files is a storage whose files can be listed.
type Files interface {
	order.Files
	// Each calls fn with the path of every stored file.
	Each(ctx context.Context, fn func(path string) error) error
}

// MerchantIDs returns the ids of all merchants in ascending order.
func MerchantIDs(ctx context.Context, q sqldb.Querier) ([]int64, error) {
	events, err := LastEvents(ctx, q)
	return slices.Sorted(maps.Keys(events)), err
}

// LastEvents returns the number of the newest event of each merchant.
func LastEvents(ctx context.Context, q sqldb.Querier) (map[int64]int64, error) {
	return perMerchant(ctx, q, `SELECT id, last_event FROM merchants`)
}

// OrderCounts returns the number of orders of each merchant that has any.
func OrderCounts(ctx context.Context, q sqldb.Querier) (map[int64]int64, error) {
	return perMerchant(ctx, q, `SELECT merchant_id, COUNT(*) FROM orders GROUP BY merchant_id`)
}

// OrderKeyCounts returns the number of order keys of each merchant that has any.
func OrderKeyCounts(ctx context.Context, q sqldb.Querier) (map[int64]int64, error) {
	return perMerchant(ctx, q, `SELECT merchant_id, COUNT(*) FROM order_keys GROUP BY merchant_id`)
}

func perMerchant(ctx context.Context, q sqldb.Querier, text string) (map[int64]int64, error) {
	numbers := make(map[int64]int64)
	err := sqldb.Each(ctx, q, text, nil, func(rows sqldb.Rows) error {
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
