package store

import (
	"context"

	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/token"
)

// Keep implements token.SessionStore. The lock of the merchant lets one check after another see
// what is kept.
func (db *DB) Keep(ctx context.Context, merchantID int64, kind token.KeptKind, person string, k token.Kept, most int, check func([]token.Kept) (instead string, err error)) error {
	return db.inTx(ctx, "keep", func(t *tx) error {
		instead := k.Name
		if check != nil {
			if _, err := t.LockMerchant(ctx, merchantID); err != nil {
				return err
			}
			kept, err := keptOf(ctx, t, merchantID, kind, person)
			if err == nil {
				instead, err = check(kept)
			}
			if err != nil {
				return err
			}
		}
		_, err := t.Exec(ctx, `INSERT INTO kept (merchant_id, kind, person, name, value, at) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (merchant_id, kind, person, name) DO UPDATE SET value = excluded.value, at = excluded.at`,
			merchantID, int64(kind), person, k.Name, k.Value, seconds(k.At))
		if err == nil && instead != k.Name {
			err = t.forget(ctx, merchantID, kind, person, instead)
		}
		if err != nil {
			return err
		}
		_, err = t.Exec(ctx, `DELETE FROM kept WHERE merchant_id = $1 AND kind = $2
			AND at < (SELECT at FROM kept WHERE merchant_id = $1 AND kind = $2 ORDER BY at DESC LIMIT 1 OFFSET $3+0)`, merchantID, int64(kind), most-1)
		return err
	})
}

// Kept implements token.SessionStore.
func (db *DB) Kept(ctx context.Context, merchantID int64, kind token.KeptKind, person string) (_ []token.Kept, err error) {
	defer db.observe(&ctx, "kept")(&err)
	kept, err := keptOf(ctx, db.sql, merchantID, kind, person)
	return kept, db.readError("read what is kept", err, nil)
}

const selectKept = `SELECT name, value, at FROM kept WHERE merchant_id = $1 AND kind = $2 AND person = $3 ORDER BY at DESC, name`

func keptOf(ctx context.Context, q sqldb.Querier, merchantID int64, kind token.KeptKind, person string) ([]token.Kept, error) {
	return sqldb.All(ctx, q, selectKept, []any{merchantID, int64(kind), person}, func(rows sqldb.Rows) (k token.Kept, err error) {
		err = rows.Scan(&k.Name, &k.Value, sqldb.Time(&k.At))
		return k, err
	})
}

// Forget implements token.SessionStore.
func (db *DB) Forget(ctx context.Context, merchantID int64, kind token.KeptKind, person, name string) error {
	return db.inTx(ctx, "forget", func(t *tx) error { return t.forget(ctx, merchantID, kind, person, name) })
}

func (t *tx) forget(ctx context.Context, merchantID int64, kind token.KeptKind, person, name string) error {
	_, err := t.Exec(ctx, `DELETE FROM kept WHERE merchant_id = $1 AND kind = $2 AND person = $3 AND name = $4`, merchantID, int64(kind), person, name)
	return err
}
