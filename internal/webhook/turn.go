package webhook

import (
	"context"
	"errors"
	"time"

	"merchantorders/internal/order"
)

const (
	// turnEvents is how many events an endpoint gets until it is another one's turn.
	turnEvents = 100
	// freshLease is how old a lease may be when a request begins; an older one is
	// extended first.
	freshLease = time.Second
	// saveTimeout bounds the wait for the database to save the end of a request.
	saveTimeout = 10 * time.Second
)

// turn delivers events to an endpoint: until it has all, has had turnEvents, or has
// failed. more says that it is to have another turn. After the end of ctx it begins
// nothing.
func (s *Sender) turn(ctx, work context.Context, key Key) (more bool) {
	if ctx.Err() != nil {
		return false
	}
	now := s.Now()
	lease, err := s.Store.LeaseWebhook(ctx, key, now, now.Add(s.Lease))
	if errors.Is(err, ErrNotDue) || errors.Is(err, ErrNotFound) {
		return false
	}
	if err != nil {
		s.warn(ctx, "cannot lease a webhook", err, "webhook", key.ID)
		return false
	}
	t := turn{Sender: s, stop: ctx, work: work, lease: lease, until: now.Add(s.Lease)}
	more, err = t.deliver()
	if err != nil && !errors.Is(err, ErrLeaseLost) {
		s.warn(ctx, "cannot deliver to a webhook", err, "webhook", key.ID)
	}
	if !t.released {
		// A request changed the endpoint meanwhile, or the service failed.
		save, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
		defer cancel()
		if err := s.Store.ReleaseWebhook(save, t.lease); err != nil {
			s.warn(ctx, "cannot release a webhook", err, "webhook", key.ID)
		}
	}
	return more || errors.Is(err, ErrLeaseLost) && ctx.Err() == nil
}

// turn is the delivery to one endpoint under one lease.
type turn struct {
	*Sender
	stop, work context.Context
	lease      Lease
	until      time.Time // end of the lease
	released   bool
}

// deliver reads events and delivers them.
func (t *turn) deliver() (more bool, err error) {
	feed, err := t.Store.Events(t.work, t.lease.MerchantID, t.lease.Acknowledged, turnEvents)
	if err != nil {
		return false, err
	}
	if newest := feed.Version.Event; t.lease.Acknowledged > newest {
		// Not reached while cursor and events are in one database; never skip ahead.
		p := t.lease.progress()
		p.Acknowledged = newest
		return false, t.save(p, nil)
	}
	for i, event := range feed.Events {
		if !t.lease.Types.Has(event.Type) {
			continue
		}
		last := i == len(feed.Events)-1 && event.Seq == feed.Version.Event
		ok, err := t.deliverEvent(feed.Events[:i], event, last)
		if err != nil || !ok {
			return false, err
		}
	}
	n := len(feed.Events)
	if n > 0 && feed.Events[n-1].Seq > t.lease.Acknowledged {
		p := t.lease.progress() // the last events are of types that it does not want
		p.Acknowledged = feed.Events[n-1].Seq
		err = t.save(p, nil)
	}
	return n > 0 && feed.Events[n-1].Seq < feed.Version.Event, err
}

// deliverEvent delivers an event. The events before it are acknowledged or skipped. It
// reports whether the next one may follow. last says that none follows.
func (t *turn) deliverEvent(before []order.EventRecord, event order.EventRecord, last bool) (bool, error) {
	if t.stop.Err() != nil {
		return false, nil
	}
	if t.until.Sub(t.Now()) < t.Lease-freshLease {
		p := t.lease.progress()
		if n := len(before); n > 0 {
			p.Acknowledged = before[n-1].Seq
		}
		if err := t.extend(p, nil); err != nil {
			return false, err
		}
	}
	m, err := newOutgoing(t.Encoder, t.lease.Key, event)
	if err != nil {
		return false, err
	}
	t.count(1)
	delivery, err := courier{t.Poster, t.Now, t.Attempt}.send(t.work, t.lease.Endpoint, m)
	t.count(-1)
	if err != nil || t.work.Err() != nil {
		return false, err // canceled at the end of Run: nothing is known, and nothing counts
	}
	t.record(t.lease.Key, delivery.Result)
	p := t.lease.after(event.Seq, delivery.Result, t.Now().UTC().Truncate(time.Second), t.Wait)
	if p.State == Failed {
		t.Log.Warn("webhook disabled", "merchant", t.lease.MerchantID, "webhook", t.lease.ID, "reason", p.Reason)
	}
	if delivery.Error != "" || last || t.stop.Err() != nil {
		err := t.save(p, &delivery)
		if err == nil && p.State == Failed {
			t.Changed(t.lease.MerchantID) // its other endpoints get the event of the failure
		}
		return false, err
	}
	return true, t.extend(p, &delivery)
}

// save saves progress and ends the lease.
func (t *turn) save(p Progress, delivery *Delivery) error {
	// Also after the end of Run: what was delivered is not to be delivered again.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.work), saveTimeout)
	defer cancel()
	err := t.Store.SaveProgress(ctx, t.lease, p, delivery)
	if err == nil {
		t.lease.Endpoint = t.lease.apply(p)
		t.released = p.LeaseUntil.IsZero()
	}
	return err
}

// extend saves progress and extends the lease.
func (t *turn) extend(p Progress, delivery *Delivery) error {
	until := t.Now().Add(t.Lease)
	p.LeaseUntil = until
	err := t.save(p, delivery)
	if err == nil {
		t.until = until
	}
	return err
}

func (t *turn) count(change int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.inFlight += change
}
