package store

import (
	"context"
	"database/sql"
	"sync"

	"golang.org/x/sync/singleflight"

	"merchantorders/internal/order"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/token"
)

// Statements that read the grant of a token together with the merchant's data
// version.
const (
	selectGrant = `SELECT t.id, merchant_id, scopes, expires_at, revoked_at, ` + grantedColumns + `
		FROM tokens t LEFT JOIN merchants m ON m.id = t.merchant_id WHERE hash = $1`
	// selectGrantOf names the merchant, so that a cluster reads each table on the
	// one server that has the row.
	selectGrantOf = `SELECT t.id, merchant_id, scopes, expires_at, revoked_at, ` + grantedColumns + `
		FROM tokens t LEFT JOIN (SELECT ` + grantedColumns + ` FROM merchants WHERE id = $1) m ON TRUE WHERE hash = $2`
	// grantedColumns are the columns of merchants that a grant shows.
	grantedColumns = `last_event, data_nonce, name_nonce, suspended_at, rate_limit, rate_burst`
)

// grants makes reading grants cheap, because every request does it. Where the
// database tells whether anything was committed (sqldb.DB.CommitVersion), grants
// are cached until the next commit. Elsewhere concurrent reads of one token are
// coalesced: with 16 clients that share a token, a fifth of the reads remains.
type grants struct {
	cache     grantCache
	reads     coalescer
	merchants sync.Map // token.Hash -> int64, the merchant of a token; it never changes
}

// Grant implements token.Store.
func (db *DB) Grant(ctx context.Context, hash token.Hash) (_ token.Grant, err error) {
	version, ok := db.sql.CommitVersion()
	if !ok {
		defer db.observe(&ctx, "token")(&err)
		g, err := db.coalesceGrant(ctx, hash)
		return g, db.readError("read token", err, token.ErrUnknown)
	}
	if g, cached := db.grants.cache.get(version, hash); cached {
		return g, nil
	}
	defer db.observe(&ctx, "token")(&err)
	g, err := db.readGrant(ctx, selectGrant, hash[:])
	if err == nil {
		db.grants.cache.put(version, hash, g)
	}
	return g, db.readError("read token", err, token.ErrUnknown)
}

// coalesceGrant reads a grant together with other callers.
func (db *DB) coalesceGrant(ctx context.Context, hash token.Hash) (token.Grant, error) {
	return db.grants.reads.do(ctx, hash, func(ctx context.Context) (token.Grant, error) {
		merchantID, ok := db.grants.merchants.Load(hash)
		if !ok {
			g, err := db.readGrant(ctx, selectGrantOf, int64(0), hash[:])
			if err != nil {
				return token.Grant{}, err
			}
			merchantID = g.MerchantID
			db.grants.merchants.Store(hash, merchantID)
		}
		return db.readGrant(ctx, selectGrantOf, merchantID, hash[:])
	})
}

// coalescer lets callers with the same token share one read. Unlike singleflight
// alone it never gives a caller the result of a read that began before the call,
// so each caller sees everything that was committed before.
type coalescer struct {
	flights singleflight.Group
	reads   sync.Map // token.Hash -> chan struct{}, closed when the newest read has ended
}

// do returns the result of a read that begins after the call. A caller waits for
// two reads of its token at most. The context of a read does not end with that of
// a caller, so read must have a time limit of its own.
func (c *coalescer) do(ctx context.Context, hash token.Hash, read func(context.Context) (token.Grant, error)) (token.Grant, error) {
	if err := ctx.Err(); err != nil {
		return token.Grant{}, err
	}
	key := string(hash[:])
	grant, err, _ := c.flights.Do(key, func() (any, error) {
		done := make(chan struct{})
		defer close(done)
		before, reading := c.reads.Swap(hash, done)
		defer c.reads.CompareAndDelete(hash, done)
		if reading {
			<-before.(chan struct{}) // other callers join this flight meanwhile
		}
		c.flights.Forget(key) // later callers wait for the flight after this one
		return read(context.WithoutCancel(ctx))
	})
	return grant.(token.Grant), err
}

func (db *DB) readGrant(ctx context.Context, text string, args ...any) (token.Grant, error) {
	var row grantRow
	err := db.sql.QueryRow(ctx, text, args, row.dest()...)
	return row.grant(), err
}

// grantRow is a row of selectGrant.
type grantRow struct {
	token.Grant
	expires, revoked, event, nonce, name, suspended, rate, burst sql.NullInt64
}

// dest returns the Scan destinations of the row.
func (r *grantRow) dest() []any {
	return []any{
		&r.ID, &r.MerchantID, sqldb.Int(&r.Scopes), &r.expires, &r.revoked,
		&r.event, &r.nonce, &r.name, &r.suspended, &r.rate, &r.burst,
	}
}

// grant returns the scanned grant.
func (r *grantRow) grant() token.Grant {
	g := r.Grant
	g.ExpiresAt, g.RevokedAt = timeOf(r.expires), timeOf(r.revoked)
	g.DataVersion = order.DataVersion{Event: r.event.Int64, Nonce: r.nonce.Int64}
	g.NameNonce, g.Suspended = r.name.Int64, r.suspended.Valid
	g.RateLimit = order.RateLimit{PerSecond: int(r.rate.Int64), Burst: int(r.burst.Int64)}
	return g
}

// selectRevoked is completed by Dialect.InList.
const selectRevoked = `SELECT id FROM tokens WHERE revoked_at IS NOT NULL AND id `

// RevokedTokens implements order.Store.
func (db *DB) RevokedTokens(ctx context.Context, ids []int64) (_ []int64, err error) {
	defer db.observe(&ctx, "revoked_tokens")(&err)
	revoked, err := sqldb.Column[int64](ctx, db.sql, selectRevoked+db.dialect.InList, ids)
	return revoked, db.readError("read revoked tokens", err, nil)
}
