// Package lru provides a cache with a bound on the total weight of its entries.
// When the bound is exceeded, the cache evicts the entries that have gone
// unused for the longest time.
package lru

import (
	"container/list"
	"sync"
)

// Cache is a weighted LRU cache. Create one with New.
//
// A Cache is not safe for concurrent use. The caller guards it with a mutex;
// Get needs the exclusive lock too, because it changes the order of use.
type Cache[K comparable, V any] struct {
	maxWeight int
	weight    int
	entries   map[K]*list.Element // of *entry[K, V]
	order     *list.List          // most recently used first
}

type entry[K comparable, V any] struct {
	key    K
	value  V
	weight int
}

// New returns an empty cache that holds entries up to a total of maxWeight.
// The caller chooses the unit: bytes, or 1 for each entry.
func New[K comparable, V any](maxWeight int) *Cache[K, V] {
	return &Cache[K, V]{maxWeight: maxWeight, entries: make(map[K]*list.Element), order: list.New()}
}

// Get returns the value of a key and marks the entry as the most recently used
// one. It reports false if there is no such entry.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	element, ok := c.entries[key]
	if !ok {
		var zero V
		return zero, false
	}
	c.order.MoveToFront(element)
	return element.Value.(*entry[K, V]).value, true
}

// Peek is like Get but does not mark the entry as used.
func (c *Cache[K, V]) Peek(key K) (V, bool) {
	element, ok := c.entries[key]
	if !ok {
		var zero V
		return zero, false
	}
	return element.Value.(*entry[K, V]).value, true
}

// Add stores a value, replacing the entry of the same key if there is one, and
// marks the entry as the most recently used one. It then evicts entries until
// the total weight is within the bound, but never the entry it has just stored:
// an entry that is heavier than the bound remains as the only one. A caller to
// whom that is too much checks the weight first. A weight must not be negative.
func (c *Cache[K, V]) Add(key K, value V, weight int) {
	if replaced, ok := c.entries[key]; ok {
		c.remove(replaced)
	}
	c.entries[key] = c.order.PushFront(&entry[K, V]{key, value, weight})
	c.weight += weight
	for c.weight > c.maxWeight && c.order.Len() > 1 {
		c.remove(c.order.Back())
	}
}

func (c *Cache[K, V]) remove(element *list.Element) {
	removed := c.order.Remove(element).(*entry[K, V])
	delete(c.entries, removed.key)
	c.weight -= removed.weight
}

// Weight returns the total weight of all entries.
func (c *Cache[K, V]) Weight() int { return c.weight }

// MaxWeight returns the bound on the total weight.
func (c *Cache[K, V]) MaxWeight() int { return c.maxWeight }

// Made is a cache of values that are made when they are needed first, each with the weight 1.
// It is safe for concurrent use. A key whose value was evicted gets a new one.
type Made[K comparable, V any] struct {
	create func(K) V

	mu     sync.Mutex
	values *Cache[K, V]
}

// NewMade returns an empty cache of the values for up to maxKeys keys.
func NewMade[K comparable, V any](maxKeys int, create func(K) V) *Made[K, V] {
	return &Made[K, V]{create: create, values: New[K, V](maxKeys)}
}

// Get returns the value of a key.
func (m *Made[K, V]) Get(key K) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.values.Get(key)
	if !ok {
		value = m.create(key)
		m.values.Add(key, value, 1)
	}
	return value
}
