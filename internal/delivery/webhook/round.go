package webhook

import (
	"context"
	"errors"
	"time"

	"merchantorders/internal/order"
)

const (
	// roundEvents is how many events an endpoint gets in a round at most, and roundTime how
	// long it gets another one, so that a slow delivery ends a round. Then others follow.
	roundEvents = 100
	roundTime   = slowAfter / 2
	// freshLease is how old a lease may be when a request begins; an older one is
	// extended first.
	freshLease = time.Second
	// saveTimeout bounds the wait for the database to save the end of a request.
	saveTimeout = 10 * time.Second
)

// round delivers events to an endpoint: until it has all, the limits of a round are
// reached, or a delivery fails. more says that it is to have another round. After the end
// of ctx it begins nothing.
func (s *Sender) round(ctx, work context.Context, slot *slot) (more bool) {
	key := slot.key
	if ctx.Err() != nil {
		return false
	}
	now := s.Now()
	// The end of ctx must not cancel the statement: a lease that was taken nevertheless would
	// hold the webhook until it ends.
	lease, err := s.Store.LeaseWebhook(work, key, now, now.Add(s.Lease))
	if errors.Is(err, ErrNotDue) || errors.Is(err, ErrNotFound) {
		return false
	}
	if err != nil {
		s.warn(ctx, "cannot lease a webhook", err, "webhook", key.ID)
		return false
	}
	r := round{Sender: s, stop: ctx, work: work, slot: slot, lease: lease, begun: now, until: now.Add(s.Lease)}
	more, err = r.deliver()
	if err != nil && !errors.Is(err, ErrLeaseLost) {
		s.warn(ctx, "cannot deliver to a webhook", err, "webhook", key.ID)
	}
	if !r.released {
		// A request changed the endpoint meanwhile, or the service failed.
		save, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
		defer cancel()
		if err := s.Store.ReleaseWebhook(save, r.lease); err != nil {
			s.warn(ctx, "cannot release a webhook", err, "webhook", key.ID)
		}
	}
	return more || errors.Is(err, ErrLeaseLost) && ctx.Err() == nil
}

// round is the delivery to one endpoint under one lease.
type round struct {
	*Sender
	stop, work context.Context
	slot       *slot
	lease      Lease
	begun      time.Time
	until      time.Time // end of the lease
	released   bool
}

// deliver reads events and delivers them.
func (r *round) deliver() (more bool, err error) {
	if r.lease.Mail {
		return false, r.mail()
	}
	page, err := readPage(r.work, r.Store, r.lease.Endpoint, roundEvents)
	if err != nil {
		return false, err
	}
	if page.again {
		r.Log.Warn("webhook begins again: the events of its cursor are gone", "webhook", r.lease.ID)
		r.lease.Held = nil
	}
	// While deliveries at the cursor fail, others would as well. Beyond MaxHeld they are tried
	// nevertheless: the event at the cursor can only be left behind if one of them recovers.
	if heldIsDue(r.lease.Held, r.begun) && (r.lease.Failures == 0 || len(page.events) == 0 || len(r.lease.Held) >= MaxHeld) {
		if err := r.deliverHeld(); err != nil || !r.lease.State.Delivers() || r.lease.NextAttempt.After(r.Now()) {
			return false, err
		}
		r.begun = r.Now()
	}
	for i, event := range page.events {
		if !r.lease.Types.Has(event.Type) || r.lease.held(event.MerchantID) >= 0 {
			continue
		}
		delivery, err := r.send(event)
		if err != nil {
			return false, err
		}
		at := page.at(event)
		p := r.lease.afterOrHold(at, delivery.Result, r.second(), r.Wait)
		last := i == len(page.events)-1
		stop := p.Acknowledged != at || p.NextAttempt.After(r.Now())
		if stop || last || r.Now().Sub(r.begun) >= roundTime || r.stop.Err() != nil {
			return !stop && (page.more || !last || heldIsDue(p.Held, r.Now())), r.save(p, &delivery)
		}
		if err := r.extend(p, &delivery); err != nil {
			return false, err
		}
	}
	if page.end != r.lease.Acknowledged {
		p := r.lease.progress() // the last events are of types that it does not want
		p.Acknowledged = page.end
		err = r.save(p, nil)
	}
	return page.more || heldIsDue(r.lease.Held, r.Now()), err
}

// send delivers an event. It returns an error if the end of Run prevents or cancels the
// request: then nothing is known, and nothing counts.
func (r *round) send(event order.EventRecord) (Delivery, error) {
	if err := r.stop.Err(); err != nil {
		return Delivery{}, err
	}
	m, err := newOutgoing(r.work, r.Store, r.Encoder, r.lease.Endpoint, event)
	if err != nil {
		return Delivery{}, err
	}
	if err := r.refresh(); err != nil {
		return Delivery{}, err
	}
	slow := time.AfterFunc(slowAfter, func() { r.demote(r.slot) })
	defer slow.Stop()
	r.count(1)
	delivery, err := attempter{r.Poster, r.Now, r.Attempt}.send(r.work, r.lease.Endpoint, m)
	r.count(-1)
	if err == nil {
		err = r.work.Err()
	}
	if err == nil {
		r.record(r.lease.Key, delivery.Result)
		if delivery.Error != "" && r.lease.Failures == 0 {
			// The response may have what nobody else may read; the log of deliveries keeps it.
			r.Log.Warn("delivery to a webhook failed; others that follow are not logged", "merchant", r.lease.MerchantID, "webhook", r.lease.ID,
				"message", m.id, "error", delivery.Error, "status", delivery.Status)
		}
	}
	return delivery, err
}

// refresh extends the lease if a request that begins now could outlast it.
func (r *round) refresh() error {
	if r.until.Sub(r.Now()) >= r.Lease-freshLease {
		return nil
	}
	return r.extend(r.lease.progress(), nil)
}

// save saves progress and ends the lease.
func (r *round) save(p Progress, delivery *Delivery) error {
	// Also after the end of Run: what was delivered is not to be delivered again.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.work), saveTimeout)
	defer cancel()
	err := r.Store.SaveProgress(ctx, r.lease, p, delivery)
	if err == nil {
		if p.Failure != nil {
			r.Log.Warn("webhook "+p.State.String(), "merchant", r.lease.MerchantID, "webhook", r.lease.ID, "reason", p.Reason)
		}
		r.lease.Endpoint = r.lease.apply(p)
		r.released = p.LeaseUntil.IsZero()
	}
	return err
}

// extend saves progress and extends the lease.
func (r *round) extend(p Progress, delivery *Delivery) error {
	until := r.Now().Add(r.Lease)
	p.LeaseUntil = until
	err := r.save(p, delivery)
	if err == nil {
		r.until = until
	}
	return err
}

// second returns the time of the service's clock in whole seconds.
func (r *round) second() time.Time { return r.Now().UTC().Truncate(time.Second) }

func (r *round) count(change int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inFlight += change
}
