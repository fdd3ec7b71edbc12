package webhook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/order"
)

// Poster sends messages to endpoints. Client implements it.
type Poster interface {
	Post(ctx context.Context, m Message) delivery.Result
}

// Encoder returns the bodies of messages.
type Encoder interface {
	// Event returns the body of an event: the same JSON as in the change feed, with or
	// without orders. MarketEvent is Event for the feed of all merchants.
	Event(event order.EventRecord, orders bool) ([]byte, error)
	MarketEvent(event order.EventRecord, orders bool) ([]byte, error)
	// Test returns the body of a test event, and the name of its type.
	Test(at time.Time) (body []byte, name string, err error)
}

// messageID returns the id of an event's message to an endpoint. It is the same at
// each attempt. The nonce makes it another one if the number of the event is given out
// again, after a restore or a failover that lost commits.
func messageID(key delivery.Key, event order.EventRecord) string {
	if key.MerchantID == delivery.Marketplace {
		return "msg_" + number(key.ID) + strings.TrimPrefix(event.ID(), "evt")
	}
	return fmt.Sprintf("msg_%d_%d_%s", key.ID, event.Seq, strconv.FormatUint(uint64(event.Nonce), 36))
}

// batchID returns the id of the message of several events to an endpoint. Other events have
// another one.
func batchID(key delivery.Key, events []order.EventRecord) string {
	if len(events) == 1 {
		return messageID(key, events[0])
	}
	hash := sha256.New()
	for _, event := range events {
		_, _ = hash.Write([]byte(messageID(key, event) + "\n")) // never fails
	}
	return fmt.Sprintf("msg_%d_batch_%x", key.ID, hash.Sum(nil)[:16])
}

// outgoing is a message and what the delivery log says of it.
type outgoing struct {
	delivery.Attempt
	body []byte
}

// outgoing returns the message of the first of some events, as many as fit, which may have the
// orders as they are now.
func (s *Service) outgoing(ctx context.Context, e Endpoint, events []order.EventRecord) (outgoing, error) {
	if e.Orders {
		events = slices.Clone(order.FittingOrders(events, maxBatchBytes))
		if err := order.AddOrders(ctx, s.Store, events); err != nil {
			return outgoing{}, err
		}
	}
	encode := s.Encoder.Event
	if e.MerchantID == delivery.Marketplace {
		encode = s.Encoder.MarketEvent
	}
	var bodies [][]byte
	for _, event := range events {
		body, err := encode(event, e.Orders)
		if err != nil {
			return outgoing{}, err
		}
		bodies = append(bodies, body)
	}
	body, n := e.join(bodies)
	first, last := events[0], events[n-1]
	m := outgoing{delivery.Attempt{MessageID: batchID(e.Key, events[:n]), Event: first.Seq, Type: first.Type.String(), Events: n, LastEvent: last.Seq}, body}
	if e.MerchantID == delivery.Marketplace {
		m.EventMerchant = first.MerchantID
	}
	return m, nil
}

// The body of a delivery that may have several events is a list of them.
const batchStart, batchEnd = `{"events":[`, `]}`

// join returns the body that has the first of some events, and how many: those that fit, one at
// least.
func (e Endpoint) join(events [][]byte) (body []byte, n int) {
	if e.MaxEvents <= 1 {
		return events[0], 1
	}
	size := len(batchStart) + len(events[0]) + len(batchEnd)
	for n = 1; n < len(events) && size+1+len(events[n]) <= maxBatchBytes; n++ {
		size += 1 + len(events[n])
	}
	return slices.Concat([]byte(batchStart), bytes.Join(events[:n], []byte(",")), []byte(batchEnd)), n
}

// post posts a message to an endpoint.
func (s *Service) post(ctx context.Context, e Endpoint, m outgoing) (delivery.Attempt, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Attempt)
	defer cancel()
	at := s.Now().UTC()
	signature, err := Sign(m.MessageID, at, m.body, e.secrets(at)...)
	if err != nil {
		return delivery.Attempt{}, err
	}
	m.Result = s.Poster.Post(ctx, Message{ID: m.MessageID, URL: e.URL, At: at, Signature: signature, Body: m.body, Header: e.header()})
	m.At, m.Took, m.Response = at.Truncate(time.Second), s.Now().Sub(at), e.hide(m.Response)
	if m.Status == http.StatusGone {
		m.Gone = "410 Gone"
	}
	return m.Attempt, nil
}

// Limits implements delivery.Sender.
func (s *Service) Limits() delivery.Limits {
	return delivery.Limits{Slots: s.Slots[0], Slow: s.Slots[1], Events: PageEvents}
}

// Send implements delivery.Sender: it posts as many of the first events as the endpoint takes at
// once.
func (s *Service) Send(ctx context.Context, r *delivery.Round, events []order.EventRecord) (delivery.Sent, error) {
	if len(events) == 0 {
		return delivery.Sent{}, nil
	}
	e := r.Lease.To.(Endpoint)
	m, err := s.outgoing(ctx, e, r.Batch(events, max(e.MaxEvents, 1)))
	switch {
	case err != nil:
	case e.MaxEvents > 1:
		err = r.Begin(m.Events)
	default:
		err = r.Refresh()
	}
	if err != nil {
		return delivery.Sent{}, err
	}
	s.inFlight.Add(1)
	attempt, err := s.post(ctx, e, m)
	s.inFlight.Add(-1)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return delivery.Sent{}, err
	}
	s.results.Add(cmp.Or(attempt.Error, acknowledged))
	if attempt.Error != "" && r.Lease.Failures == 0 {
		// The response may have what nobody else may read; the log of deliveries keeps it.
		s.Log.Warn("delivery to a webhook failed; others that follow are not logged", "merchant", e.MerchantID, "webhook", e.ID,
			"message", m.MessageID, "error", attempt.Error, "status", attempt.Status)
	}
	sent := delivery.Sent{Events: m.Events, Result: &attempt.Result, Attempt: &attempt}
	if e.MaxEvents > 1 {
		sent.Batch = min(e.MaxEvents, len(events)-m.Events)
	}
	return sent, nil
}

// Stats returns the number of deliveries by result, and the requests in flight. Those that
// somebody requests do not count.
func (s *Service) Stats() (results map[string]uint64, inFlight int) {
	return s.results.All(), int(s.inFlight.Load())
}

// Failure implements delivery.Sender.
func (s *Service) Failure(c delivery.Cursor, word string) delivery.Failure {
	event, action := order.WebhookFailed, AuditFailed
	if c.State == delivery.Failing {
		event, action = order.WebhookFailing, AuditFailing
	}
	f := delivery.Failure{Word: word, Audit: c.Audit(action, c.StateSet, order.System(), order.AuditDetail("reason", word))}
	if c.MerchantID != delivery.Marketplace {
		f.Event = order.Event{Type: event, By: order.System(), At: c.StateSet, Reason: order.Reason(c.Reason), WebhookID: c.ID}
	}
	return f
}
