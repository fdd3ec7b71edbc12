package store

import (
	"context"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/token"
)

var _ token.SessionStore = (*DB)(nil)

// AddSession implements token.Tx.
func (t *tx) AddSession(ctx context.Context, hash token.Hash, s token.Session) error {
	if err := t.Later(ctx, nil, `DELETE FROM sessions WHERE last_used_at < $1`, seconds(s.LastUsedAt.Add(-token.SessionIdle))); err != nil {
		return err
	}
	return t.Later(ctx, nil, `INSERT INTO sessions (hash, token_id, merchant_id, owns_token, created_at, last_used_at)
		VALUES ($1, $2, (SELECT merchant_id FROM tokens WHERE id = $2), $3, $4, $5)`,
		hash[:], s.TokenID, flag(s.OwnsToken), seconds(s.CreatedAt), seconds(s.LastUsedAt))
}

// Statements that read a session with the grant of its token. The first names the
// token's merchant. The second names it as a parameter, for the same reason as
// selectGrant.
var (
	selectSessionMerchant = `SELECT t.merchant_id FROM sessions s JOIN tokens t ON t.id = s.token_id WHERE s.hash = $1`
	selectSession         = `SELECT t.id, t.merchant_id, t.scopes, t.expires_at, t.revoked_at, ` + grantedColumns + `,
		m.name, m.time_zone, m.tracking_link, COALESCE(m.unanswered, 0), COALESCE(m.to_ship, 0), t.label, s.owns_token, s.created_at, s.last_used_at
		FROM sessions s JOIN tokens t ON t.id = s.token_id
		LEFT JOIN (SELECT name, time_zone, tracking_link, in_state_` + registered + ` AS unanswered,
			` + (&listing{filter: order.Filter{States: order.ShipStates}}).joinStates("in_state_", " + ") + ` AS to_ship, ` + grantedColumns + ` FROM merchants WHERE id = $1) m ON TRUE
		WHERE s.hash = $2`
)

// SessionGrant implements token.SessionStore.
func (db *DB) SessionGrant(ctx context.Context, hash token.Hash) (_ token.Session, grant token.Grant, err error) {
	defer db.observe(&ctx, "session")(&err)
	merchantID, known := db.merchants.of(hash)
	if !known {
		if err := db.sql.QueryRow(ctx, selectSessionMerchant, []any{hash[:]}, &merchantID); err != nil {
			return token.Session{}, token.Grant{}, db.readError("read session", err, token.ErrNoSession)
		}
		db.merchants.add(hash, merchantID)
	}
	s := token.Session{ID: token.SessionID(hash)}
	err = db.sql.QueryRow(ctx, selectSession, []any{merchantID, hash[:]}, append(grantDest(&grant), sqldb.OrEmpty(&s.MerchantName), sqldb.OrEmpty(&s.TimeZone), sqldb.OrEmpty(&s.TrackingLink),
		&s.Unanswered, &s.ToShip, &s.Name, sqldb.Flag(&s.OwnsToken), sqldb.Time(&s.CreatedAt), sqldb.Time(&s.LastUsedAt))...)
	s.TokenID = grant.ID
	return s, grant, db.readError("read session", err, token.ErrNoSession)
}

// selectOpenSessions follows the index of a merchant's sessions, and reads their tokens.
const selectOpenSessions = `SELECT s.hash, s.token_id, t.label, t.scopes, t.last_used_from, s.owns_token, s.created_at, s.last_used_at
	FROM sessions s CROSS JOIN tokens t
	WHERE s.merchant_id = $1 AND s.last_used_at > $2 AND s.created_at > $3 AND t.id = s.token_id AND ` + validToken + `$4
		AND s.created_at <= $5 AND (s.created_at < $5 OR s.hash > $6)
	ORDER BY s.created_at DESC, s.hash LIMIT $7+0`

