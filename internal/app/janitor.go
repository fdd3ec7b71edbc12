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
func (b *backend) startJanitor(purgeAfter time.Duration) (stop func()) {
	// The jobs outlive the server's context, so that the token uses of the last
	// requests are written too.
	ctx, cancel := context.WithCancel(context.Background())
	now, log := b.jobs.now, b.jobs.log
	var running sync.WaitGroup
	running.Go(func() {
		err := b.db.CheckFile(ctx)
		if ctx.Err() != nil {
			return
		}
		b.jobs.record(b.jobs.add("check the database file", 0), err)
		if err != nil {
			log.Error("the database file failed its check", "error", err)
		}
	})
	running.Go(func() { b.tokens.RecordUses(ctx, usageInterval, log) })
	expire := b.jobs.add("expire reservations", expireInterval)
	running.Go(func() {
		b.jobs.repeat(ctx, expire, func() error {
			// Uploads of every instance that can no longer be running.
			return b.expireReservations(ctx, now().Add(-order.ReservationTimeout), log)
		})
	})
	records := b.jobs.add("delete idempotency records", recordInterval)
	running.Go(func() {
		b.jobs.repeat(ctx, records, func() error {
			_, err := b.orders.DeleteExpiredIdempotencyRecords(ctx)
			return err
		})
	})
	if purgeAfter > 0 {
		purge := b.jobs.add("purge deleted files", purgeInterval)
		run := func() error { return b.purgeDeletedFiles(ctx, now().Add(-purgeAfter), log) }
		running.Go(func() {
			// Also at the start: some servers never run for an hour.
			b.jobs.once(ctx, purge, run)
			b.jobs.repeat(ctx, purge, run)
		})
	}
	return func() {
		cancel()
		running.Wait()
	}
}
