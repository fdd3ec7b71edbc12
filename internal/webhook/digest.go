package webhook

import (
	"context"
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
)

// The results of an e-mail in the metrics, beside ErrorRefused.
const (
	mailSent   = "sent"
	mailFailed = "failed"
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
	m.ID, m.At = mailID(r.lease.Endpoint, end), now
	result, err := r.sendMail(m)
	if err != nil {
		return err
	}
	p = r.lease.after(end.cursor, result, now, r.Wait)
	if result.Error == "" {
		p.SentAt, p.NextAttempt = now, r.lease.nextLook(now, now.Add(r.lease.Every))
	} else {
		r.Log.Warn("e-mail not sent", "merchant", r.lease.MerchantID, "address", r.lease.ID, "error", result.Error)
	}
	return r.save(p, nil)
}

// nextLook returns when to read the events again if a digest may be sent at a time.
func (e Endpoint) nextLook(now, digestAt time.Time) time.Time {
	if look := now.Add(warnInterval); e.Types.Has(order.DeadlineNear) && look.Before(digestAt) {
		return look
	}
	return digestAt
}

// sendMail sends an e-mail. It returns an error if the end of Run prevents or cancels it:
// then nothing is known, and nothing counts.
func (r *round) sendMail(m Mail) (Result, error) {
	if err := r.stop.Err(); err != nil {
		return Result{}, err
	}
	if err := r.refresh(); err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithTimeout(r.work, r.Attempt)
	defer cancel()
	result := r.Mailer.Send(ctx, m)
	if err := r.work.Err(); err != nil {
		return Result{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch result.Error {
	case "":
		r.sent[mailSent]++
	case ErrorRefused:
		r.sent[ErrorRefused]++
	default:
		r.sent[mailFailed]++
	}
	return result, nil
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

// readDigest reads the events after the cursor of an address, and the orders of those that
// it wants which are unanswered now.
func readDigest(ctx context.Context, store Store, e Endpoint) (d Digest, end digestEnd, err error) {
	var wanted []order.EventRecord
	end.cursor = e.Acknowledged
	for n, more := 0, true; more && n < maxDigestEvents; n += digestPage {
		page, err := readPage(ctx, store, e, digestPage)
		if err != nil {
			return d, end, err
		}
		for _, event := range page.events {
			if end.nonce = event.Nonce; e.Types.Has(event.Type) {
				wanted = append(wanted, event)
			}
		}
		more, end.cursor, e.Acknowledged = page.more, page.end, page.end
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
