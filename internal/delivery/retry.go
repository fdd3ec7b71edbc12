package delivery

import (
	"slices"
	"time"

	"merchantorders/internal/order"
)

// Pauses between two attempts for the same event.
const (
	firstPause  = 5 * time.Second
	maxPause    = 8 * time.Hour
	pauseGrowth = 3
	// pauseSpread is the part of a pause that is random, so that the endpoints of a
	// receiver that was down do not all come back at the same moment.
	pauseSpread = 0.2
	// maxRetryAfter is how long a pause becomes at most because the endpoint asks for it.
	maxRetryAfter = time.Hour
	// maxServerPause is how long a pause becomes at most because of an error that says
	// nothing of the endpoint.
	maxServerPause = 10 * time.Minute
	// LongestWait is longer than every pause, lease and time between two digests: the end of one
	// that is further away was set by a clock that was ahead, and does not count.
	LongestWait = 25 * time.Hour
)

// Waits reports whether something waits until a time.
func Waits(now, until time.Time) bool {
	wait := until.Sub(now)
	return wait > 0 && wait <= LongestWait
}

// pause returns how long to wait after a number of failures, at least 1. random is
// from 0 to 1.
func pause(failures int, random float64) time.Duration {
	d := firstPause
	for range failures - 1 {
		if d *= pauseGrowth; d >= maxPause {
			d = maxPause
			break
		}
	}
	return time.Duration(float64(d) * (1 + pauseSpread*(2*random-1)))
}

// after changes the progress after a delivery of the events up to a cursor that has the
// result. wait is the pause before the next attempt, if there is one.
func (p *Progress) after(event order.MarketCursor, result Result, now time.Time, wait func(failures int) time.Duration) {
	if result.Error == "" {
		p.Recover(now)
		p.Acknowledged = event
		return
	}
	p.Failures++
	if result.Blameless {
		p.NextAttempt = now.Add(min(wait(p.Failures), maxServerPause))
		return
	}
	if p.FailingSince.IsZero() {
		p.FailingSince = now
	}
	switch {
	case result.Gone != "":
		p.fail(Failed, now, "the endpoint answered "+result.Gone, "gone")
		return
	case p.Failures >= GiveUpAttempts && now.Sub(p.FailingSince) >= GiveUpAfter:
		p.fail(Failed, now, "deliveries have failed for 3 days; the last error was "+result.problem(), result.Error)
		return
	case p.State == Active && p.Failures >= warnAttempts && now.Sub(p.FailingSince) >= warnAfter:
		p.fail(Failing, now, "deliveries have failed for 36 hours, and the webhook is disabled after 3 days; the last error was "+result.problem(), result.Error)
	}
	p.NextAttempt = result.attemptAfter(now, wait(p.Failures))
}

// attemptAfter returns when an attempt follows after a pause, or a longer one for which the
// endpoint asks. Whole seconds are stored: rounded up, the pause is not shorter than that.
func (r Result) attemptAfter(now time.Time, pause time.Duration) time.Time {
	return now.Add(max(pause, min(r.RetryAfter, maxRetryAfter)) + time.Second - 1).Truncate(time.Second)
}

// fail brings the endpoint to the state Failed or Failing.
func (p *Progress) fail(to State, now time.Time, reason, word string) {
	p.State, p.StateSet, p.Reason = to, now, reason
	p.Failure = &Failure{Word: word}
}

// Recover ends the pause after a failure, and the state Failing unless a held merchant has
// failed too.
func (c *Cursor) Recover(at time.Time) {
	c.Backoff = Backoff{}
	if c.State == Failing && !slices.ContainsFunc(c.Held, func(h Held) bool { return h.Failures > 0 }) {
		c.State, c.StateSet, c.Reason = Active, at, ""
	}
}
