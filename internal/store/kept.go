package store

import (
	"context"
	"time"

	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/token"
)

// Keep implements token.SessionStore.
func (db *DB) Keep(ctx context.Context, merchantID int64, kind token.KeptKind, person string, k token.Kept, most int) error {
	return db.inTx(ctx, "keep", func(t *tx) error {
		_, err := t.Exec(ctx, `INSERT INTO kept (merchant_id, kind, person, name, value, at) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (merchant_id, kind, person, name) DO UPDATE SET value = excluded.value, at = excluded.at`,
			merchantID, int64(kind), person, k.Name, k.Value, seconds(k.At))
		if err != nil {
			return err
		}
		_, err = t.Exec(ctx, `DELETE FROM kept WHERE merchant_id = $1 AND kind = $2
			AND at < (SELECT at FROM kept WHERE merchant_id = $1 AND kind = $2 ORDER BY at DESC LIMIT 1 OFFSET $3+0)`, merchantID, int64(kind), most-1)
		return err
	})
}

const selectKept = `SELECT name, value, at FROM kept WHERE merchant_id = $1 AND kind = $2 AND person = $3 ORDER BY at DESC, name`

// Kept implements token.SessionStore.
func (db *DB) Kept(ctx context.Context, merchantID int64, kind token.KeptKind, person string) (_ []token.Kept, err error) {
	defer db.observe(&ctx, "kept")(&err)
	kept, err := sqldb.All(ctx, db.sql, selectKept, []any{merchantID, int64(kind), person}, func(rows sqldb.Rows) (k token.Kept, err error) {
		var at int64
		err = rows.Scan(&k.Name, &k.Value, &at)
		k.At = time.Unix(at, 0).UTC()
		return k, err
	})
	return kept, db.readError("read what is kept", err, nil)
}

// Forget implements token.SessionStore.
func (db *DB) Forget(ctx context.Context, merchantID int64, kind token.KeptKind, person, name string) error {
	return db.inTx(ctx, "forget", func(t *tx) error {
		_, err := t.Exec(ctx, `DELETE FROM kept WHERE merchant_id = $1 AND kind = $2 AND person = $3 AND name = $4`, merchantID, int64(kind), person, name)
		return err
	})
}