// OpenSessions implements token.SessionStore.
func (db *DB) OpenSessions(ctx context.Context, merchantID int64, usedAfter, begunAfter, now time.Time, after *token.SessionCursor, limit int) (_ []token.OpenSession, err error) {
	defer db.observe(&ctx, "open_sessions")(&err)
	// The newest session begins before the end of the present second.
	from, hash := now.Add(time.Second), token.Hash{}
	if after != nil {
		from = after.CreatedAt
		hash, _ = token.SessionHash(after.ID)
	}
	args := []any{merchantID, seconds(usedAfter), seconds(begunAfter), seconds(now), seconds(from), hash[:], limit}
	sessions, err := sqldb.All(ctx, db.sql, selectOpenSessions, args, func(rows sqldb.Rows) (token.OpenSession, error) {
		var o token.OpenSession
		var hash token.Hash
		err := rows.Scan((*[32]byte)(&hash), &o.TokenID, &o.Name, sqldb.Int(&o.Scopes), sqldb.OrEmpty(&o.LastUsedFrom), sqldb.Flag(&o.OwnsToken), sqldb.Time(&o.CreatedAt), sqldb.Time(&o.LastUsedAt))
		o.ID = token.SessionID(hash)
		return o, err
	})
	return sessions, db.readError("list sessions", err, nil)
}

// TouchSession implements token.SessionStore.
func (db *DB) TouchSession(ctx context.Context, hash token.Hash, at time.Time) error {
	return db.inTx(ctx, "session", func(t *tx) error {
		_, err := t.Exec(ctx, `UPDATE sessions SET last_used_at = $1 WHERE hash = $2`, seconds(at), hash[:])
		return err
	})
}

const selectExcessSessions = `SELECT hash FROM (
		SELECT hash FROM sessions WHERE token_id = $1 ORDER BY last_used_at DESC, hash LIMIT 100 OFFSET $2+0
	) of_token UNION SELECT hash FROM (
		SELECT hash FROM sessions WHERE merchant_id = $3 ORDER BY last_used_at DESC, hash LIMIT 100 OFFSET $4+0
	) of_merchant ORDER BY hash`

// ExcessSessions implements token.Tx. The hashes are sorted, so that two transactions that
// delete the sessions cannot deadlock.
func (t *tx) ExcessSessions(ctx context.Context, merchantID int64, ofMerchant int, tokenID int64, ofToken int) ([]token.Hash, error) {
	return sqldb.All(ctx, t, selectExcessSessions, []any{tokenID, ofToken, merchantID, ofMerchant}, func(rows sqldb.Rows) (hash token.Hash, err error) {
		err = rows.Scan((*[32]byte)(&hash))
		return hash, err
	})
}

// EndSession implements token.Tx.
func (t *tx) EndSession(ctx context.Context, hash token.Hash) (s token.Session, err error) {
	err = t.QueryRow(ctx, `DELETE FROM sessions WHERE hash = $1 RETURNING token_id, owns_token, created_at, last_used_at`, []any{hash[:]},
		&s.TokenID, sqldb.Flag(&s.OwnsToken), sqldb.Time(&s.CreatedAt), sqldb.Time(&s.LastUsedAt))
	return s, noRow(err, token.ErrNoSession)
}

// AddLoginLink implements token.Tx.
func (t *tx) AddLoginLink(ctx context.Context, hash token.Hash, link token.LoginLink, entry order.AuditEntry) error {
	if link.MerchantID != 0 {
		if err := t.expectMerchant(ctx, link.MerchantID); err != nil {
			return err
		}
	}
	if _, err := t.Exec(ctx, `DELETE FROM login_links WHERE expires_at < $1`, seconds(entry.At)); err != nil {
		return err
	}
	_, err := t.Exec(ctx, `INSERT INTO login_links (hash, merchant_id, created_by, scopes, name, expires_at) VALUES ($1, $2, $3, $4, $5, $6)`,
		hash[:], link.MerchantID, idOrNull(link.CreatedBy), int64(link.Scopes), link.Name, seconds(link.ExpiresAt))
	if err == nil {
		t.addAudit(entry.MerchantID, entry)
	}
	return err
}

// TakeLoginLink implements token.Tx. The DELETE locks the row.
func (t *tx) TakeLoginLink(ctx context.Context, hash token.Hash) (link token.LoginLink, err error) {
	err = t.QueryRow(ctx, `DELETE FROM login_links WHERE hash = $1 RETURNING merchant_id, created_by, scopes, name, expires_at`, []any{hash[:]},
		&link.MerchantID, sqldb.IntOrZero(&link.CreatedBy), sqldb.Int(&link.Scopes), &link.Name, sqldb.Time(&link.ExpiresAt))
	return link, noRow(err, token.ErrNoLoginLink)
}
