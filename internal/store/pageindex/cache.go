package pageindex

import (
	"sync"

	"merchantorders/internal/lru"
)

const (
	// DefaultMaxWeight bounds the memory of a Cache: 10 MB for buckets, and up to
	// as much again for room to grow.
	DefaultMaxWeight = 150_000
	// indexWeight is what an index weighs without buckets, most of it for the
	// recent deltas.
	indexWeight = 40
)

// Cache holds the indexes of the merchants that were used last. Its weight is
// counted in buckets of 64 bytes. It is safe for concurrent use.
type Cache struct {
	sizes Sizes

	mu      sync.Mutex
	indexes *lru.Cache[int64, *Shared] // by merchant id
}

// NewCache returns an empty cache of indexes with the given sizes.
func NewCache(sizes Sizes, maxWeight int) *Cache {
	return &Cache{sizes: sizes, indexes: lru.New[int64, *Shared](maxWeight)}
}

// Get returns the index of a merchant, a new one if the cache has none. A
// caller can use an index that the cache has evicted meanwhile.
func (c *Cache) Get(merchantID int64) *Shared {
	c.mu.Lock()
	defer c.mu.Unlock()
	if index, ok := c.indexes.Get(merchantID); ok {
		return index
	}
	index := NewShared(c.sizes)
	index.resized = func(buckets int) { c.resize(merchantID, index, buckets) }
	c.indexes.Add(merchantID, index, indexWeight)
	return index
}

// resize notes the number of buckets that an index has now.
func (c *Cache) resize(merchantID int64, index *Shared, buckets int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if current, ok := c.indexes.Peek(merchantID); !ok || current != index {
		return // evicted, and perhaps replaced
	}
	c.indexes.Add(merchantID, index, indexWeight+buckets)
}
