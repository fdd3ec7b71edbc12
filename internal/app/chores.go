package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"merchantorders/internal/order"
)

const (
	sweepEvery = 15 * time.Second
	usesEvery  = 10 * time.Second // how often last-used times of tokens are written
	// forgetEvery is how often the answers are removed that need not be given
	// again any more.
	forgetEvery = time.Minute
)

// sweep takes back the reservations of uploads begun before a moment.
func (b *backend) sweep(ctx context.Context, before time.Time, log *slog.Logger) error {
	count, err := b.orders.Sweep(ctx, before)
	if count > 0 {
		log.Info("unfinished uploads taken back", "count", count)
	}
	return err
}

// startChores starts what goes on beside the requests. The function returned
// ends it and waits until it has ended.
func (b *backend) startChores(now func() time.Time, log *slog.Logger) func() {
	// They outlive the context that stops the server, so that the uses of
	// tokens by the last requests are written too.
	ctx, cancel := context.WithCancel(context.Background())
	var chores sync.WaitGroup
	chores.Go(func() { b.tokens.KeepUses(ctx, usesEvery, log) })
	chores.Go(func() { b.keepSwept(ctx, now, log) })
	chores.Go(func() { b.keepForgetting(ctx, log) })
	return func() {
		cancel()
		chores.Wait()
	}
}

// keepSwept takes back the reservations of uploads that can no longer be
// running, whoever had begun them.
func (b *backend) keepSwept(ctx context.Context, now func() time.Time, log *slog.Logger) {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err := b.sweep(ctx, now().Add(-order.ReservationLease), log)
		if err != nil && ctx.Err() == nil {
			log.Warn("unfinished uploads not taken back", "error", err)
		}
	}
}

// keepForgetting removes the answers to requests with a key that are a day old.
// It waits first: none that is still there is ever given again.
func (b *backend) keepForgetting(ctx context.Context, log *slog.Logger) {
	ticker := time.NewTicker(forgetEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if _, err := b.orders.ForgetAnswers(ctx); err != nil && ctx.Err() == nil {
			log.Warn("old answers not removed", "error", err)
		}
	}
}
