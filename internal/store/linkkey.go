package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

const insertLinkKey = `INSERT INTO link_key (id, secret, created_at) VALUES (1, $1, $2) ON CONFLICT (id) `

// LinkKey implements order.Store.
func (db *DB) LinkKey(ctx context.Context) (_ order.LinkKey, _ bool, err error) {
	defer db.observe(&ctx, "link_key")(&err)
	key, err := readLinkKey(ctx, db.sql)
	if errors.Is(err, sql.ErrNoRows) {
		return order.LinkKey{}, false, nil
	}
	return key, err == nil, db.readError("read the key of links", err, nil)
}

func readLinkKey(ctx context.Context, q sqldb.Querier) (key order.LinkKey, err error) {
	var secret []byte
	if err := q.QueryRow(ctx, `SELECT secret FROM link_key WHERE id = 1`, nil, &secret); err != nil {
		return key, err
	}
	if len(secret) != len(key) {
		return key, fmt.Errorf("the key of links has %d bytes instead of %d", len(secret), len(key))
	}
	return order.LinkKey(secret), nil
}

// AddLinkKey implements order.Tx.
func (t *tx) AddLinkKey(ctx context.Context, key order.LinkKey, at time.Time) (order.LinkKey, error) {
	if _, err := t.Exec(ctx, insertLinkKey+`DO NOTHING`, key[:], at.Unix()); err != nil {
		return order.LinkKey{}, err
	}
	return readLinkKey(ctx, t)
}

// ReplaceLinkKey implements order.Tx.
func (t *tx) ReplaceLinkKey(ctx context.Context, key order.LinkKey, at time.Time) error {
	_, err := t.Exec(ctx, insertLinkKey+`DO UPDATE SET secret = excluded.secret, created_at = excluded.created_at`, key[:], at.Unix())
	return err
}
