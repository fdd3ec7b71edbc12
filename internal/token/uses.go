package token

import (
	"context"
	"log/slog"
	"net/netip"
	"time"
)

// Use is a use of a token.
type Use struct {
	At   time.Time
	From netip.Addr // of the client; the zero address if it is not known
}

// RecordUses writes the last-used times of tokens at an interval until ctx ends,
// and once more at the end. Requests do not wait for it. A crash loses the uses of
// the last interval.
func (r *Registry) RecordUses(ctx context.Context, interval time.Duration, log *slog.Logger) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		done := false
		select {
		case <-ticker.C:
		case <-ctx.Done():
			done = true
		}
		if err := r.flushUses(context.WithoutCancel(ctx)); err != nil {
			log.Warn("cannot write the last-used times of tokens", "error", err)
		}
		if done {
			return
		}
	}
}

func (r *Registry) flushUses(ctx context.Context) error {
	r.mu.Lock()
	used := r.used
	r.used = make(map[int64]Use)
	r.mu.Unlock()
	if len(used) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	err := r.store.RecordTokenUse(ctx, used)
	if err != nil {
		// The next write stores them.
		r.mu.Lock()
		defer r.mu.Unlock()
		for id, use := range used {
			if use.At.After(r.used[id].At) {
				r.used[id] = use
			}
		}
	}
	return err
}
