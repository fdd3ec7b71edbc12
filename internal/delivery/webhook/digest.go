package webhook

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"merchantorders/internal/order"
)

const (
	// lookInterval is the time between two looks for new orders, and warnInterval that
	// for warnings while new orders wait for the next digest.
	lookInterval = time.Minute
	warnInterval = 5 * time.Minute
	// digestPage is how many events are read at once, and maxDigestEvents how many an
	// e-mail covers; the others are for the next one.
	digestPage      = 500
	maxDigestEvents = 5000
	// mailsWork is how long after a digest to any address e-mails are known to arrive.
	mailsWork = 24 * time.Hour
)

// mail sends one e-mail about the events after the cursor, unless there is nothing to tell
// or it is too soon for a digest. Warnings do not wait.
func (r *round) mail() error {
	d, end, err := readDigest(r.work, r.Store, r.lease.Endpoint)
	if err != nil {
		return err
	}
	now := r.Now().UTC().Truncate(time.Second)
	digestAt := r.lease.SentAt.Add(r.lease.Every)
	p := r.lease.progress()
	switch {
	case len(d.New)+len(d.Near) == 0:
		p.Acknowledged, p.NextAttempt = end.cursor, now.Add(lookInterval)
		return r.save(p, nil)
	case len(d.Near) == 0 && now.Before(digestAt):
		p.NextAttempt = r.lease.nextLook(now, digestAt)
		return r.save(p, nil)
	}
	merchants, err := r.Store.Merchants(r.work, order.MerchantFilter{IDs: []int64{r.lease.MerchantID}})
	if err != nil {
		return err
	}
	for _, merchant := range merchants {
		d.Merchant = merchant
	}
	m := r.Texts.Digest(r.lease.Endpoint, d)
	m.Key, m.ID, m.At = r.lease.Key, mailID(r.lease.Endpoint, end), now
	p.DigestEnd = end.cursor.Seq
	result, err := r.sendMail(m, p)
	if err == nil && result.Error == ErrorRefused {
		err = r.blame(&result, now)
	}
	if err != nil {
		return err
	}
	p = r.lease.after(end.cursor, result, now, r.Wait)
	if result.Error == "" {
		p.SentAt, p.NextAttempt = now, r.lease.nextLook(now, now.Add(r.lease.Every))
	}
	return r.save(p, nil)
}

// blame decides about a refusal of the address: while no address gets e-mails, it says nothing
// of this one, and the time after which it is given up begins again.
func (r *round) blame(refusal *Result, now time.Time) error {
	last, err := r.Store.LastMail(r.work)
	if err == nil && now.Sub(last) >= mailsWork {
		refusal.Error, r.lease.FailingSince = ErrorServer, time.Time{}
	}
	return err
}

// nextLook returns when to read the events again if a digest may be sent at a time.
func (e Endpoint) nextLook(now, digestAt time.Time) time.Time {
	if look := now.Add(warnInterval); e.Types.Has(order.DeadlineNear) && look.Before(digestAt) {
		return look
	}
	return digestAt
}

// sendMail saves progress and sends an e-mail. It keeps the lease for as long as the mail
// server takes. It returns an error if the end of Run prevents or cancels it, or if it loses
// the lease: then nothing is known, and nothing counts.
func (r *round) sendMail(m Mail, p Progress) (Result, error) {
	if err := r.stop.Err(); err != nil {
		return Result{}, err
	}
	if err := r.extend(p, nil); err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithCancel(r.work)
	defer cancel()
	results := make(chan Result, 1)
	go func() { results <- r.Mailer.Send(ctx, m) }()
	ticker := time.NewTicker(r.Lease / 2)
	defer ticker.Stop()
	for {
		select {
		case result := <-results:
			return result, r.work.Err()
		case <-ticker.C:
			if err := r.extend(r.lease.progress(), nil); errors.Is(err, ErrLeaseLost) {
				cancel()
				<-results
				return Result{}, err
			}
		}
	}
}

// digestEnd is the last event that a digest covers.
type digestEnd struct {
	cursor order.MarketCursor
	nonce  int64
}

// mailID returns the id of the e-mail to an address about the events after its cursor; see
// messageID.
func mailID(e Endpoint, end digestEnd) string {
	return fmt.Sprintf("mail_%d_%d_%d_%s", e.ID, e.Acknowledged.Seq, end.cursor.Seq, strconv.FormatUint(uint64(end.nonce), 36))
}

// readDigest reads the events after the cursor of an address, up to the end of a digest that
// is to be sent again, and the orders of those that it wants which are unanswered now.
func readDigest(ctx context.Context, store Store, e Endpoint) (d Digest, end digestEnd, err error) {
	var wanted []order.EventRecord
	end.cursor = e.Acknowledged
	again := e.DigestEnd > e.Acknowledged.Seq
	for n, more := 0, true; more && n < maxDigestEvents; n += digestPage {
		page, err := readPage(ctx, store, e, digestPage)
		if err != nil {
			return d, end, err
		}
		more, end.cursor = page.more, page.end
		for _, event := range page.events {
			if again && event.Seq > e.DigestEnd {
				more = false
				break
			}
			end.cursor, end.nonce = page.at(event), event.Nonce
			if e.Types.Has(event.Type) {
				wanted = append(wanted, event)
			}
		}
		e.Acknowledged = end.cursor
	}
	if err := order.AddOrders(ctx, store, wanted); err != nil {
		return d, end, err
	}
	near := make(map[int64]bool)
	for _, event := range wanted {
		if event.Type == order.DeadlineNear && event.Order != nil && event.Order.State == order.Registered && !near[event.LegacyID] {
			near[event.LegacyID] = true
			d.Near = append(d.Near, *event.Order)
		}
	}
	for _, event := range wanted {
		if event.Type == order.OrderCreated && event.Order != nil && event.Order.State == order.Registered && !near[event.LegacyID] {
			d.New = append(d.New, *event.Order)
		}
	}
	return d, end, nil
}
