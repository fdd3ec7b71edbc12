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
	purgeInterval  = time.Hour        // of purgeDeletedFiles
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

// purgeDeletedFiles removes the bytes of the files that were deleted before a time.
func (b *backend) purgeDeletedFiles(ctx context.Context, before time.Time, log *slog.Logger) error {
	count, err := b.orders.PurgeDeletedFiles(ctx, before)
	if count > 0 {
		log.Info("deleted files purged", "count", count)
	}
	return err
}

// startJanitor starts the background jobs. Deleted files are purged after
// purgeAfter; 0 means never. The returned function stops the jobs and waits until
// they have ended.
func (b *backend) startJanitor(now func() time.Time, purgeAfter time.Duration, log *slog.Logger) (stop func()) {
	// The jobs outlive the server's context, so that the token uses of the last
	// requests are written too.
	ctx, cancel := context.WithCancel(context.Background())
	var jobs sync.WaitGroup
	jobs.Go(func() {
		if err := b.db.CheckFile(ctx); err != nil && ctx.Err() == nil {
			log.Error("the database file failed its check", "error", err)
		}
	})
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
	if purgeAfter > 0 {
		jobs.Go(func() {
			purge := func() error { return b.purgeDeletedFiles(ctx, now().Add(-purgeAfter), log) }
			// Also at the start: some servers never run for an hour.
			runOnce(ctx, "purge deleted files", purgeInterval, log, purge)
			runJob(ctx, "purge deleted files", purgeInterval, log, purge)
		})
	}
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
		runOnce(ctx, name, interval, log, job)
	}
}

// runOnce runs a background job and logs its error.
func runOnce(ctx context.Context, name string, interval time.Duration, log *slog.Logger, job func() error) {
	if err := job(); err != nil && ctx.Err() == nil {
		log.Warn("background job failed", "job", name, "next_try_in", interval.String(), "error", err)
	}
}
