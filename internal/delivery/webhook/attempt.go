package webhook

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/order"
)

// Poster sends messages to endpoints. Client implements it.
type Poster interface {
	Post(ctx context.Context, m Message) Result
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
func messageID(key Key, event order.EventRecord) string {
	if key.MerchantID == Marketplace {
		return "msg_" + number(key.ID) + strings.TrimPrefix(event.ID(), "evt")
	}
	return fmt.Sprintf("msg_%d_%d_%s", key.ID, event.Seq, strconv.FormatUint(uint64(event.Nonce), 36))
}

// outgoing is a message and what the delivery log says of it.
type outgoing struct {
	id            string
	event         int64
	eventMerchant int64 // see Delivery
	typeName      string
	body          []byte
}

// newOutgoing returns the message of an event, which may have the order as it is now.
func newOutgoing(ctx context.Context, orders order.Reader, encoder Encoder, e Endpoint, event order.EventRecord) (outgoing, error) {
	events := []order.EventRecord{event}
	if e.Orders {
		if err := order.AddOrders(ctx, orders, events); err != nil {
			return outgoing{}, err
		}
	}
	m := outgoing{id: messageID(e.Key, event), event: event.Seq, typeName: event.Type.String()}
	var err error
	if e.MerchantID == Marketplace {
		m.eventMerchant = event.MerchantID
		m.body, err = encoder.MarketEvent(events[0], e.Orders)
	} else {
		m.body, err = encoder.Event(events[0], e.Orders)
	}
	return m, err
}

// attempter sends messages to endpoints.
type attempter struct {
	poster  Poster
	now     func() time.Time
	timeout time.Duration // of one request
}

// send sends a message to an endpoint.
func (a attempter) send(ctx context.Context, e Endpoint, m outgoing) (Delivery, error) {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	now := a.now
	at := now().UTC()
	signature, err := Sign(m.id, at, m.body, e.secrets(at)...)
	if err != nil {
		return Delivery{}, err
	}
	result := a.poster.Post(ctx, Message{ID: m.id, URL: e.URL, At: at, Signature: signature, Body: m.body, Header: e.header()})
	result.Took = now().Sub(at)
	result.Response = e.hide(result.Response)
	return Delivery{At: at.Truncate(time.Second), MessageID: m.id, Event: m.event, EventMerchant: m.eventMerchant, Type: m.typeName, Result: result}, nil
}
