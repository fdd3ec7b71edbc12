package store

import (
	"context"
	"sync"

	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/token"
)

// maxGrants limits the cached grants, about 1 MB.
const maxGrants = 8192

// grants is what tokens grant. Where the database tells cheaply whether anything
// was committed (sqldb.DB.CommitVersion), grants are cached until the next
// commit. Otherwise lookups of one token are coalesced: with 16 clients that use
// the same token, a fifth of the lookups remains.
type grants struct {
	mu      sync.RWMutex
	version sqldb.CommitVersion
	byHash  map[token.Hash]token.Grant

	lookups   coalescer[token.Hash, token.Grant]
	merchants sync.Map // token.Hash -> int64, the merchant of a token, which never changes
}

// cached returns the grant of a token if it was read at this version.
func (g *grants) cached(version sqldb.CommitVersion, hash token.Hash) (token.Grant, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.version != version {
		return token.Grant{}, false
	}
	grant, ok := g.byHash[hash]
	return grant, ok
}

// put caches a grant that was read after version was.
func (g *grants) put(version sqldb.CommitVersion, hash token.Hash, grant token.Grant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.version != version || g.byHash == nil || len(g.byHash) >= maxGrants {
		g.version, g.byHash = version, make(map[token.Hash]token.Grant)
	}
	g.byHash[hash] = grant
}

// coalesceGrant reads a grant, shared by the callers that wait for it.
func (db *DB) coalesceGrant(ctx context.Context, hash token.Hash) (token.Grant, error) {
	return db.grants.lookups.do(ctx, hash, func(ctx context.Context) (token.Grant, error) {
		merchantID, found := db.grants.merchants.Load(hash)
		if !found {
			g, err := readGrant(ctx, db.sql, selectGrantOf, hash[:], int64(0))
			if err != nil {
				return token.Grant{}, err
			}
			db.grants.merchants.Store(hash, g.MerchantID)
			merchantID = g.MerchantID
		}
		return readGrant(ctx, db.sql, selectGrantOf, hash[:], merchantID)
	})
}
