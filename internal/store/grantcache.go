package store

import (
	"sync"

	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/token"
)

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
