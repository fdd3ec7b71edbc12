package v2

import (
	"bytes"
	"encoding/json"
	"time"

	"merchantorders/internal/order"
)

// EventEncoder encodes the bodies of webhooks. It implements webhook.Encoder.
type EventEncoder struct {
	StorageURL string
}

// Event returns an event as in the change feed.
func (e *EventEncoder) Event(event order.EventRecord, orders bool) ([]byte, error) {
	view := newEventView(event)
	if orders {
		view.addOrder(event.Order, newMerchantOrderView, e.StorageURL)
	}
	return encodeView(view)
}

// MarketEvent returns an event as in the feed of all merchants.
func (e *EventEncoder) MarketEvent(event order.EventRecord, orders bool) ([]byte, error) {
	return encodeView(newMarketEventView(event, orders, e.StorageURL))
}

// testType is the type of a test event. It has the number 0 and no order.
const testType = "webhook.test"

// Test returns a test event, and the name of its type.
func (*EventEncoder) Test(at time.Time) (body []byte, name string, err error) {
	view := newEventView(order.EventRecord{Event: order.Event{By: order.Caller{Actor: order.ActorSystem}, At: at}})
	view.Type = testType
	body, err = encodeView(view)
	return body, testType, err
}

// encodeView encodes a view as the change feed does.
func encodeView(view any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(view)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
