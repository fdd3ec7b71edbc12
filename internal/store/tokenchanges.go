package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/token"
)

// selectTokens is completed by a condition.
const (
	tokenColumns = `id, merchant_id, scopes, hint, label, created_at, created_by, expires_at, revoked_at, last_used_at, last_used_from, passkey`
	selectTokens = `SELECT ` + tokenColumns + ` FROM tokens WHERE `
)

// tokenDest returns the Scan destinations of selectTokens.
func tokenDest(t *token.Token) []any {
	return []any{
		&t.ID, &t.MerchantID, sqldb.Int(&t.Scopes), &t.Hint, &t.Label, sqldb.Time(&t.CreatedAt), sqldb.IntOrZero(&t.CreatedBy), sqldb.Time(&t.ExpiresAt),
		sqldb.Time(&t.RevokedAt), sqldb.Time(&t.LastUsedAt), sqldb.OrEmpty(&t.LastUsedFrom), sqldb.OrEmpty(&t.Passkey),
	}
}

// Tokens implements token.Store.
func (db *DB) Tokens(ctx context.Context, filter token.Filter, now time.Time) (_ []token.Token, err error) {
	defer db.observe(&ctx, "tokens")(&err)
	text, args := db.tokensStatement(filter, now)
	tokens, err := sqldb.All(ctx, db.sql, text, args, scanToken)
	return tokens, db.readError("list tokens", err, nil)
}

const (
	// tokenEnd is when a token ends, as the indexes have it.
	tokenEnd = `COALESCE(revoked_at, expires_at, 9223372036854775807)`
	// validToken is the condition for tokens that are valid at a time.
	validToken = `revoked_at IS NULL AND ` + tokenEnd + ` > `
)

// tokensStatement returns the statement that reads a page of tokens, and its arguments.
func (db *DB) tokensStatement(filter token.Filter, now time.Time) (string, []any) {
	var args []any
	param := func(value any) string {
		args = append(args, value)
		return "$" + strconv.Itoa(len(args))
	}
	var conditions []string
	add := func(condition string) { conditions = append(conditions, condition) }
	if filter.IDs != nil {
		args = append(args, filter.IDs) // the first one, as Dialect.InList needs it
		add(`id ` + db.dialect.InList)
	}
	id := `id`
	if filter.Validity == token.Active {
		id = `id+0` // not in the order of ids, which leads through all tokens that have ended
	}
	add(id + ` > ` + param(filter.After))
	if filter.Operator || filter.MerchantID != 0 {
		add(`merchant_id = ` + param(filter.MerchantID))
	}
	switch filter.Validity {
	case token.AnyValidity:
	case token.Active:
		add(validToken + param(now.Unix()))
	case token.Expired:
		add(`revoked_at IS NULL AND expires_at <= ` + param(now.Unix()))
	case token.Revoked:
		add(`revoked_at IS NOT NULL`)
	}
	if filter.Label != "" {
		label := `label` + db.dialect.ByteOrder
		add(label + ` >= ` + param(filter.Label) + ` AND ` + label + ` < ` + param(filter.Label+afterAnyText))
	}
	if filter.Passkeys {
		add(`passkey IS NOT NULL`)
	}
	if filter.Scopes != 0 {
		scopes := param(int64(filter.Scopes))
		add(`scopes & ` + scopes + ` = ` + scopes)
	}
	text := selectTokens + strings.Join(conditions, ` AND `) + ` ORDER BY ` + id
	if filter.Limit > 0 {
		text += ` LIMIT ` + param(filter.Limit) + `+0`
	}
	return text, args
}

// ChangeTokens implements token.Store.
func (db *DB) ChangeTokens(ctx context.Context, fn func(token.Tx) error) error {
	return db.inTx(ctx, "token", func(t *tx) error { return fn(t) })
}

