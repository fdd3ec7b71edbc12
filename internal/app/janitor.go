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
	purgeInterval  = time.Hour        // of purgeDeletedFiles and deleteOldOrders
	indexInterval  = 5 * time.Second  // of indexOrders
	dueInterval    = 10 * time.Second // of cancelExpired
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

// indexOrders writes the words of orders that a version without the search has
// written, and merges the words of new ones.
func (b *backend) indexOrders(ctx context.Context, log *slog.Logger) error {
	indexed := 0
	for {
		n, err := b.db.IndexOrders(ctx)
		if err != nil {
			return err
		}
		if indexed += n; n == 0 {
			break
		}
	}
	if indexed > 0 {
		log.Info("orders of an earlier version indexed for the search", "count", indexed)
	}
	for {
		if merged, err := b.db.MergeWords(ctx); err != nil || !merged {
			return err
		}
	}
}

// cancelExpired cancels orders past their deadline.
func (b *backend) cancelExpired(ctx context.Context, log *slog.Logger) error {
	count, err := b.orders.CancelExpired(ctx)
	if count > 0 {
		log.Info("orders canceled after their deadline", "count", count)
	}
	return err
}

// deleteOldOrders deletes the orders that were created before a time.
func (b *backend) deleteOldOrders(ctx context.Context, before time.Time, log *slog.Logger) error {
	count, err := b.orders.DeleteOldOrders(ctx, before)
	if count > 0 {
		log.Info("old orders deleted", "count", count)
	}
	return err
}

// startJanitor starts the background jobs. Deleted files are purged after
// purgeAfter, and orders are deleted after retain; 0 means never. With cancelExpired
// orders are canceled after their deadline. The returned function stops the jobs and
// waits until they have ended.
func (b *backend) startJanitor(purgeAfter, retain time.Duration, cancelExpired bool) (stop func()) {
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
	// Some servers never run for an hour, so rare jobs also run at the start.
	every := func(name string, interval time.Duration, atStart bool, run func() error) {
		job := b.jobs.add(name, interval)
		running.Go(func() {
			if atStart {
				b.jobs.once(ctx, job, run)
			}
			b.jobs.repeat(ctx, job, run)
		})
	}
	every("expire reservations", expireInterval, false, func() error {
		// Uploads of every instance that can no longer be running.
		return b.expireReservations(ctx, now().Add(-order.ReservationTimeout), log)
	})
	every("delete idempotency records", recordInterval, false, func() error {
		_, err := b.orders.DeleteExpiredIdempotencyRecords(ctx)
		return err
	})
	every("index orders", indexInterval, true, func() error { return b.indexOrders(ctx, log) })
	if cancelExpired {
		every("cancel expired orders", dueInterval, false, func() error { return b.cancelExpired(ctx, log) })
	}
	if purgeAfter > 0 {
		every("purge deleted files", purgeInterval, true, func() error { return b.purgeDeletedFiles(ctx, now().Add(-purgeAfter), log) })
	}
	if retain > 0 {
		every("delete old orders", purgeInterval, true, func() error { return b.deleteOldOrders(ctx, now().Add(-retain), log) })
	}
	return func() {
		cancel()
		running.Wait()
	}
}
