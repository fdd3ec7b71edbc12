package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"merchantorders/internal/order"
)

// Intervals of the background jobs.
const (
	expireInterval = 15 * time.Second // of expireReservations
	usageInterval  = 10 * time.Second // of writing the last-used times of tokens
	recordInterval = time.Minute      // of deleting expired idempotency records
)

// expireReservations expires the reservations made before a time, of uploads
// that have not finished.
func (b *backend) expireReservations(ctx context.Context, before time.Time, log *slog.Logger) error {
	count, err := b.orders.ExpireReservations(ctx, before)
	if count > 0 {
		log.Info("reservations of unfinished uploads expired", "count", count)
	}
	return err
}

// startJanitor starts the background jobs. The returned function stops them and
// waits until they have ended.
func (b *backend) startJanitor(now func() time.Time, log *slog.Logger) (stop func()) {
	// The jobs outlive the server's context, so that the token uses of the last
	// requests are written too.
	ctx, cancel := context.WithCancel(context.Background())
	var jobs sync.WaitGroup
	jobs.Go(func() { b.tokens.RecordUses(ctx, usageInterval, log) })
	jobs.Go(func() {
		runJob(ctx, "expire reservations", expireInterval, log, func() error {
			// Uploads of every instance that can no longer be running.
			return b.expireReservations(ctx, now().Add(-order.ReservationTimeout), log)
		})
	})
	jobs.Go(func() {
		runJob(ctx, "delete idempotency records", recordInterval, log, func() error {
			_, err := b.orders.DeleteExpiredIdempotencyRecords(ctx)
			return err
		})
	})
	return func() {
		cancel()
		jobs.Wait()
	}
}

// runJob runs a background job at an interval until ctx ends. It first waits for
// one interval.
func runJob(ctx context.Context, name string, interval time.Duration, log *slog.Logger, job func() error) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if err := job(); err != nil && ctx.Err() == nil {
			log.Warn("background job failed", "job", name, "next_try_in", interval.String(), "error", err)
		}
	}
}
