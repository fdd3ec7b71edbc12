package store

import (
	"context"
	"maps"
	"slices"
	"sync"

	"merchantorders/internal/lru"
	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/token"
)

// selectGrant reads the grant of a token together with the merchant's data version. It
// names the merchant, so that a cluster reads each table on the one server that has the
// row.
const (
	selectGrant = `SELECT t.id, merchant_id, scopes, expires_at, revoked_at, ` + grantedColumns + `
		FROM tokens t LEFT JOIN (SELECT ` + grantedColumns + ` FROM merchants WHERE id = $1) m ON TRUE WHERE hash = $2`
	// selectToken reads the first columns of selectGrant, and no server but the coordinator.
	selectToken = `SELECT id, merchant_id, scopes, expires_at, revoked_at FROM tokens WHERE hash = $1`
	// grantedColumns are the columns of merchants that a grant shows.
	grantedColumns = `last_event, data_nonce, name_nonce, suspended_at, rate_limit, rate_burst`
)

// maxTokenMerchants is how many tokens and sessions have their merchant in memory, at 200
// bytes each.
const maxTokenMerchants = 50_000

// tokenMerchants has the merchants of tokens and sessions, which never change.
type tokenMerchants struct {
	mu     sync.Mutex
	byHash *lru.Cache[token.Hash, int64]
}

func (m *tokenMerchants) of(hash token.Hash) (merchantID int64, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.byHash.Get(hash)
}

func (m *tokenMerchants) add(hash token.Hash, merchantID int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.byHash.Add(hash, merchantID, 1)
}

// Grant implements token.Store. Where the database tells whether anything was committed
// (sqldb.DB.CommitVersion), grants are cached until the next commit, because every request
// reads one.
func (db *DB) Grant(ctx context.Context, hash token.Hash) (_ token.Grant, err error) {
	version, watched := db.sql.CommitVersion()
	if watched {
		if g, cached := db.grants.get(version, hash); cached {
			return g, nil
		}
	}
	defer db.observe(&ctx, "token")(&err)
	merchantID, known := db.merchants.of(hash)
	g, err := db.readGrant(ctx, merchantID, hash)
	if err == nil && !known {
		db.merchants.add(hash, g.MerchantID)
		g, err = db.readGrant(ctx, g.MerchantID, hash)
	}
	if err == nil && watched {
		db.grants.put(version, hash, g)
	}
	return g, db.readError("read token", err, token.ErrUnknown)
}

// readGrant reads the grant of a token, with what its merchant has if it is this one, not 0.
func (db *DB) readGrant(ctx context.Context, merchantID int64, hash token.Hash) (g token.Grant, err error) {
	dest := grantDest(&g)
	if merchantID == 0 {
		err = db.sql.QueryRow(ctx, selectToken, []any{hash[:]}, dest[:5]...)
		return g, err
	}
	err = db.sql.QueryRow(ctx, selectGrant, []any{merchantID, hash[:]}, dest...)
	return g, err
}

// grantDest returns the Scan destinations of selectGrant. An operator's token has no merchant.
func grantDest(g *token.Grant) []any {
	return []any{
		&g.ID, &g.MerchantID, sqldb.Int(&g.Scopes), sqldb.Time(&g.ExpiresAt), sqldb.Time(&g.RevokedAt),
		sqldb.IntOrZero(&g.DataVersion.Event), sqldb.IntOrZero(&g.DataVersion.Nonce), sqldb.IntOrZero(&g.NameNonce), sqldb.NotNull(&g.Suspended),
		sqldb.IntOrZero(&g.RateLimit.PerSecond), sqldb.IntOrZero(&g.RateLimit.Burst),
	}
}

// RecordTokenUse implements token.Store.
func (db *DB) RecordTokenUse(ctx context.Context, used map[int64]token.Use) error {
	return db.inTx(ctx, "token", func(t *tx) error {
		// In the order of ids, so that two transactions cannot deadlock.
		for _, id := range slices.Sorted(maps.Keys(used)) {
			use := used[id]
			var from any
			if use.From.IsValid() {
				from = use.From.String()
			}
			if _, err := t.Exec(ctx, `UPDATE tokens SET last_used_at = $1, last_used_from = $2 WHERE id = $3`, seconds(use.At), from, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// selectRevoked is completed by Dialect.InList.
const selectRevoked = `SELECT id FROM tokens WHERE revoked_at IS NOT NULL AND id `

// RevokedTokens implements order.Store.
func (db *DB) RevokedTokens(ctx context.Context, ids []int64) (_ []int64, err error) {
	defer db.observe(&ctx, "revoked_tokens")(&err)
	revoked, err := sqldb.Column[int64](ctx, db.sql, selectRevoked+db.dialect.InList, ids)
	return revoked, db.readError("read revoked tokens", err, nil)
}

// maxCachedGrants limits the number of entries of a grantCache. They take about 1 MB.
const maxCachedGrants = 8192

// grantCache has the grants that were read, until the next commit.
type grantCache struct {
	mu      sync.RWMutex
	version sqldb.CommitVersion // of all entries
	entries map[token.Hash]token.Grant
}

// get returns an entry. ok is false if there is none as of this version.
func (c *grantCache) get(version sqldb.CommitVersion, hash token.Hash) (g token.Grant, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.version != version {
		return g, false
	}
	g, ok = c.entries[hash]
	return g, ok
}

// put adds an entry. The version must have been read before the grant: then a commit
// between the two makes the entry stale at once.
func (c *grantCache) put(version sqldb.CommitVersion, hash token.Hash, g token.Grant) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.version != version || c.entries == nil || len(c.entries) >= maxCachedGrants {
		c.version, c.entries = version, make(map[token.Hash]token.Grant)
	}
	c.entries[hash] = g
}
