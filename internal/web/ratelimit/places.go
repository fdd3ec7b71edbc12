package ratelimit

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// bounds are how many requests are in flight at once, and how many wait for that.
type bounds struct {
	requests int64           // of all kinds
	ofKind   [numKinds]int64 // among them; 0: as many as requests
	waiting  int64
}

// places are the requests in flight of a token, or of a merchant with all its tokens.
// Others wait for their turn: those of one kind in the order in which they came.
type places struct {
	all        *semaphore.Weighted
	ofKind     [numKinds]*semaphore.Weighted // nil: no bound beside that of all
	waiting    atomic.Int64
	maxWaiting int64
}

func newPlaces(b bounds) *places {
	p := &places{all: semaphore.NewWeighted(b.requests), maxWaiting: b.waiting}
	for kind, n := range b.ofKind {
		if n > 0 {
			p.ofKind[kind] = semaphore.NewWeighted(n)
		}
	}
	return p
}

// take takes a place for a request of a kind, until leave. It waits for its turn, and
// returns false if ctx ends first or too many wait already.
func (p *places) take(ctx context.Context, kind Kind) bool {
	if p.tryTake(kind) {
		return true
	}
	defer p.waiting.Add(-1)
	if p.waiting.Add(1) > p.maxWaiting {
		return false
	}
	ofKind := p.ofKind[kind]
	if ofKind != nil && ofKind.Acquire(ctx, 1) != nil {
		return false
	}
	if p.all.Acquire(ctx, 1) != nil {
		if ofKind != nil {
			ofKind.Release(1)
		}
		return false
	}
	return true
}

// tryTake is take without waiting.
func (p *places) tryTake(kind Kind) bool {
	ofKind := p.ofKind[kind]
	if ofKind != nil && !ofKind.TryAcquire(1) {
		return false
	}
	if p.all.TryAcquire(1) {
		return true
	}
	if ofKind != nil {
		ofKind.Release(1)
	}
	return false
}

func (p *places) leave(kind Kind) {
	p.all.Release(1)
	if ofKind := p.ofKind[kind]; ofKind != nil {
		ofKind.Release(1)
	}
}
