package delivery

import (
	"context"
	"errors"
	"time"

	"merchantorders/internal/order"
)

const (
	// roundTime is how long an endpoint gets another event of a page, so that a slow delivery
	// ends a round. Then others follow.
	roundTime = slowAfter / 2
	// freshLease is how old a lease may be when a request begins; an older one is
	// extended first.
	freshLease = time.Second
	// SaveTimeout bounds the wait for the database to save the end of a request.
	SaveTimeout = 10 * time.Second
)

// round delivers events to an endpoint: until it has all, the limits of a round are
// reached, or a delivery fails. more says that it is to have another round. After the end
// of ctx it begins nothing.
func (w *Worker) round(ctx, work context.Context, slot *slot) (more bool) {
	key := slot.key
	if ctx.Err() != nil {
		return false
	}
	now := w.Now()
	// The end of ctx must not cancel the statement: a lease that was taken nevertheless would
	// hold the webhook until it ends.
	lease, err := w.Store.LeaseEndpoint(work, key, now, now.Add(w.Lease))
	if errors.Is(err, ErrNotDue) || errors.Is(err, ErrNotFound) {
		return false
	}
	if err != nil {
		w.warn(ctx, "cannot lease a webhook", err, "webhook", key.ID)
		return false
	}
	lease.correct(now)
	r := Round{Lease: lease, worker: w, sender: w.Senders[key.Kind], stop: ctx, work: work, slot: slot, begun: now, until: now.Add(w.Lease)}
	more, err = r.deliver()
	if err != nil && !errors.Is(err, ErrLeaseLost) {
		w.warn(ctx, "cannot deliver to a webhook", err, "webhook", key.ID)
	}
	if !r.released {
		// A request changed the endpoint meanwhile, or the service failed.
		save, cancel := context.WithTimeout(context.WithoutCancel(ctx), SaveTimeout)
		defer cancel()
		if err := w.Store.ReleaseEndpoint(save, r.Lease); err != nil {
			w.warn(ctx, "cannot release a webhook", err, "webhook", key.ID)
		}
	}
	return more || errors.Is(err, ErrLeaseLost) && ctx.Err() == nil
}

// Round is the delivery to one endpoint under one lease.
type Round struct {
	Lease      Lease
	worker     *Worker
	sender     Sender
	stop, work context.Context
	slot       *slot
	merchant   int64 // a held one, whose events are delivered; 0: those after the cursor
	begun      time.Time
	until      time.Time // end of the lease
	released   bool
}

// deliver reads events and delivers them.
func (r *Round) deliver() (more bool, err error) {
	page, err := readPage(r.work, r.worker.Store, r.Lease.Cursor, r.sender.Limits().Events)
	if err != nil {
		return false, err
	}
	if page.again {
		r.worker.Log.Warn("webhook begins again: the events of its cursor are gone", "webhook", r.Lease.ID)
		r.Lease.Held = nil
	}
	// While deliveries at the cursor fail, others would as well. Beyond MaxHeld they are tried
	// nevertheless: the event at the cursor can only be left behind if one of them recovers.
	if r.Lease.heldIsDue(r.begun) && (r.Lease.Failures == 0 || len(page.events) == 0 || len(r.Lease.Held) >= MaxHeld) {
		if err := r.deliverHeld(); err != nil || !r.Lease.State.Delivers() || r.Lease.NextAttempt.After(r.worker.Now()) {
			return false, err
		}
		r.begun = r.worker.Now()
	}
	for rest := page.events; page.end != r.Lease.Acknowledged; {
		events := r.Lease.wanted(rest)
		sent, err := r.send(events)
		if err != nil {
			return false, err
		}
		p, done := r.progress(page, events, sent)
		stop := p.Acknowledged == r.Lease.Acknowledged || p.NextAttempt.After(r.worker.Now())
		end := p.Acknowledged == page.end
		if stop || end || r.over() || r.stop.Err() != nil {
			return !stop && (!end || page.more || p.heldIsDue(r.worker.Now())), r.save(p)
		}
		if err := r.extend(p); err != nil {
			return false, err
		}
		rest = events[done:]
	}
	return r.Lease.heldIsDue(r.worker.Now()), nil
}

