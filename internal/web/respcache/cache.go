// Package respcache holds responses to GET requests in memory. An entry is valid
// as long as the data version of its merchant is the current one, which every
// request learns with its authentication. So a change by another process
// invalidates an entry at the very next request.
package respcache

import (
	"hash/maphash"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"merchantorders/internal/lru"
	"merchantorders/internal/order"
)

const (
	// entryOverhead is roughly what an entry takes beside its texts, header and body,
	// in bytes.
	entryOverhead = 640
	// doorkeeperSize is how many requested keys the admission remembers, 8 bytes
	// each.
	doorkeeperSize = 1 << 13
)

// Key identifies a request: what is requested, and by which merchant.
type Key struct {
	Route       string // pattern
	MerchantID  int64
	NameNonce   int64 // see token.Grant: responses with an earlier name are not found
	Path, Query string
}

// Entry is a response as it is sent. Entries are shared: an entry must not be
// changed after Store or Coalesce has it.
type Entry struct {
	Version order.DataVersion // of the merchant when the response was made
	Day     order.Day         // the only UTC day on which it is valid; NoDay: any day
	ETag    []string          // header values
	Link    []string
	Length  []string // Content-Length
	Body    []byte   // nil: the body was not made, since the client had it
}

// Cache is a response cache with a bound on its size. It evicts the entries that
// have gone unused for the longest time, and admits a response only when its key
// is requested for the second time: otherwise a client that reads all orders once
// would evict what others poll.
type Cache struct {
	now     func() time.Time
	seed    maphash.Seed
	flights singleflight.Group

	mu         sync.Mutex
	uses       Uses
	entries    *lru.Cache[Key, *Entry]
	doorkeeper [doorkeeperSize]uint64 // hashes of requested keys, each in the slot of its hash
}

// New returns an empty cache of up to maxBytes. now is the clock.
func New(maxBytes int, now func() time.Time) *Cache {
	return &Cache{now: now, seed: maphash.MakeSeed(), entries: lru.New[Key, *Entry](maxBytes)}
}

// Uses counts the lookups of a cache.
type Uses struct {
	Hits, Misses uint64
	Bytes        int // size of the cache
}

// Uses returns how often Lookup has found a valid entry, and how often not.
func (c *Cache) Uses() Uses {
	c.mu.Lock()
	defer c.mu.Unlock()
	uses := c.uses
	uses.Bytes = c.entries.Weight()
	return uses
}

// Lookup returns the entry of a key if it is valid for the version, else nil.
func (c *Cache) Lookup(key Key, version order.DataVersion) *Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	entry := c.lookup(key, version)
	if entry != nil {
		c.uses.Hits++
	} else {
		c.uses.Misses++
	}
	return entry
}

// lookup is Lookup without counting. The caller holds mu.
func (c *Cache) lookup(key Key, version order.DataVersion) *Entry {
	entry, ok := c.entries.Get(key)
	if !ok || entry.Version != version || entry.Day != order.NoDay && entry.Day != order.DayOf(c.now()) {
		return nil
	}
	return entry
}

// Store adds an entry, or replaces the entry of the same key. The cache may
// refuse it.
func (c *Cache) Store(key Key, entry *Entry) {
	weight := entryOverhead + len(key.Path) + len(key.Query) + cap(entry.Body)
	for _, values := range [][]string{entry.ETag, entry.Link} {
		for _, value := range values {
			weight += len(value)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	current, ok := c.entries.Peek(key)
	switch {
	case weight > c.entries.MaxWeight():
	case ok && current.Version == entry.Version && current.Day == entry.Day && entry.Body == nil:
		// The current entry is as new and may have its body.
	case ok || c.admit(key):
		c.entries.Add(key, entry, weight)
	}
}

// admit reports whether a key was requested recently, and remembers it.
func (c *Cache) admit(key Key) bool {
	hash := maphash.Comparable(c.seed, key)
	slot := &c.doorkeeper[hash%doorkeeperSize]
	seen := *slot == hash
	*slot = hash
	return seen
}

// Coalesce returns the response to a request whose entry is missing or not
// valid. Of concurrent requests for the same key and version one, the leader,
// calls compute; the others wait for its entry. Without this, a list that 16 clients
// poll would be made 16 times after each change. If the leader fails, each waiter
// calls compute itself: the failure may be that the leader's client disconnected.
func (c *Cache) Coalesce(key Key, version order.DataVersion, compute func() (*Entry, error)) (*Entry, error) {
	leader := false
	made, err, _ := c.flights.Do(key.flight(version), func() (any, error) {
		leader = true
		// A flight that ended after the caller's lookup may have stored the entry.
		c.mu.Lock()
		entry := c.lookup(key, version)
		c.mu.Unlock()
		if entry != nil && entry.Body != nil {
			return entry, nil
		}
		entry, err := compute()
		if err == nil {
			c.Store(key, entry)
		}
		return entry, err
	})
	if err != nil && !leader {
		return compute()
	}
	return made.(*Entry), err
}

// flight names a computation for singleflight. The length of the path keeps two
// different keys from having the same name.
func (k Key) flight(version order.DataVersion) string {
	return strconv.FormatInt(k.MerchantID, 10) + " " + version.String() + " " + strconv.Itoa(len(k.Path)) + " " + k.Path + k.Query
}