// LockToken implements token.Tx.
func (t *tx) LockToken(ctx context.Context, id int64) (locked token.Token, bound time.Time, err error) {
	err = t.QueryRow(ctx, `SELECT `+tokenColumns+`, bound_at FROM tokens WHERE id = $1`+t.db.dialect.RowLock, []any{id}, append(tokenDest(&locked), sqldb.Time(&bound))...)
	return locked, bound, noRow(err, token.ErrUnknown)
}

// Descendants implements token.Tx.
func (t *tx) Descendants(ctx context.Context, id int64) ([]token.Token, error) {
	text := `WITH RECURSIVE made(id) AS (
			SELECT id FROM tokens WHERE created_by = $1
			UNION SELECT tokens.id FROM tokens JOIN made ON tokens.created_by = made.id
		) ` + selectTokens + `revoked_at IS NULL AND id IN (SELECT id FROM made) ORDER BY id` + t.db.dialect.RowLock
	return sqldb.All(ctx, t, text, []any{id}, scanToken)
}

// scanToken scans a row of selectTokens.
func scanToken(rows sqldb.Rows) (t token.Token, err error) {
	err = rows.Scan(tokenDest(&t)...)
	return t, err
}

// AddToken implements token.Tx.
func (t *tx) AddToken(ctx context.Context, hash token.Hash, added token.Token, entry order.AuditEntry) (int64, error) {
	var id, merchantID int64
	err := t.QueryMany(ctx, func(yield func(string, []any) bool) {
		_ = yield(`UPDATE counters SET last = last + 1 WHERE name = 'token' RETURNING last`, nil) &&
			yield(`SELECT id FROM merchants WHERE id = $1`, []any{added.MerchantID})
	}, func(n int, rows sqldb.Rows) error { return rows.Scan([]any{&id, &merchantID}[n]) })
	if err == nil && merchantID != added.MerchantID {
		err = order.ErrMerchantNotFound
	}
	if err != nil {
		return 0, err
	}
	err = t.Later(ctx, nil, `INSERT INTO tokens (id, hash, merchant_id, scopes, hint, label, created_at, created_by, expires_at, bound_at, passkey)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10)`,
		id, hash[:], added.MerchantID, int64(added.Scopes), added.Hint, added.Label, seconds(added.CreatedAt), idOrNull(added.CreatedBy), seconds(added.ExpiresAt), textOrNull(added.Passkey))
	if err != nil {
		return 0, err
	}
	entry.SubjectID = id
	t.addAudit(added.MerchantID, entry)
	return id, nil
}

// expectMerchant returns order.ErrMerchantNotFound if there is no merchant with that id.
func (t *tx) expectMerchant(ctx context.Context, id int64) error {
	found, err := t.existingMerchants(ctx, id)
	if err == nil && len(found) == 0 {
		err = order.ErrMerchantNotFound
	}
	return err
}

// ExpireToken implements token.Tx.
func (t *tx) ExpireToken(ctx context.Context, id int64, at time.Time) error {
	return t.update(ctx, token.ErrUnknown, `UPDATE tokens SET expires_at = $1 WHERE id = $2`, seconds(at), id)
}

// RevokeToken implements token.Tx.
func (t *tx) RevokeToken(ctx context.Context, id int64, at time.Time, entry order.AuditEntry) error {
	if err := t.update(ctx, token.ErrUnknown, `UPDATE tokens SET revoked_at = $1 WHERE id = $2`, seconds(at), id); err != nil {
		return err
	}
	t.addAudit(entry.MerchantID, entry)
	return nil
}

// LockPasskeys implements token.Tx.
func (t *tx) LockPasskeys(ctx context.Context, merchantID int64, label string) ([]token.Token, error) {
	return sqldb.All(ctx, t, selectTokens+`merchant_id = $1 AND passkey IS NOT NULL AND label = $2 AND revoked_at IS NULL ORDER BY id`+t.db.dialect.RowLock, []any{merchantID, label}, scanToken)
}

// RecordPasskey implements token.Tx.
func (t *tx) RecordPasskey(ctx context.Context, id int64, record string) error {
	return t.update(ctx, token.ErrUnknown, `UPDATE tokens SET passkey = $1 WHERE id = $2`, record, id)
}

