package pageindex

import (
	"context"
	"fmt"
	"sync"

	"merchantorders/internal/order"
)

// Shared is an Index for concurrent requests, which reads what it lacks from a
// Source.
//
// Locking. A request that takes several of the three locks takes them in this
// order:
//
//  1. splitting is held by the request that splits buckets, also while it reads
//     keys. Only requests that need a split themselves wait for it.
//  2. refreshing is held by the request that brings the index to another
//     version or installs a split, also while it reads events or day counts,
//     and by a Held. Only its holder changes the content of the index, so the
//     holder can rely on the version. Requests that need another version wait
//     for it.
//  3. mu guards the content against concurrent access. Every reader holds it,
//     and the holder of refreshing while it writes. LocateAt, which restores
//     what it changes, needs mu alone. mu is never held while the database is
//     read: a Locate that needs neither a load nor a split does not wait for
//     the database.
//
// The mutex of Cache comes after all three and is never held during a read
// either.
//
// A request must not wait for splitting or refreshing while it has a database
// connection: the holder of the lock may be waiting for a connection. Both waits
// end with the context of the request.
type Shared struct {
	splitting  contextMutex
	refreshing contextMutex

	mu    sync.Mutex
	index *Index

	resized func(buckets int) // called when the number of buckets may have changed
}

// NewShared returns a shared index that loads its content when it is first
// needed.
func NewShared(sizes Sizes) *Shared {
	return &Shared{
		splitting: newContextMutex(), refreshing: newContextMutex(),
		index: NewIndex(sizes), resized: func(int) {},
	}
}

// maxSplitMisses is how often a request starts a split anew because the bucket
// has changed before the keys were read. It then reads its page with the offset
// that it has.
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
	if p.split == nil {
		return p, nil
	}
	if err := s.splitting.lock(ctx); err != nil {
		return Position{}, err
	}
	defer s.splitting.unlock()
	// Another request may have split the bucket meanwhile: locate again.
	misses := 0
	for p, _ = s.locate(filter); p.split != nil && misses < maxSplitMisses; p, _ = s.locate(filter) {
		split, err := s.split(ctx, source, *p.split)
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
	if err := s.refreshing.lock(ctx); err != nil {
		return err
	}
	defer s.refreshing.unlock()
	return s.refresh(ctx, source, version)
}

// Invalidate drops the content if it still has a version. Callers use it when
// they find that the database has another history than the index.
func (s *Shared) Invalidate(ctx context.Context, version order.DataVersion) error {
	if err := s.refreshing.lock(ctx); err != nil {
		return err
	}
	defer s.refreshing.unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index.version == version {
		s.index.Reset()
	}
	return nil
}

// refresh implements Refresh. The caller holds refreshing.
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

// applyEvents applies the events up to a version, or to a later one. It reports
// false if the index must be loaded instead: because it is not loaded, is too
// far behind, or knows another history. The caller holds refreshing.
func (s *Shared) applyEvents(ctx context.Context, source Source, version order.DataVersion) (bool, error) {
	known, loaded, keys := s.state()
	switch {
	case !loaded, known.Event == version.Event && known != version:
		return false, nil
	case known.Event >= version.Event:
		return true, nil
	case !s.canApply(known.Event, version.Event):
		return false, nil
	}
	deltas, ok, err := deltasAfter(ctx, source, known, keys)
	if err != nil || !ok {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range deltas {
		if !s.index.Apply(d) {
			return false, nil
		}
	}
	s.resized(s.index.Buckets())
	return s.index.version.Event >= version.Event, nil
}

func (s *Shared) canApply(from, to int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.index.canApply(from, to)
}

// state returns what a refresh depends on.
func (s *Shared) state() (version order.DataVersion, loaded, keys bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.index.version, s.index.loaded, s.index.NeedsKeys()
}
