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
// Locking. Shared has three locks. A request that takes several takes them in
// this order:
//
//  1. splitting is held by the request that splits buckets, also while it reads
//     keys. Only requests that need a split themselves wait for it.
//  2. refreshing is held by the request that brings the index to another
//     version or installs a split, also while it reads events or day counts,
//     and by a Hold. Nobody else changes the index, so its holder can rely on
//     the version. Requests that need another version wait for it.
//  3. mu guards the content of the index, which its holder may read and, if it
//     holds refreshing too, change; LocateAt, which restores what it changes,
//     needs mu alone. mu is held for work in memory, never while the database is
//     read. So no Locate waits for the database because another request does.
//
// The mutex of Cache comes after all three and is held for work in memory too.
//
// A request must not wait for splitting or refreshing while it has a database
// connection: their holder may be waiting for one. Both waits end with the
// context of the request.
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
	if done, err := s.catchUp(ctx, source, version); done || err != nil {
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

// catchUp applies the events up to a version, or to a later one. It reports
// false if the index must be loaded instead: because it is not loaded, is too
// far behind, or knows another history. The caller holds refreshing.
func (s *Shared) catchUp(ctx context.Context, source Source, version order.DataVersion) (bool, error) {
	known, loaded, keys := s.state()
	switch {
	case !loaded, known.Event == version.Event && known != version:
		return false, nil
	case known.Event >= version.Event:
		return true, nil
	case !s.index.canCatchUp(known.Event, version.Event):
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

// state returns what a refresh depends on.
func (s *Shared) state() (version order.DataVersion, loaded, keys bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.index.version, s.index.loaded, s.index.NeedsKeys()
}

// split reads the keys of a bucket and splits it. It reports false if the
// bucket has changed so much meanwhile that the keys are useless. The caller
// holds splitting.
func (s *Shared) split(ctx context.Context, source Source, r SplitRange) (bool, error) {
	keys, err := source.Keys(ctx, r)
	if err != nil {
		return false, err
	}
	return s.install(ctx, source, r, keys)
}

// install splits a bucket by keys that were read while others used and changed
// the index.
func (s *Shared) install(ctx context.Context, source Source, r SplitRange, keys Keys) (bool, error) {
	if err := s.refreshing.lock(ctx); err != nil {
		return false, err
	}
	defer s.refreshing.unlock()
	if err := s.refresh(ctx, source, keys.Version); err != nil {
		return false, err
	}
	since, ok, err := s.deltasSince(ctx, source, keys.Version)
	if err != nil || !ok {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	split, err := s.index.Split(r, keys, since)
	if split {
		s.resized(s.index.Buckets())
	}
	return split, err
}

// deltasSince returns the deltas, with keys, from a version to that of the
// index. It reports false if these are too many, or if the version is not part
// of the history. The caller holds refreshing.
func (s *Shared) deltasSince(ctx context.Context, source Source, version order.DataVersion) ([]Delta, bool, error) {
	current, _, _ := s.state()
	if current == version {
		return nil, true, nil
	}
	if !s.index.canCatchUp(version.Event, current.Event) {
		return nil, false, nil
	}
	deltas, ok, err := deltasAfter(ctx, source, version, true)
	if err != nil || !ok {
		return nil, false, err
	}
	for i, d := range deltas {
		if d.Version == current {
			return deltas[:i+1], true, nil
		}
	}
	return nil, false, nil
}

// Held is a shared index whose version only its holder changes.
type Held struct{ shared *Shared }

// Hold waits until no other request changes the index, and prevents it until
// Release. A caller that reads a snapshot takes the index before the snapshot
// begins, so that the index cannot be newer than the snapshot.
func (s *Shared) Hold(ctx context.Context) (Held, error) {
	if err := s.refreshing.lock(ctx); err != nil {
		return Held{}, err
	}
	return Held{s}, nil
}

// Release ends the hold.
func (h Held) Release() { h.shared.refreshing.unlock() }

// Locate returns the position of a page as of the snapshot that the source
// reads. It does not split buckets.
func (h Held) Locate(ctx context.Context, source Source, filter order.Filter) (Position, error) {
	version, err := source.Version(ctx)
	if err != nil {
		return Position{}, err
	}
	if known, _, _ := h.shared.state(); known.Event > version.Event {
		// The index was not newer when the snapshot began: this is another
		// history, for example that of an older database put in its place.
		h.shared.mu.Lock()
		h.shared.index.Reset()
		h.shared.mu.Unlock()
	}
	if err := h.shared.refresh(ctx, source, version); err != nil {
		return Position{}, err
	}
	p, _ := h.shared.locate(filter)
	return p, nil
}