// UnrevokedTokens implements token.Tx.
func (t *tx) UnrevokedTokens(ctx context.Context, merchantID int64) ([]int64, error) {
	if err := t.expectMerchant(ctx, merchantID); err != nil {
		return nil, err
	}
	// In the order of ids, so that two transactions cannot deadlock.
	return sqldb.Column[int64](ctx, t, `SELECT id FROM tokens WHERE merchant_id = $1 AND revoked_at IS NULL ORDER BY id`+t.db.dialect.RowLock, merchantID)
}

// selectTokenCounts counts up to $3 of each: more than a merchant may have makes no difference.
// Tokens that were created after a time end after it.
const selectTokenCounts = `SELECT
	(SELECT COUNT(*) FROM (SELECT 1 FROM tokens WHERE merchant_id = $1 AND hint <> '' AND created_by IS NOT NULL AND ` + validToken + `$2 LIMIT $3+0) n),
	(SELECT COUNT(*) FROM (SELECT 1 FROM tokens WHERE merchant_id = $1 AND hint <> '' AND created_by IS NOT NULL AND ` + tokenEnd + ` > $4 AND created_at > $4 LIMIT $3+0) n),
	(SELECT COUNT(*) FROM (SELECT 1 FROM tokens WHERE merchant_id = $1 AND passkey IS NOT NULL AND ` + validToken + `$2 LIMIT $3+0) n),
	(SELECT COUNT(*) FROM (SELECT 1 FROM tokens WHERE merchant_id = $1 AND hint = '' AND passkey IS NULL AND created_by IS NOT NULL AND created_at > $4 LIMIT $3+0) n)
	+ (SELECT COUNT(*) FROM (SELECT 1 FROM login_links WHERE merchant_id = $1 AND created_by IS NOT NULL AND expires_at > $2 LIMIT $3+0) n)`

// CountTokens implements token.Tx. It locks the row from which the next token takes its
// id.
func (t *tx) CountTokens(ctx context.Context, merchantID int64, now, after time.Time) (n token.Counts, err error) {
	var last int64
	if err := t.QueryRow(ctx, `SELECT last FROM counters WHERE name = 'token'`+t.db.dialect.RowLock, nil, &last); err != nil {
		return n, err
	}
	err = t.QueryRow(ctx, selectTokenCounts, []any{merchantID, now.Unix(), max(token.MaxValid, token.MaxPerDay, token.MaxPasskeys), after.Unix()}, sqldb.Int(&n.Valid), sqldb.Int(&n.Created), sqldb.Int(&n.Passkeys), sqldb.Int(&n.Links))
	return n, err
}

// selectEndedTokens finds the tokens of sessions that ended before a time, the oldest first.
const selectEndedTokens = `SELECT id FROM tokens WHERE hint = '' AND passkey IS NULL AND ` + tokenEnd + ` < $1 ORDER BY ` + tokenEnd + ` LIMIT $2+0`

// DeleteSessionTokens implements token.Store.
func (db *DB) DeleteSessionTokens(ctx context.Context, before time.Time, limit int) (deleted int, err error) {
	err = db.inTx(ctx, "forget_tokens", func(t *tx) error {
		// 1.0.0, which may run beside this version, does not say whose session it begins.
		if _, err := t.Exec(ctx, `UPDATE sessions SET merchant_id = (SELECT merchant_id FROM tokens WHERE id = token_id) WHERE merchant_id IS NULL`); err != nil {
			return err
		}
		ids, err := sqldb.Column[int64](ctx, t, selectEndedTokens, before.Unix(), limit)
		if deleted = len(ids); err != nil || deleted == 0 {
			return err
		}
		for _, text := range []string{`DELETE FROM sessions WHERE token_id `, `DELETE FROM tokens WHERE id `} {
			if err := t.Later(ctx, nil, text+t.db.dialect.InList, ids); err != nil {
				return err
			}
		}
		return nil
	})
	return deleted, err
}
