package webhook

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
	// The others are those of Endpoint.
	Failures                  int       `json:",omitzero"`
	FailingSince, NextAttempt time.Time `json:",omitzero"`
}

// held returns the index of a held merchant; -1 if it is not held.
func (e Endpoint) held(merchantID int64) int {
	return slices.IndexFunc(e.Held, func(h Held) bool { return h.MerchantID == merchantID })
}

// retry ends the pauses after failures, also of held merchants.
func (e *Endpoint) retry(at time.Time) {
	e.Held = slices.Clone(e.Held)
	for i, h := range e.Held {
		e.Held[i] = Held{MerchantID: h.MerchantID, Event: h.Event, NextAttempt: at}
	}
	e.recovered(at)
}

// heldIsDue reports whether the first held merchant may have an attempt.
func heldIsDue(held []Held, now time.Time) bool {
	return len(held) > 0 && !held[0].NextAttempt.After(now)
}

// without returns what is held except for a merchant, and with others, the one whose attempt
// is next first.
func without(held []Held, merchantID int64, others ...Held) []Held {
	held = slices.DeleteFunc(slices.Clone(held), func(h Held) bool { return h.MerchantID == merchantID })
	held = append(held, others...)
	slices.SortStableFunc(held, func(a, b Held) int { return a.NextAttempt.Compare(b.NextAttempt) })
	return held
}

// afterOrHold is after for an event at the cursor. Of the marketplace's endpoint, it may hold
// the merchant of the event, and then sets no pause but that for which the endpoint asks.
func (e Endpoint) afterOrHold(event order.MarketCursor, result Result, now time.Time, wait func(failures int) time.Duration) Progress {
	p := e.after(event, result, now, wait)
	if e.MerchantID != Marketplace || result.Error == "" || !p.State.Delivers() || p.Failures%holdAfter != 0 || len(e.Held) >= MaxHeld {
		return p
	}
	p.Acknowledged = event
	p.Held = without(e.Held, 0, Held{event.MerchantID, event.Seq, holdAfter, now, result.attemptAfter(now, wait(holdAfter))})
	p.NextAttempt = result.attemptAfter(now, 0)
	return p
}

// afterHeld is after for an event of a held merchant. A failure counts for it alone, and
// disables the endpoint only if nothing else has succeeded for as long.
func (e Endpoint) afterHeld(event order.EventRecord, result Result, now time.Time, wait func(failures int) time.Duration) Progress {
	h, one := e.Held[e.held(event.MerchantID)], e
	if result.Error == "" {
		one.Held = without(e.Held, h.MerchantID, Held{MerchantID: h.MerchantID, Event: event.Seq + 1, NextAttempt: now})
		return one.after(e.Acknowledged, result, now, wait)
	}
	one.Failures, one.FailingSince, one.NextAttempt = h.Failures, h.FailingSince, h.NextAttempt
	alone := e.FailingSince.IsZero() || now.Sub(e.FailingSince) < GiveUpAfter
	if alone {
		one.Failures = min(h.Failures, GiveUpAttempts-2) // one more is too few to give up
	}
	p := one.after(e.Acknowledged, result, now, wait)
	if alone && p.State == Failing && e.State == Active {
		p.Reason = fmt.Sprintf("deliveries for merchant %d have failed for 36 hours; the last error was %s", h.MerchantID, result.problem())
	}
	p.Held = without(e.Held, h.MerchantID, Held{h.MerchantID, event.Seq, p.Failures, p.FailingSince, p.NextAttempt})
	p.Failures, p.FailingSince, p.NextAttempt = e.Failures, e.FailingSince, e.NextAttempt
	if result.RetryAfter > 0 {
		p.NextAttempt = result.attemptAfter(now, 0)
	}
	return p
}

// deliverHeld delivers the events of the first held merchant up to the cursor, until a
// delivery fails or the time of a round is over. It saves progress, and keeps the lease.
func (r *round) deliverHeld() error {
	h := r.lease.Held[0]
	feed, err := r.Store.Events(r.work, h.MerchantID, h.Event-1, roundEvents)
	if err != nil {
		return err
	}
	events := feed.Events
	if end := slices.IndexFunc(events, r.lease.Acknowledged.Before); end >= 0 {
		events = events[:end]
	}
	for _, event := range events {
		if !r.lease.Types.Has(event.Type) {
			continue
		}
		delivery, err := r.send(event)
		if err != nil {
			return err
		}
		p := r.lease.afterHeld(event, delivery.Result, r.second(), r.Wait)
		if err := r.extend(p, &delivery); err != nil || delivery.Error != "" || r.Now().Sub(r.begun) >= roundTime {
			return err
		}
	}
	p := r.lease.progress()
	p.Held = without(p.Held, h.MerchantID)
	if len(events) == roundEvents {
		p.Held = without(p.Held, 0, Held{MerchantID: h.MerchantID, Event: events[roundEvents-1].Seq + 1, NextAttempt: r.second()})
	}
	return r.extend(p, nil)
}
