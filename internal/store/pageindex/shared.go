package pageindex

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/semaphore"

	"merchantorders/internal/lru"
	"merchantorders/internal/order"
)

// Source reads one merchant's data for an index. Each method sees the data as
// of one version, but two calls may see different ones.
type Source interface {
	// DayCounts returns the counts of all days, in the order of days, and the
	// version they have, the zero version before the first event.
	DayCounts(ctx context.Context) ([]DayCount, order.DataVersion, error)
	// Deltas returns what the events from a number on change, in the order of
	// their numbers. Without keys, StartOfDay stands for the key of an order.
	Deltas(ctx context.Context, from int64, keys bool) ([]Delta, error)
	// Keys returns the keys and states of orders to split a bucket by, at most
	// r.Limit, and the version they have.
	Keys(ctx context.Context, r SplitRange) (Keys, error)
}

// Shared is an Index for concurrent requests, which reads what it lacks from a
// Source.
//
// Locking. A request that takes both locks takes them in this order:
//
//  1. updating is held by the request that brings the index to another version
//     or splits a bucket, also while it reads events, day counts or keys. Only
//     its holder changes the index, so the holder can rely on the version.
//     Requests that need another version or a split wait for it, between the
//     steps of a split that takes several.
//  2. mu guards the index against concurrent access. Every reader holds it, and
//     the holder of updating while it writes. LocateAt, which restores the counts
//     that it changes, needs mu alone. mu is never held while the database is
//     read: a Locate that needs neither a load nor a split does not wait for the
//     database.
//
// The mutex of Cache comes after both and is never held during a read either.
//
// A request must not wait for updating while it has a database connection: the
// holder of the lock may be waiting for a connection. The wait ends with the
// context of the request.
type Shared struct {
	updating *semaphore.Weighted // of 1; a sync.Mutex does not look at contexts

	mu    sync.Mutex
	index *Index

	resized func(buckets int) // called when the number of buckets may have changed
}

// NewShared returns a shared index that loads its content when it is first
// needed.
func NewShared(sizes Sizes) *Shared {
	return &Shared{updating: semaphore.NewWeighted(1), index: NewIndex(sizes), resized: func(int) {}}
}

// maxSplitMisses is how often a request starts a split anew because the index was
// loaded after the keys were read. It then reads its page with the offset that it
// has.
const maxSplitMisses = 3

// Locate returns the position of a page. It loads the index if necessary, and
// splits buckets until the offset is small.
func (s *Shared) Locate(ctx context.Context, source Source, filter order.Filter) (Position, error) {
	p, loaded := s.locate(filter)
	if !loaded {
		if err := s.Refresh(ctx, source, order.DataVersion{}); err != nil {
			return Position{}, err
		}
		p, _ = s.locate(filter)
	}
	for misses := 0; p.split != nil && misses < maxSplitMisses; p, _ = s.locate(filter) {
		split, err := s.split(ctx, source, filter)
		if err != nil {
			return Position{}, fmt.Errorf("split a bucket of the page index: %w", err)
		}
		if !split {
			misses++
		}
	}
	return p, nil
}

func (s *Shared) locate(filter order.Filter) (p Position, loaded bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.index.loaded {
		return Position{}, false
	}
	return s.index.Locate(filter), true
}

// LocateAt returns the position of a page as of a version that the index had a
// short time ago. It reports false if that is too long ago, or if the index has
// not reached the version yet.
func (s *Shared) LocateAt(filter order.Filter, version order.DataVersion) (Position, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.index.LocateAt(filter, version)
}

// Refresh brings the index to a version that the database has had, or to a
// later one. After an error the index is right, but may be older.
func (s *Shared) Refresh(ctx context.Context, source Source, version order.DataVersion) error {
	if err := s.updating.Acquire(ctx, 1); err != nil {
		return err
	}
	defer s.updating.Release(1)
	return s.refresh(ctx, source, version)
}

// Invalidate drops the content if it still has a version. Callers use it when
// they find that the database has another history than the index.
func (s *Shared) Invalidate(ctx context.Context, version order.DataVersion) error {
	if err := s.updating.Acquire(ctx, 1); err != nil {
		return err
	}
	defer s.updating.Release(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index.version == version {
		s.index.Reset()
	}
	return nil
}

// refresh implements Refresh. It applies no event after the version; only a load
// leads to a later one. The caller holds updating.
func (s *Shared) refresh(ctx context.Context, source Source, version order.DataVersion) error {
	if done, err := s.applyEvents(ctx, source, version); done || err != nil {
		return err
	}
	days, loaded, err := source.DayCounts(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.index.Load(days, loaded); err != nil {
		return err
	}
	s.resized(s.index.Buckets())
	return nil
}

// applyEvents applies the events up to a version. It reports false if the index
// must be loaded instead: because it is not loaded, is too far behind, or knows
// another history. The caller holds updating.
func (s *Shared) applyEvents(ctx context.Context, source Source, version order.DataVersion) (bool, error) {
	x := s.index
	known := x.version
	switch {
	case !x.loaded, known.Event == version.Event && known != version:
		return false, nil
	case known.Event >= version.Event:
		return true, nil
	case !x.canApply(version.Event):
		return false, nil
	}
	// The known event itself comes first, so that its nonce can be compared. There
	// is none before the first event, and nothing that could differ.
	deltas, err := source.Deltas(ctx, max(known.Event, 1), x.extraBuckets > 0)
	if err != nil {
		return false, err
	}
	if known.Event > 0 {
		if len(deltas) == 0 || deltas[0].Version != known {
			return false, nil
		}
		deltas = deltas[1:]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range deltas {
		if d.Version.Event > version.Event {
			break
		}
		if !x.Apply(d) {
			return false, nil
		}
	}
	s.resized(x.Buckets())
	return x.version.Event == version.Event, nil
}

// split splits the bucket in which a page begins. It reports false if the index
// had to be loaded, so that the keys are useless.
func (s *Shared) split(ctx context.Context, source Source, filter order.Filter) (bool, error) {
	if err := s.updating.Acquire(ctx, 1); err != nil {
		return false, err
	}
	defer s.updating.Release(1)
	p, _ := s.locate(filter)
	if p.split == nil {
		return true, nil // another request has split it meanwhile
	}
	keys, err := source.Keys(ctx, *p.split)
	if err != nil {
		return false, err
	}
	if err := s.refresh(ctx, source, keys.Version); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	split, err := s.index.Split(*p.split, keys)
	s.resized(s.index.Buckets())
	return split, err
}

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

// Size returns the number of indexes in the cache and of their buckets.
func (c *Cache) Size() (indexes, buckets int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	indexes = c.indexes.Len()
	return indexes, c.indexes.Weight() - indexes*indexWeight
}

// resize notes the number of buckets that an index has now.
func (c *Cache) resize(merchantID int64, index *Shared, buckets int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if current, ok := c.indexes.Peek(merchantID); ok && current == index { // else evicted, and perhaps replaced
		c.indexes.Add(merchantID, index, indexWeight+buckets)
	}
}
