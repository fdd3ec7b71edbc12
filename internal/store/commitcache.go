package store

import (
	"sync"

	"merchantorders/internal/store/sqldb"
	"merchantorders/internal/token"
)

// maxCommitCache limits the number of entries of a commitCache. They take about 1 MB.
const maxCommitCache = 8192

// commitCache has what was read for the secrets of requests, until the next commit.
type commitCache[V any] struct {
	mu      sync.RWMutex
	version sqldb.CommitVersion // of all entries
	entries map[token.Hash]V
}

// get returns an entry. ok is false if there is none as of this version.
func (c *commitCache[V]) get(version sqldb.CommitVersion, hash token.Hash) (value V, ok bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.version != version {
		return value, false
	}
	value, ok = c.entries[hash]
	return value, ok
}

// put adds an entry. The version must have been read before the value: then a commit
// between the two makes the entry stale at once.
func (c *commitCache[V]) put(version sqldb.CommitVersion, hash token.Hash, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.version != version || c.entries == nil || len(c.entries) >= maxCommitCache {
		c.version, c.entries = version, make(map[token.Hash]V)
	}
	c.entries[hash] = value
}