// progress returns what came of some events, and how many of them are done with: delivered, or
// left behind.
func (r *Round) progress(page page, events []order.EventRecord, sent Sent) (p Progress, done int) {
	p = Progress{Cursor: r.Lease.Cursor, Attempt: sent.Attempt}
	failed, to := sent.Result != nil && sent.Result.Error != "", page.end
	done = sent.Events
	if failed {
		done = 1
	}
	if failed || done > 0 && done < len(events) {
		to = page.at(events[done-1])
	}
	if sent.Result != nil {
		p.afterOrHold(to, sent.Events, *sent.Result, r.second(), r.worker.Wait)
	} else if done > 0 || len(events) == 0 {
		p.Acknowledged = to
	}
	switch {
	case p.Acknowledged == r.Lease.Acknowledged:
	case p.Batch < 0:
		p.Batch++
	default:
		p.Batch = sent.Batch
	}
	if !sent.SentAt.IsZero() {
		p.SentAt = sent.SentAt
	}
	if !sent.Next.IsZero() {
		p.NextAttempt = sent.Next
	}
	return p, done
}

// send gives events to the sender. It returns an error if the end of Run prevents or cancels
// the request: then nothing is known, and nothing counts.
func (r *Round) send(events []order.EventRecord) (Sent, error) {
	if err := r.stop.Err(); err != nil {
		return Sent{}, err
	}
	slow := time.AfterFunc(slowAfter, func() { r.worker.demote(r.slot) })
	defer slow.Stop()
	sent, err := r.sender.Send(r.work, r, events)
	if err == nil {
		err = r.work.Err()
	}
	if err == nil && sent.Result != nil {
		r.worker.pace(r.Lease.Key, *sent.Result)
	}
	return sent, err
}

// Refresh extends the lease if a request that begins now could outlast it.
func (r *Round) Refresh() error {
	if r.until.Sub(r.worker.Now()) >= r.worker.Lease-freshLease {
		return nil
	}
	return r.extend(Progress{Cursor: r.Lease.Cursor})
}

// planned returns how many events the next attempt has; see Cursor.Batch.
func (r *Round) planned() int {
	if r.merchant != 0 {
		return r.Lease.Held[r.Lease.held(r.merchant)].Batch
	}
	return r.Lease.Batch
}

// Batch returns the first of some events, at most n, that are sent as one: those of an earlier
// attempt if there was one.
func (r *Round) Batch(events []order.EventRecord, n int) []order.EventRecord {
	switch planned := r.planned(); {
	case planned < 0:
		n = 1
	case planned > 0:
		n = min(n, planned)
	}
	return events[:min(n, len(events))]
}

// Begin stores that the first n events are sent as one, unless that is known, so that another
// attempt sends the same. It is Refresh too.
func (r *Round) Begin(n int) error {
	if planned := r.planned(); planned == n || planned < 0 {
		return r.Refresh()
	}
	p := Progress{Cursor: r.Lease.Cursor}
	if r.merchant == 0 {
		p.Batch = n
	} else {
		h := p.Held[p.held(r.merchant)]
		h.Batch = n
		p.hold(h)
	}
	return r.extend(p)
}

// SendAsOne runs a function that sends the first n events as one. It keeps the lease for as
// long as that takes. It returns an error if it loses the lease: then nothing is known, and
// nothing counts.
func (r *Round) SendAsOne(n int, send func(context.Context) Result) (Result, error) {
	if err := r.Begin(n); err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithCancel(r.work)
	defer cancel()
	results := make(chan Result, 1)
	go func() { results <- send(ctx) }()
	ticker := time.NewTicker(r.worker.Lease / 2)
	defer ticker.Stop()
	for {
		select {
		case result := <-results:
			return result, nil
		case <-ticker.C:
			if err := r.extend(Progress{Cursor: r.Lease.Cursor}); errors.Is(err, ErrLeaseLost) {
				cancel()
				<-results
				return Result{}, err
			}
		}
	}
}

// save saves progress and ends the lease.
func (r *Round) save(p Progress) error {
	if p.Failure != nil {
		*p.Failure = r.sender.Failure(p.Cursor, p.Failure.Word)
	}
	// Also after the end of Run: what was delivered is not to be delivered again.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.work), SaveTimeout)
	defer cancel()
	err := r.worker.Store.SaveProgress(ctx, r.Lease, p)
	if err == nil {
		if p.Failure != nil {
			r.worker.Log.Warn("webhook "+p.State.String(), "merchant", p.MerchantID, "webhook", p.ID, "reason", p.Reason)
		}
		r.Lease.Cursor = p.Cursor
		r.released = p.LeaseUntil.IsZero()
	}
	return err
}

// extend saves progress and extends the lease.
func (r *Round) extend(p Progress) error {
	p.LeaseUntil = r.worker.Now().Add(r.worker.Lease)
	err := r.save(p)
	if err == nil {
		r.until = p.LeaseUntil
	}
	return err
}

// over reports whether the time of a round is over.
func (r *Round) over() bool { return r.worker.Now().Sub(r.begun) >= roundTime }

// second returns the time of the service's clock in whole seconds.
func (r *Round) second() time.Time { return r.worker.Now().UTC().Truncate(time.Second) }
