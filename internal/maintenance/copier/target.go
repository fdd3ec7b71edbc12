package copier

import (
	"context"
	"fmt"
	"slices"

	"merchantorders/internal/store/sqldb"
)

// checkTarget returns ErrForeignTarget with a reason if the target holds
// anything that the source does not have.
func checkTarget(ctx context.Context, source, target sqldb.DB) error {
	return snapshot(ctx, target, func(target sqldb.Querier) error {
		return snapshot(ctx, source, func(source sqldb.Querier) error {
			if err := checkMerchants(ctx, source, target); err != nil {
				return err
			}
			return checkTokens(ctx, source, target)
		})
	})
}

// checkMerchants looks for merchants, orders and events that the source lacks.
func checkMerchants(ctx context.Context, source, target sqldb.Querier) error {
	sources, err := readMerchants(ctx, source)
	if err != nil {
		return err
	}
	targets, err := readMerchants(ctx, target)
	if err != nil {
		return err
	}
	inSource := make(map[merchantIdentity]bool, len(sources))
	for _, m := range sources {
		inSource[m] = true
	}
	known := make(map[int64]bool, len(targets))
	for _, m := range targets {
		known[m.id] = true
		if !inSource[m] {
			return fmt.Errorf("%w: merchant %d is another one", ErrForeignTarget, m.id)
		}
		if err := checkEvents(ctx, source, target, m.id); err != nil {
			return err
		}
	}
	return sqldb.Each(ctx, target, `SELECT DISTINCT merchant_id FROM orders`, nil, func(rows sqldb.Rows) error {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return err
		}
		if !known[id] {
			return fmt.Errorf("%w: it has orders of merchant %d", ErrForeignTarget, id)
		}
		return nil
	})
}

// merchantIdentity is what distinguishes merchants of different installations.
type merchantIdentity struct {
	id        int64
	name      string
	createdAt int64
}

func readMerchants(ctx context.Context, q sqldb.Querier) ([]merchantIdentity, error) {
	return sqldb.All(ctx, q, `SELECT id, name, created_at FROM merchants ORDER BY id`, nil,
		func(rows sqldb.Rows) (merchantIdentity, error) {
			var m merchantIdentity
			err := rows.Scan(&m.id, &m.name, &m.createdAt)
			return m, err
		})
}

// checkEvents compares the target's newest event with the same event of the
// source. The marks of events differ if the histories differ before them.
func checkEvents(ctx context.Context, source, target sqldb.Querier, merchantID int64) error {
	var newest int64
	err := target.QueryRow(ctx, `SELECT COALESCE(MAX(seq), 0) FROM events WHERE merchant_id = $1`, []any{merchantID}, &newest)
	if err != nil {
		return err
	}
	event, err := readEvents(ctx, target, merchantID, newest-1, newest)
	if err != nil {
		return err
	}
	differing, err := event.differingRows(ctx, source)
	if err == nil && len(differing) > 0 {
		err = fmt.Errorf("%w: merchant %d has other events", ErrForeignTarget, merchantID)
	}
	return err
}

// checkTokens looks for tokens that the source lacks.
func checkTokens(ctx context.Context, source, target sqldb.Querier) error {
	sets, err := readTokens(ctx, target)
	if err != nil {
		return err
	}
	for _, set := range sets {
		sourceRows, err := set.readFrom(ctx, source)
		if err != nil {
			return err
		}
		hashes := make(map[int64]string, len(sourceRows))
		for _, row := range sourceRows {
			hashes[tokensTable.int(row, "id")] = string(tokensTable.column(row, "hash").([]byte))
		}
		for _, row := range set.rows {
			id := tokensTable.int(row, "id")
			if hash, ok := hashes[id]; !ok || hash != string(tokensTable.column(row, "hash").([]byte)) {
				return fmt.Errorf("%w: it has another token %d", ErrForeignTarget, id)
			}
		}
	}
	return nil
}

// insertWithoutEvents inserts the row of a merchant with the event number 0,
// unless the target has a row.
func insertWithoutEvents(ctx context.Context, tx sqldb.Querier, merchant rowSet) error {
	existing, err := merchant.readFrom(ctx, tx)
	if err != nil || len(existing) > 0 {
		return err
	}
	row := slices.Clone(merchant.rows[0])
	row[slices.Index(merchantsTable.columns, "last_event")] = int64(0)
	row[slices.Index(merchantsTable.columns, "data_mark")] = int64(0)
	_, err = tx.Exec(ctx, merchantsTable.insertOne, row...)
	return err
}
