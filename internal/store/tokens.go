package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/token"

	"merchantorders/internal/store/sqldb"
)

const (
	selectToken       = `SELECT id, merchant_id, scopes, hint, created_at, expires_at, revoked_at, last_used_at FROM tokens `
	selectTokenByHash = selectToken + `WHERE hash = $1`
)

// scanToken reads a row of selectToken.
func scanToken(scan func(...any) error) (token.Token, error) {
	var t token.Token
	var created, expires, revoked, used sql.NullInt64
	err := scan(&t.ID, &t.MerchantID, sqldb.Int(&t.Scopes), &t.Hint, &created, &expires, &revoked, &used)
	t.CreatedAt, t.ExpiresAt, t.RevokedAt, t.LastUsedAt = timeOf(created), timeOf(expires), timeOf(revoked), timeOf(used)
	return t, err
}

// TokenByHash implements token.Store.
func (db *DB) TokenByHash(ctx context.Context, hash token.Hash) (token.Token, error) {
	defer db.timed("token")()
	t, err := scanToken(func(into ...any) error {
		return db.sql.QueryRow(ctx, selectTokenByHash, []any{hash[:]}, into...)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return token.Token{}, token.ErrUnknown
	}
	if err != nil {
		return token.Token{}, db.wrap(fmt.Errorf("read token: %w", err))
	}
	return t, nil
}

// Statements that read what a request needs to know before all else: whether its
// token is good, and whether anything of its merchant has changed.
const (
	selectGrant = `SELECT t.id, merchant_id, scopes, expires_at, revoked_at, last_event, data_mark
		FROM tokens t LEFT JOIN merchants m ON m.id = t.merchant_id WHERE hash = $1`
	// selectGrantOf names the merchant, so that each table is read on the one
	// server that has the row.
	selectGrantOf = `SELECT id, merchant_id, scopes, expires_at, revoked_at,
		(SELECT last_event FROM merchants WHERE id = $2), (SELECT data_mark FROM merchants WHERE id = $2)
		FROM tokens WHERE hash = $1`
)

// Grant implements token.Store.
func (db *DB) Grant(ctx context.Context, hash token.Hash) (token.Grant, error) {
	// The version is read before the row, so that a commit in between makes the
	// cached grant stale.
	version, ok := db.sql.CommitVersion()
	if ok {
		if g, found := db.grants.cached(version, hash); found {
			return g, nil
		}
	}
	defer db.timed("token")()
	var g token.Grant
	var err error
	if ok {
		if g, err = readGrant(ctx, db.sql, selectGrant, hash[:]); err == nil {
			db.grants.put(version, hash, g)
		}
	} else {
		g, err = db.coalesceGrant(ctx, hash)
	}
	if errors.Is(err, sql.ErrNoRows) {
		return token.Grant{}, token.ErrUnknown
	}
	if err != nil {
		return token.Grant{}, db.wrap(fmt.Errorf("read token: %w", err))
	}
	return g, nil
}

func readGrant(ctx context.Context, r sqldb.Querier, text string, args ...any) (token.Grant, error) {
	var g token.Grant
	var expires, revoked, event, mark sql.NullInt64
	err := r.QueryRow(ctx, text, args, &g.ID, &g.MerchantID, sqldb.Int(&g.Scopes), &expires, &revoked, &event, &mark)
	g.ExpiresAt, g.RevokedAt, g.DataVersion = timeOf(expires), timeOf(revoked), order.DataVersion{Event: event.Int64, Mark: mark.Int64}
	return g, err
}

// AddToken implements token.Store.
func (db *DB) AddToken(ctx context.Context, hash token.Hash, t token.Token) (int64, error) {
	var id int64
	err := db.inTx(ctx, "token", func(tx *tx) error {
		if !t.Operator() {
			exists, err := tx.merchantExists(ctx, t.MerchantID)
			if err != nil {
				return err
			}
			if !exists {
				return token.ErrNoMerchant
			}
		}
		err := tx.QueryRow(ctx, `UPDATE counters SET last = last + 1 WHERE name = 'token' RETURNING last`, nil, &id)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO tokens (id, hash, merchant_id, scopes, hint, created_at, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			id, hash[:], t.MerchantID, int64(t.Scopes), t.Hint, seconds(t.CreatedAt), seconds(t.ExpiresAt))
		return err
	})
	return id, err
}

// Tokens implements token.Store.
func (db *DB) Tokens(ctx context.Context) ([]token.Token, error) {
	defer db.timed("tokens")()
	var tokens []token.Token
	err := sqldb.Each(ctx, db.sql, selectToken+`ORDER BY id`, nil, func(rows sqldb.Rows) error {
		t, err := scanToken(rows.Scan)
		tokens = append(tokens, t)
		return err
	})
	if err != nil {
		return nil, db.wrap(fmt.Errorf("list tokens: %w", err))
	}
	return tokens, nil
}

// RevokeToken implements token.Store.
func (db *DB) RevokeToken(ctx context.Context, id int64, at time.Time) error {
	return db.inTx(ctx, "token", func(t *tx) error {
		did, err := changed(t.Exec(ctx, `UPDATE tokens SET revoked_at = COALESCE(revoked_at, $1) WHERE id = $2`,
			seconds(at), id))
		if err == nil && !did {
			return token.ErrUnknown
		}
		return err
	})
}

// RecordTokenUse implements token.Store.
func (db *DB) RecordTokenUse(ctx context.Context, used map[int64]time.Time) error {
	ids := make([]int64, 0, len(used))
	for id := range used {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return db.inTx(ctx, "token", func(t *tx) error {
		for _, id := range ids {
			if _, err := t.Exec(ctx, `UPDATE tokens SET last_used_at = $1 WHERE id = $2`, seconds(used[id]), id); err != nil {
				return err
			}
		}
		return nil
	})
}
