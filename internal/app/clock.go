package app

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"merchantorders/internal/store"
)

const (
	clockInterval = 10 * time.Second // of comparing the clocks
	// maxClockOffset is how far apart the clocks of this machine and of the database may be.
	// What is stored has seconds.
	maxClockOffset = time.Second
)

// clock is the clock of this machine, or of the database if they are too far apart:
// deadlines, expiry and the times of changes are the same for all instances then.
type clock struct {
	machine func() time.Time
	offset  atomic.Int64 // of the database, in nanoseconds
}

func (c *clock) now() time.Time { return c.machine().Add(c.correction()) }

// correction returns what is added to the time of this machine.
func (c *clock) correction() time.Duration {
	if offset := time.Duration(c.offset.Load()); offset.Abs() >= maxClockOffset {
		return offset
	}
	return 0
}

// clocksDiffer is the message of the log while the clock of the database is used.
const clocksDiffer = "the clock of the database is used, because that of this machine differs; synchronize both with NTP"

// compare compares the clocks. It logs when one begins to be used instead of the other; log
// may be nil.
func (c *clock) compare(ctx context.Context, db *store.DB, log *slog.Logger) error {
	offset, err := db.ClockOffset(ctx, c.machine)
	if err != nil {
		return err
	}
	before := c.correction()
	c.offset.Store(int64(offset))
	now := c.correction()
	switch {
	case log == nil:
	case before == 0 && now != 0:
		log.Warn(clocksDiffer, "database_ahead", offset.String())
	case before != 0 && now == 0:
		log.Info("the clock of this machine is used again")
	}
	return nil
}
