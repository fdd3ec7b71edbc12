package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/token"
)

var _ token.SessionStore = (*DB)(nil)

// AddSession implements token.SessionStore.
func (db *DB) AddSession(ctx context.Context, hash token.Hash, s token.Session, unusedSince time.Time) error {
	return db.inTx(ctx, "session", func(t *tx) error {
		if _, err := t.Exec(ctx, `DELETE FROM sessions WHERE last_used_at < $1`, seconds(unusedSince)); err != nil {
			return err
		}
		return t.addSession(ctx, hash, s)
	})
}

func (t *tx) addSession(ctx context.Context, hash token.Hash, s token.Session) error {
	_, err := t.Exec(ctx, `INSERT INTO sessions (hash, token_id, owns_token, created_at, last_used_at) VALUES ($1, $2, $3, $4, $5)`,
		hash[:], s.TokenID, flag(s.OwnsToken), seconds(s.CreatedAt), seconds(s.LastUsedAt))
	return err
}

// Statements that read a session with the grant of its token. The first names the
// token's merchant. The second names it as a parameter, for the same reason as
// selectGrantOf.
const (
	selectSessionMerchant = `SELECT t.merchant_id FROM sessions s JOIN tokens t ON t.id = s.token_id WHERE s.hash = $1`
	selectSession         = `SELECT t.id, t.merchant_id, t.scopes, t.expires_at, t.revoked_at, ` + grantedColumns + `,
		m.name, s.owns_token, s.created_at, s.last_used_at
		FROM sessions s JOIN tokens t ON t.id = s.token_id LEFT JOIN (SELECT name, ` + grantedColumns + ` FROM merchants WHERE id = $1) m ON TRUE
		WHERE s.hash = $2`
)

// SessionGrant implements token.SessionStore.
func (db *DB) SessionGrant(ctx context.Context, hash token.Hash) (token.Session, token.Grant, error) {
	defer db.timed("session")()
	var merchantID, owns, created, used int64
	if err := db.sql.QueryRow(ctx, selectSessionMerchant, []any{hash[:]}, &merchantID); err != nil {
		return token.Session{}, token.Grant{}, db.readError("read session", err, token.ErrNoSession)
	}
	var row grantRow
	var name sql.NullString
	err := db.sql.QueryRow(ctx, selectSession, []any{merchantID, hash[:]}, append(row.dest(), &name, &owns, &created, &used)...)
	session := token.Session{
		TokenID: row.ID, OwnsToken: owns != 0, MerchantName: name.String,
		CreatedAt: time.Unix(created, 0).UTC(), LastUsedAt: time.Unix(used, 0).UTC(),
	}
	return session, row.grant(), db.readError("read session", err, token.ErrNoSession)
}

// TouchSession implements token.SessionStore.
func (db *DB) TouchSession(ctx context.Context, hash token.Hash, at time.Time) error {
	return db.inTx(ctx, "session", func(t *tx) error {
		_, err := t.Exec(ctx, `UPDATE sessions SET last_used_at = $1 WHERE hash = $2`, seconds(at), hash[:])
		return err
	})
}

// EndSession implements token.SessionStore.
func (db *DB) EndSession(ctx context.Context, hash token.Hash, at time.Time) error {
	return db.inTx(ctx, "session", func(t *tx) error {
		var tokenID, owns int64
		err := t.QueryRow(ctx, `DELETE FROM sessions WHERE hash = $1 RETURNING token_id, owns_token`, []any{hash[:]}, &tokenID, &owns)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil || owns == 0 {
			return err
		}
		owned, err := t.LockToken(ctx, tokenID)
		if err != nil || !owned.RevokedAt.IsZero() {
			return err
		}
		return t.RevokeToken(ctx, tokenID, at, sessionAudit(token.ActionRevoked, owned, at))
	})
}

// AddLoginLink implements token.Tx.
func (t *tx) AddLoginLink(ctx context.Context, hash token.Hash, link token.LoginLink, expiredBefore time.Time) error {
	exists, err := t.merchantExists(ctx, link.MerchantID)
	if err != nil {
		return err
	}
	if !exists {
		return order.ErrMerchantNotFound
	}
	if _, err := t.Exec(ctx, `DELETE FROM login_links WHERE expires_at < $1`, seconds(expiredBefore)); err != nil {
		return err
	}
	_, err = t.Exec(ctx, `INSERT INTO login_links (hash, merchant_id, scopes, expires_at) VALUES ($1, $2, $3, $4)`,
		hash[:], link.MerchantID, int64(link.Scopes), seconds(link.ExpiresAt))
	return err
}

// UseLoginLink implements token.SessionStore. The DELETE locks the row: of two
// transactions that use a link, the second one finds none.
func (db *DB) UseLoginLink(ctx context.Context, hash, session token.Hash, made func(token.LoginLink) (token.Hash, token.Token, token.Session, error)) error {
	return db.inTx(ctx, "login_link", func(t *tx) error {
		var link token.LoginLink
		var expires int64
		err := t.QueryRow(ctx, `DELETE FROM login_links WHERE hash = $1 RETURNING merchant_id, scopes, expires_at`, []any{hash[:]},
			&link.MerchantID, sqldb.Int(&link.Scopes), &expires)
		if errors.Is(err, sql.ErrNoRows) {
			return token.ErrNoLoginLink
		}
		if err != nil {
			return err
		}
		link.ExpiresAt = time.Unix(expires, 0).UTC()
		tokenHash, added, s, err := made(link)
		if err != nil {
			return err
		}
		if s.TokenID, err = t.AddToken(ctx, tokenHash, added, sessionAudit(token.ActionCreated, added, added.CreatedAt)); err != nil {
			return err
		}
		return t.addSession(ctx, session, s)
	})
}

// sessionAudit returns the audit entry of a change of the token that a login link made:
// a person of the merchant signs in or out.
func sessionAudit(action order.AuditAction, t token.Token, at time.Time) order.AuditEntry {
	return order.AuditEntry{
		MerchantID: t.MerchantID, At: at, Action: action, By: order.Caller{Actor: order.ActorMerchant}, SubjectID: t.ID,
		Detail: order.AuditDetail("by", "login-link", "scopes", t.Scopes.String()),
	}
}
