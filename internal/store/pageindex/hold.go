package pageindex

import (
	"context"

	"merchantorders/internal/order"
)

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
