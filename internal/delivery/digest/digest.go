// Package digest sends e-mails about new orders and near deadlines to the addresses that a
// merchant's people have confirmed. An address gets the events since the last e-mail as one.
package digest

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/order"
)

// Kind is the kind of e-mail addresses.
const Kind delivery.Kind = 1

const (
	// lookInterval is the time between two looks for new orders, and warnInterval that
	// for warnings while new orders wait for the next digest.
	lookInterval = time.Minute
	warnInterval = 5 * time.Minute
	// maxEvents is how many events an e-mail covers; the others are for the next one.
	maxEvents = 5000
	// maxMails is how many e-mails the service sends at once. All go to one server.
	maxMails = 4
	// mailsWork is how long after a digest to any address e-mails are known to arrive.
	mailsWork = 24 * time.Hour
)

// Digest is what an e-mail is about. The orders are unanswered.
type Digest struct {
	Merchant order.Merchant
	New      []order.Order // new since the last e-mail
	Near     []order.Order // about to pass their deadline; not in New
}

// Limits implements delivery.Sender.
func (s *Service) Limits() delivery.Limits {
	return delivery.Limits{Slots: maxMails, Events: maxEvents}
}

// Send implements delivery.Sender: it sends one e-mail about the events, unless there is nothing
// to tell or it is too soon for a digest. Warnings do not wait.
func (s *Service) Send(ctx context.Context, r *delivery.Round, events []order.EventRecord) (delivery.Sent, error) {
	a, now := r.Lease.To.(Address), s.second()
	events = r.Batch(events, len(events))
	d, err := s.read(ctx, events)
	if err != nil {
		return delivery.Sent{}, err
	}
	done, digestAt := delivery.Sent{Events: len(events)}, a.SentAt.Add(a.Every)
	switch {
	case len(d.New)+len(d.Near) == 0:
		done.Next = now.Add(lookInterval)
		return done, nil
	case len(d.Near) == 0 && delivery.Waits(now, digestAt):
		return delivery.Sent{Next: a.nextLook(now, digestAt)}, nil
	}
	merchants, err := s.Store.Merchants(ctx, order.MerchantFilter{IDs: []int64{a.MerchantID}})
	if err != nil {
		return delivery.Sent{}, err
	}
	for _, merchant := range merchants {
		d.Merchant = merchant
	}
	m := s.Texts.Digest(a, d)
	// The id is the same at each attempt. The nonce makes it another one if the number of the
	// event is given out again, after a restore or a failover that lost commits.
	last := events[len(events)-1]
	m.ID = fmt.Sprintf("mail_%d_%d_%d_%s", a.ID, a.Acknowledged.Seq, last.Seq, strconv.FormatUint(uint64(last.Nonce), 36))
	m.Key, m.At = a.Key, now
	result, err := r.SendAsOne(len(events), func(ctx context.Context) delivery.Result { return s.send(ctx, m) })
	if err != nil {
		return delivery.Sent{}, err
	}
	done.Result = &result
	switch result.Error {
	case "":
		done.SentAt, done.Next = now, a.nextLook(now, now.Add(a.Every))
	case delivery.ErrorRefused:
		// While no address gets e-mails, a refusal says nothing of this one, and the time after
		// which it is given up begins again.
		last, err := s.Store.LastMail(ctx)
		if err != nil {
			return delivery.Sent{}, err
		}
		if now.Sub(last) >= mailsWork {
			result.Error, result.Blameless, r.Lease.FailingSince = delivery.ErrorServer, true, time.Time{}
		}
	default:
		result.Blameless = true
	}
	return done, nil
}

// nextLook returns when to read the events again if a digest may be sent at a time.
func (a Address) nextLook(now, digestAt time.Time) time.Time {
	if look := now.Add(warnInterval); a.Types.Has(order.DeadlineNear) && look.Before(digestAt) {
		return look
	}
	return digestAt
}

// read reads the orders of events that are unanswered now.
func (s *Service) read(ctx context.Context, events []order.EventRecord) (d Digest, err error) {
	if err := order.AddOrders(ctx, s.Store, events); err != nil {
		return d, err
	}
	near := make(map[int64]bool)
	add := func(to *[]order.Order, kind order.EventType) {
		for _, e := range events {
			if e.Type == kind && e.Order != nil && e.Order.State == order.Registered && !near[e.LegacyID] {
				near[e.LegacyID] = kind == order.DeadlineNear
				*to = append(*to, *e.Order)
			}
		}
	}
	add(&d.Near, order.DeadlineNear)
	add(&d.New, order.OrderCreated)
	return d, nil
}

// Failure implements delivery.Sender.
func (s *Service) Failure(c delivery.Cursor, word string) delivery.Failure {
	action := AuditFailed
	if c.State == delivery.Failing {
		action = AuditFailing
	}
	return delivery.Failure{Word: word, Audit: c.Audit(action, c.StateSet, order.System(), order.AuditDetail("reason", word))}
}
