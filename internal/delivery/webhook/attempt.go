package webhook

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
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

// outgoing is a message and what the delivery log says of it.
type outgoing struct {
	delivery.Attempt
	body []byte
}

// outgoing returns the message of an event, which may have the order as it is now.
func (s *Service) outgoing(ctx context.Context, e Endpoint, event order.EventRecord) (outgoing, error) {
	events := []order.EventRecord{event}
	if e.Orders {
		if err := order.AddOrders(ctx, s.Store, events); err != nil {
			return outgoing{}, err
		}
	}
	m := outgoing{Attempt: delivery.Attempt{MessageID: messageID(e.Key, event), Event: event.Seq, Type: event.Type.String()}}
	encode := s.Encoder.Event
	if e.MerchantID == delivery.Marketplace {
		m.EventMerchant, encode = event.MerchantID, s.Encoder.MarketEvent
	}
	var err error
	m.body, err = encode(events[0], e.Orders)
	return m, err
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
	return delivery.Limits{Slots: s.Slots[0], Slow: s.Slots[1], Events: pageEvents}
}

// Send implements delivery.Sender: it posts the first event of a batch.
func (s *Service) Send(ctx context.Context, r *delivery.Round, batch delivery.Batch) (delivery.Sent, error) {
	if len(batch.Events) == 0 {
		return delivery.Sent{}, nil
	}
	e := r.Lease.To.(Endpoint)
	m, err := s.outgoing(ctx, e, batch.Events[0])
	if err == nil {
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
	return delivery.Sent{Events: 1, Result: &attempt.Result, Attempt: &attempt}, nil
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
