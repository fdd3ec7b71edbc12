package app

import (
	"context"
	"log/slog"
	"time"

	"merchantorders/internal/order"
)

// Intervals of the background jobs.
const (
	expireInterval = 15 * time.Second // of ending the reservations of uploads
	usageInterval  = 10 * time.Second // of writing the last-used times of tokens
	recordInterval = time.Minute      // of deleting expired idempotency records
	purgeInterval  = time.Hour        // of purging deleted files and deleting old orders
	indexInterval  = 5 * time.Second  // of indexOrders
	dueInterval    = 10 * time.Second // of canceling orders past their deadline
)

// logCount logs how often a job has done something, unless it is never. It returns err.
func logCount(log *slog.Logger, what string, count int, err error) error {
	if count > 0 {
		log.Info(what, "count", count)
	}
	return err
}

// expireReservations expires the reservations made before a time, of uploads
// that have not finished.
func (b *Backend) expireReservations(ctx context.Context, before time.Time, log *slog.Logger) error {
	count, err := b.Orders.ExpireReservations(ctx, before)
	return logCount(log, "reservations of unfinished uploads expired", count, err)
}

// indexOrders does what an earlier version has left undone: it writes words of orders, and
// counts the orders of merchants by state. Then it merges the words of new orders.
func (b *Backend) indexOrders(ctx context.Context, log *slog.Logger) error {
	indexed := 0
	for {
		n, err := b.DB.IndexOrders(ctx)
		if err != nil {
			return err
		}
		if indexed += n; n == 0 {
			break
		}
	}
	_ = logCount(log, "orders of an earlier version indexed for the search", indexed, nil)
	counted, err := b.DB.CountOrders(ctx)
	if err := logCount(log, "orders of merchants counted", counted, err); err != nil {
		return err
	}
	for {
		if merged, err := b.DB.MergeWords(ctx); err != nil || !merged {
			return err
		}
	}
}

// startJanitor starts the background jobs. Deleted files are purged after
// purgeAfter, and orders are deleted after retain; 0 means never. With cancelExpired
// orders are canceled after their deadline. The returned function stops the jobs and
// waits until they have ended.
func (b *Backend) startJanitor(purgeAfter, retain time.Duration, cancelExpired bool) (stop func()) {
	now, log, group := b.jobs.now, b.jobs.log, b.jobs.newGroup()
	group.running.Go(func() {
		err := b.DB.CheckFile(group.ctx)
		if group.ctx.Err() != nil {
			return
		}
		b.jobs.record(b.jobs.add("check the database file", 0), err)
		if err != nil {
			log.Error("the database file failed its check", "error", err)
		}
	})
	group.running.Go(func() { b.Tokens.RecordUses(group.ctx, usageInterval, log) })
	group.every("expire reservations", expireInterval, false, func(ctx context.Context) error {
		// Uploads of every instance that can no longer be running.
		return b.expireReservations(ctx, now().Add(-order.ReservationTimeout), log)
	})
	group.every("delete idempotency records", recordInterval, false, func(ctx context.Context) error {
		_, err := b.Orders.DeleteExpiredIdempotencyRecords(ctx)
		return err
	})
	group.every("index orders", indexInterval, true, func(ctx context.Context) error { return b.indexOrders(ctx, log) })
	if cancelExpired {
		group.every("cancel expired orders", dueInterval, false, func(ctx context.Context) error {
			count, err := b.Orders.CancelExpired(ctx)
			return logCount(log, "orders canceled after their deadline", count, err)
		})
	}
	if purgeAfter > 0 {
		group.every("purge deleted files", purgeInterval, true, func(ctx context.Context) error {
			count, err := b.Orders.PurgeDeletedFiles(ctx, now().Add(-purgeAfter))
			return logCount(log, "deleted files purged", count, err)
		})
	}
	if retain > 0 {
		group.every("delete old orders", purgeInterval, true, func(ctx context.Context) error {
			count, err := b.Orders.DeleteOldOrders(ctx, now().Add(-retain))
			return logCount(log, "old orders deleted", count, err)
		})
	}
	return group.stop
}
