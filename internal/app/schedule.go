package app

import (
	"context"
	"log/slog"
	"time"

	"merchantorders/internal/order"
)

// Intervals of the background jobs.
const (
	expireInterval     = 15 * time.Second // of ending the reservations of uploads
	usageInterval      = 10 * time.Second // of writing the last-used times of tokens
	recordInterval     = time.Minute      // of deleting expired idempotency records
	purgeInterval      = time.Hour        // of purging deleted files and deleting old orders
	dueInterval        = 10 * time.Second // of canceling orders past their deadline, and of warning before it
	logInterval        = time.Minute      // of truncating the write-ahead log of SQLite
	tokensInterval     = time.Hour        // of deleting the tokens of sessions that ended long ago
	deliveriesInterval = time.Hour        // of deleting old deliveries from the log of webhooks
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

// startJobs starts the background jobs. The returned function stops them and waits
// until they have ended, with the requests of webhooks in flight.
func (s *server) startJobs() (stop func()) {
	group := s.jobs.newGroup()
	group.running.Go(func() { s.checkFile(group.ctx) })
	group.running.Go(func() { s.Tokens.RecordUses(group.ctx, usageInterval, s.log) })
	if !s.Flags.NoWebhooks {
		group.running.Go(func() { s.Worker.Run(group.ctx) })
	}
	group.every("expire reservations", expireInterval, false, func(ctx context.Context) error {
		// Uploads of every instance that can no longer be running.
		return s.expireReservations(ctx, s.Now().Add(-order.ReservationTimeout), s.log)
	})
	group.every("delete idempotency records", recordInterval, false, func(ctx context.Context) error {
		_, err := s.Orders.DeleteExpiredIdempotencyRecords(ctx)
		return err
	})
	group.every("delete tokens of sessions", tokensInterval, true, func(ctx context.Context) error {
		count, err := s.Sessions.DeleteTokens(ctx)
		return logCount(s.log, "tokens of ended sessions deleted", count, err)
	})
	group.every("delete webhook deliveries", deliveriesInterval, false, func(ctx context.Context) error {
		_, err := s.Webhooks.DeleteOldDeliveries(ctx)
		return err
	})
	if s.Settings.DatabaseLocation().File() != "" {
		group.every("truncate the database log", logInterval, true, s.DB.TruncateLog)
		group.every("watch the database file", watchInterval, false, s.watchDatabase())
	} else {
		group.every("compare the clocks", clockInterval, false, func(ctx context.Context) error { return s.clock.compare(ctx, s.DB, s.log) })
	}
	s.startOptionalJobs(group)
	return group.stop
}

// watchInterval is how long the loss of the database file goes unnoticed if nobody changes
// anything.
const watchInterval = time.Second

// watchDatabase returns a job that logs when the database can no longer be used, and again, and
// tells doctor.
func (s *server) watchDatabase() func(context.Context) error {
	lost := false
	_ = s.noteWrong("") // what a server has left that was killed
	return func(ctx context.Context) error {
		err := s.DB.Ping(ctx)
		switch {
		case ctx.Err() != nil || lost == (err != nil):
			return nil
		case err != nil:
			_ = s.noteWrong(err.Error()) // the log has it too
			s.log.Error("the database cannot be used", "error", err)
		default:
			s.log.Info("the database can be used again")
			_ = s.noteWrong("")
		}
		lost = err != nil
		return nil
	}
}

// checkFile checks the database file once.
func (s *server) checkFile(ctx context.Context) {
	err := s.DB.CheckFile(ctx)
	if ctx.Err() != nil {
		return
	}
	s.jobs.record(s.jobs.add("check the database file", 0), err)
	if err != nil {
		s.log.Error("the database file failed its check", "error", err)
	}
}

// deleteOldOrders deletes the orders beyond an age, or shows how many it will delete.
func (s *server) deleteOldOrders(ctx context.Context, age time.Duration) error {
	before := s.Now().Add(-age)
	begins, err := s.Retention.BeginRetention(ctx, age, s.Flags.RetainAtOnce())
	if err != nil {
		return err
	}
	if begins.After(s.Now()) {
		count, err := s.Retention.CountOldOrders(ctx, before)
		if err == nil {
			s.retaining.Store(count)
			s.log.Warn("--retain is new or shorter, and will delete orders", "orders", count, "created_before", before.UTC().Format(time.RFC3339),
				"begins", begins.Format(time.RFC3339), "at_once_with", "--retain-confirmed "+string(s.Flags.Retain))
		}
		return err
	}
	s.retaining.Store(0)
	count, err := s.Retention.DeleteOldOrders(ctx, before)
	return logCount(s.log, "old orders deleted", count, err)
}

// unlessDoubtful returns a job whose work nobody can undo: it waits while the clock may be wrong.
func (s *server) unlessDoubtful(run func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		period, err := s.Retention.CheckClock(ctx)
		switch until := period.WaitUntil; {
		case err != nil:
			return err
		case until.IsZero():
			return run(ctx)
		case s.doubted.Swap(until.Unix()) != until.Unix():
			s.log.Warn("the clock is more than 30 days ahead of the last automatic changes: orders are canceled and deleted, and files purged, only after a day; correct the clock if it is wrong",
				"last", period.RanAt.Format(time.RFC3339), "begins", until.Format(time.RFC3339))
		}
		return nil
	}
}

// startOptionalJobs starts the jobs that the settings ask for.
func (s *server) startOptionalJobs(group *jobGroup) {
	if s.Flags.CancelExpired {
		group.every("cancel expired orders", dueInterval, false, s.unlessDoubtful(func(ctx context.Context) error {
			count, err := s.Orders.CancelExpired(ctx)
			return logCount(s.log, "orders canceled after their deadline", count, err)
		}))
	}
	if left := s.Flags.DeadlineWarning.Value(); left > 0 {
		group.every("warn of deadlines", dueInterval, false, func(ctx context.Context) error {
			count, err := s.Orders.WarnOfDeadlines(ctx, left)
			return logCount(s.log, "events written because a deadline is near", count, err)
		})
	}
	if age := s.Flags.PurgeDeletedAfter.Value(); age > 0 {
		group.every("purge deleted files", purgeInterval, true, s.unlessDoubtful(func(ctx context.Context) error {
			count, err := s.Orders.PurgeDeletedFiles(ctx, s.Now().Add(-age))
			return logCount(s.log, "deleted files purged", count, err)
		}))
	}
	if age := s.Flags.Retain.Value(); age > 0 {
		group.every("delete old orders", purgeInterval, true, s.unlessDoubtful(func(ctx context.Context) error {
			return s.deleteOldOrders(ctx, age)
		}))
	}
}
