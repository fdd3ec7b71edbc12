package delivery

import (
	"fmt"
	"slices"
	"time"

	"merchantorders/internal/order"
)

// The events of a merchant must not wait because the marketplace's endpoint refuses one of
// another. So the cursor goes on behind an event that it refuses, and the merchant is held:
// what it has up to the cursor is delivered apart, in order. Positions in the feed ascend
// with the numbers of a merchant, so all that it has behind the cursor is newer.

const (
	// holdAfter is after how many failures in a row a merchant is held. The next one takes
	// as many again, with growing pauses: a receiver that is down for days holds a few.
	holdAfter = 2
	// MaxHeld is how many merchants an endpoint holds. Beyond that, an event that it refuses
	// holds up all behind it.
	MaxHeld = 100
)

// Held is a merchant whose events up to the cursor wait, from one on. The names of the
// fields are stored.
type Held struct {
	MerchantID, Event int64
	Backoff
	Batch int `json:",omitzero"` // see Cursor
}

// held returns the index of a held merchant; -1 if it is not held.
func (c Cursor) held(merchantID int64) int {
	return slices.IndexFunc(c.Held, func(h Held) bool { return h.MerchantID == merchantID })
}

// release holds a merchant no longer.
func (c *Cursor) release(merchantID int64) {
	c.Held = slices.DeleteFunc(slices.Clone(c.Held), func(h Held) bool { return h.MerchantID == merchantID })
}

// hold holds a merchant, or replaces what is held of it. The one whose attempt is next comes
// first.
func (c *Cursor) hold(h Held) {
	c.release(h.MerchantID)
	c.Held = append(c.Held, h)
	c.sort()
}

func (c *Cursor) sort() {
	slices.SortStableFunc(c.Held, func(a, b Held) int { return a.NextAttempt.Compare(b.NextAttempt) })
}

// correct ends the pauses that a clock that was ahead has begun: held merchants would wait behind
// others for as long.
func (c *Cursor) correct(now time.Time) {
	c.Held = slices.Clone(c.Held)
	c.Backoff.correct(now)
	for i := range c.Held {
		c.Held[i].correct(now)
	}
	c.sort()
}

func (b *Backoff) correct(now time.Time) {
	if b.NextAttempt.Sub(now) > LongestWait {
		b.NextAttempt = now
	}
	if b.FailingSince.After(now) {
		b.FailingSince = now
	}
}

// EndPauses ends the pauses after failures, also of held merchants.
func (c *Cursor) EndPauses(at time.Time) {
	c.Held = slices.Clone(c.Held)
	for i := range c.Held {
		c.Held[i].Backoff = Backoff{NextAttempt: at}
	}
	c.Recover(at)
}

// heldIsDue reports whether the first held merchant may have an attempt.
func (c Cursor) heldIsDue(now time.Time) bool {
	return len(c.Held) > 0 && !c.Held[0].NextAttempt.After(now)
}

// afterOrHold is after for n events at the cursor, or, if it fails, the first of them. Of the
// marketplace's endpoint, it has several that fail sent one by one, or holds the merchant of a
// single one, and sets no pause then but that for which the endpoint asks.
func (p *Progress) afterOrHold(event order.MarketCursor, n int, result Result, now time.Time, wait func(failures int) time.Duration) {
	p.after(event, result, now, wait)
	if p.MerchantID != Marketplace || result.Error == "" || !p.State.Delivers() || p.Failures%holdAfter != 0 {
		return
	}
	if n > 1 {
		p.Batch, p.NextAttempt = -n, result.attemptAfter(now, 0)
		return
	}
	if len(p.Held) >= MaxHeld {
		return
	}
	p.Acknowledged = event
	p.hold(Held{event.MerchantID, event.Seq, Backoff{holdAfter, now, result.attemptAfter(now, wait(holdAfter))}, 1})
	p.NextAttempt = result.attemptAfter(now, 0)
}

// afterHeld is after for events of a held merchant; next is how many the next attempt has. A
// failure counts for the merchant alone, and disables the endpoint only if nothing else has
// succeeded for as long.
func (p *Progress) afterHeld(events []order.EventRecord, next int, result Result, now time.Time, wait func(failures int) time.Duration) {
	h, was := p.Held[p.held(events[0].MerchantID)], p.Cursor
	if result.Error == "" {
		p.hold(Held{h.MerchantID, events[len(events)-1].Seq + 1, Backoff{NextAttempt: now}, next})
		p.after(was.Acknowledged, result, now, wait)
		return
	}
	p.Backoff = h.Backoff
	alone := was.FailingSince.IsZero() || now.Sub(was.FailingSince) < GiveUpAfter
	if alone {
		p.Failures = min(h.Failures, GiveUpAttempts-2) // one more is too few to give up
	}
	p.after(was.Acknowledged, result, now, wait)
	if alone && p.State == Failing && was.State == Active {
		p.Reason = fmt.Sprintf("deliveries for merchant %d have failed for 36 hours; the last error was %s", h.MerchantID, result.problem())
	}
	p.hold(Held{h.MerchantID, events[0].Seq, p.Backoff, h.Batch})
	p.Backoff = was.Backoff
	if result.RetryAfter > 0 {
		p.NextAttempt = result.attemptAfter(now, 0)
	}
}

// deliverHeld delivers the events of the first held merchant up to the cursor, until a
// delivery fails or the time of a round is over. It saves progress, and keeps the lease.
func (r *Round) deliverHeld() error {
	h, limit := r.Lease.Held[0], r.sender.Limits().Events
	feed, err := r.worker.Store.Events(r.work, h.MerchantID, h.Event-1, limit)
	if err != nil {
		return err
	}
	events := feed.Events
	if end := slices.IndexFunc(events, r.Lease.Acknowledged.Before); end >= 0 {
		events = events[:end]
	}
	r.merchant = h.MerchantID
	defer func() { r.merchant = 0 }()
	for rest := slices.DeleteFunc(slices.Clone(events), func(e order.EventRecord) bool { return !r.Lease.Types.Has(e.Type) }); len(rest) > 0; {
		sent, err := r.send(rest)
		if err != nil {
			return err
		}
		p := Progress{Cursor: r.Lease.Cursor, Attempt: sent.Attempt}
		p.afterHeld(rest[:sent.Events], sent.Batch, *sent.Result, r.second(), r.worker.Wait)
		if err := r.extend(p); err != nil || sent.Result.Error != "" || r.over() {
			return err
		}
		rest = rest[sent.Events:]
	}
	p := Progress{Cursor: r.Lease.Cursor}
	p.release(h.MerchantID)
	if len(events) == limit {
		p.hold(Held{MerchantID: h.MerchantID, Event: events[limit-1].Seq + 1, Backoff: Backoff{NextAttempt: r.second()}})
	}
	return r.extend(p)
}
