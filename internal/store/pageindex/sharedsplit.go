package pageindex

import (
	"context"

	"merchantorders/internal/order"
)

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
	if !s.canApply(version.Event, current.Event) {
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
