package app

import (
	"context"
	"fmt"
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
	count, err := b.orders.ExpireReservations(ctx, before)
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
	chores.Go(func() {
		repeat(ctx, sweepEvery, log, func(ctx context.Context) error { return b.takeBack(ctx, now, log) })
	})
	chores.Go(func() { repeat(ctx, forgetEvery, log, b.forget) })
	return func() {
		cancel()
		chores.Wait()
	}
}

// takeBack takes back the reservations of uploads that can no longer be running,
// whoever had begun them.
func (b *backend) takeBack(ctx context.Context, now func() time.Time, log *slog.Logger) error {
	if err := b.sweep(ctx, now().Add(-order.ReservationTimeout), log); err != nil {
		return fmt.Errorf("take unfinished uploads back: %w", err)
	}
	return nil
}

// forget removes the answers to requests with a key that are a day old. None
// that is still there is ever given again.
func (b *backend) forget(ctx context.Context) error {
	if _, err := b.orders.DeleteExpiredIdempotencyRecords(ctx); err != nil {
		return fmt.Errorf("remove old answers: %w", err)
	}
	return nil
}

// repeat does a chore every now and then until ctx ends. It waits first.
func repeat(ctx context.Context, every time.Duration, log *slog.Logger, chore func(context.Context) error) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := chore(ctx); err != nil && ctx.Err() == nil {
			log.Warn("something is left undone until the next time", "error", err)
		}
	}
}
