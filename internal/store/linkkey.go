package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
)

const insertLinkKey = `INSERT INTO link_key (id, secret, created_at) VALUES (1, $1, $2) ON CONFLICT (id) `

// LinkKey implements order.Store.
func (db *DB) LinkKey(ctx context.Context) (order.LinkKey, bool, error) {
	defer db.timed("link_key")()
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

// AddLink implements order.Store.
func (db *DB) AddLink(ctx context.Context, key order.LinkKey, entry order.AuditEntry) (order.LinkKey, error) {
	var stored order.LinkKey
	err := db.inTx(ctx, "link", func(t *tx) (err error) {
		if _, err = t.Exec(ctx, insertLinkKey+`DO NOTHING`, key[:], entry.At.Unix()); err != nil {
			return err
		}
		if stored, err = readLinkKey(ctx, t); err != nil {
			return err
		}
		t.addAudit(entry.MerchantID, entry)
		return nil
	})
	return stored, err
}

// ReplaceLinkKey implements order.Store.
func (db *DB) ReplaceLinkKey(ctx context.Context, key order.LinkKey, entry order.AuditEntry) error {
	return db.inTx(ctx, "link", func(t *tx) error {
		_, err := t.Exec(ctx, insertLinkKey+`DO UPDATE SET secret = excluded.secret, created_at = excluded.created_at`, key[:], entry.At.Unix())
		if err != nil {
			return err
		}
		t.addAudit(entry.MerchantID, entry)
		return nil
	})
}
