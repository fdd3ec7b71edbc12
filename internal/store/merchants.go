package store

import (
	"context"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

// AddMerchant implements order.Tx.
func (t *tx) AddMerchant(ctx context.Context, merchant order.Merchant) error {
	n, err := t.Exec(ctx, `INSERT INTO merchants (id, name, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (id) DO NOTHING`, merchant.ID, merchant.Name, merchant.CreatedAt.Unix())
	if err != nil || n > 0 {
		return err
	}
	var name string
	if err := t.QueryRow(ctx, `SELECT name FROM merchants WHERE id = $1`, []any{merchant.ID}, &name); err != nil {
		return err
	}
	if name != merchant.Name {
		return order.ErrMerchantExists
	}
	return nil
}

// Merchants implements order.Store.
func (db *DB) Merchants(ctx context.Context) ([]order.Merchant, error) {
	defer db.timed("merchants")()
	merchants, err := sqldb.All(ctx, db.sql, `SELECT id, name, created_at FROM merchants ORDER BY id`, nil,
		func(rows sqldb.Rows) (order.Merchant, error) {
			var m order.Merchant
			var createdAt int64
			err := rows.Scan(&m.ID, &m.Name, &createdAt)
			m.CreatedAt = time.Unix(createdAt, 0).UTC()
			return m, err
		})
	return merchants, db.readError("list merchants", err, nil)
}

// merchantExists reports whether there is a merchant with that id.
func (t *tx) merchantExists(ctx context.Context, id int64) (bool, error) {
	var n int64
	err := t.QueryRow(ctx, `SELECT COUNT(*) FROM merchants WHERE id = $1`, []any{id}, &n)
	return n > 0, err
}
