package webhookapi

import (
	"maps"
	"slices"

	"merchantorders/internal/api/orderapi"
	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// webhookView is a webhook: everything but its secret.
type webhookView struct {
	ID             int64    `json:"id"`
	MerchantID     *int64   `json:"merchantId"` // nil: of the marketplace
	URL            string   `json:"url"`
	Description    string   `json:"description"`
	Types          []string `json:"types"`   // empty: all
	Include        *string  `json:"include"` // nil: nothing
	Batch          int      `json:"batch"`   // how many events a delivery may have
	HeaderNames    []string `json:"headerNames"`
	Username       *string  `json:"username"` // nil: no Basic authentication
	State          string   `json:"state"`
	Reason         *string  `json:"reason"` // why the service disabled it
	StateChangedAt *string  `json:"stateChangedAt"`
	CreatedAt      string   `json:"createdAt"`
	OldSecretUntil *string  `json:"oldSecretUntil"`   // until then the secret before the last one signs too
	Acknowledged   int64    `json:"acknowledged"`     // number of the last event delivered or skipped
	Cursor         *string  `json:"cursor,omitempty"` // of this event; nil: of a merchant
	Failures       int      `json:"failures"`         // since the last success
	FailingSince   *string  `json:"failingSince"`
	NextAttemptAt  *string  `json:"nextAttemptAt"`
	// Held are merchants whose events wait; nil: of a merchant.
	Held []heldView `json:"held,omitzero"`
}

// heldView is a merchant of whom a webhook of the marketplace has refused an event.
type heldView struct {
	MerchantID    int64   `json:"merchantId"`
	Event         int64   `json:"event"` // the first that waits
	Failures      int     `json:"failures"`
	FailingSince  *string `json:"failingSince"`
	NextAttemptAt string  `json:"nextAttemptAt"`
}

type webhooksView struct {
	Webhooks []webhookView `json:"webhooks"`
}

// pageView is a page of the webhooks of all merchants.
type pageView struct {
	webhooksView
	Next *int64 `json:"next"` // the value of after for the next page; nil: there is none
}

// secretView is the response to a request that made a secret. Only here it is shown,
// and only once: a repetition of the request gets null.
type secretView struct {
	Secret  *string     `json:"secret"`
	Webhook webhookView `json:"webhook"`
}

// deliveryView is a delivery in the log.
type deliveryView struct {
	ID            int64   `json:"id"`
	At            string  `json:"at"`
	MessageID     string  `json:"messageId"`
	Event         *int64  `json:"event"`               // nil: a test
	EventMerchant int64   `json:"merchantId,omitzero"` // of the event, for a webhook of the marketplace
	Events        int     `json:"events,omitzero"`     // how many, if Event is the first of several
	Type          string  `json:"type"`
	Status        *int    `json:"status"` // nil: no response
	Error         *string `json:"error"`  // nil: acknowledged
	TookMs        int64   `json:"tookMs"`
	Response      string  `json:"response"` // the first bytes of its body
}

// OrderDelivery is a delivery of an event of an order. It has no part of the response:
// that takes the scope of webhooks.
type OrderDelivery struct {
	WebhookID int64   `json:"webhookId"`
	ID        int64   `json:"id"`
	At        string  `json:"at"`
	Event     int64   `json:"event"`
	Events    int     `json:"events,omitzero"` // how many, if Event is the first of several
	Type      string  `json:"type"`
	Status    *int    `json:"status"` // nil: no response
	Error     *string `json:"error"`  // nil: acknowledged
	TookMs    int64   `json:"tookMs"`
}

type deliveriesView struct {
	Deliveries []deliveryView `json:"deliveries"`
	Next       *int64         `json:"next"` // the value of before for the next page; nil: there is none
}

// sentView is the response to a test or a redelivery.
type sentView struct {
	Acknowledged bool         `json:"acknowledged"`
	Delivery     deliveryView `json:"delivery"`
}

type successView struct {
	Success bool `json:"success"`
}

func newWebhookView(e webhook.Endpoint) webhookView {
	var include *string
	if e.Orders {
		include = &includeOrder
	}
	headers := slices.AppendSeq([]string{}, maps.Keys(e.Headers))
	slices.Sort(headers)
	var cursor *string
	var held []heldView
	if e.MerchantID == delivery.Marketplace {
		cursor = new(orderapi.MarketCursor(e.Acknowledged))
		held = web.Collect(e.Held, func(h delivery.Held) heldView {
			return heldView{h.MerchantID, h.Event, h.Failures, web.TimeOrNull(h.FailingSince), web.TimeText(h.NextAttempt)}
		})
	}
	return webhookView{
		ID: e.ID, MerchantID: web.NonZero(e.MerchantID), URL: e.URL, Description: e.Description, Types: web.Collect(e.Types.List(), order.EventType.String), Include: include, Batch: e.MaxEvents,
		HeaderNames: headers, Username: web.NonZero(e.Username),
		State: e.State.String(), Reason: web.NonZero(e.Reason), StateChangedAt: web.TimeOrNull(e.StateSet), CreatedAt: web.TimeText(e.CreatedAt),
		OldSecretUntil: web.TimeOrNull(e.OldSecretUntil), Acknowledged: e.Acknowledged.Seq, Cursor: cursor,
		Failures: e.Failures, FailingSince: web.TimeOrNull(e.FailingSince), NextAttemptAt: web.TimeOrNull(e.NextAttempt), Held: held,
	}
}

func newWebhooksView(endpoints []webhook.Endpoint) webhooksView {
	return webhooksView{web.Collect(endpoints, newWebhookView)}
}

func newDeliveryView(d delivery.Attempt) deliveryView {
	return deliveryView{
		ID: d.ID, At: web.TimeText(d.At), MessageID: d.MessageID, Event: web.NonZero(d.Event), EventMerchant: d.EventMerchant, Events: d.Several(), Type: d.Type,
		Status: web.NonZero(d.Status), Error: web.NonZero(d.Error), TookMs: d.Took.Milliseconds(), Response: d.Response,
	}
}

// NewOrderDeliveries returns deliveries as operators see them.
func NewOrderDeliveries(deliveries []delivery.Attempt) []OrderDelivery {
	return web.Collect(deliveries, func(d delivery.Attempt) OrderDelivery {
		return OrderDelivery{
			WebhookID: d.WebhookID, ID: d.ID, At: web.TimeText(d.At), Event: d.Event, Events: d.Several(), Type: d.Type,
			Status: web.NonZero(d.Status), Error: web.NonZero(d.Error), TookMs: d.Took.Milliseconds(),
		}
	})
}

// View returns what the interfaces show of an endpoint, for commands.
func View(e webhook.Endpoint) any { return newWebhookView(e) }

// SecretView returns the response to a request that made a secret, for commands.
func SecretView(e webhook.Endpoint) any { return respondSecret(0, e).Body }

// DeliveryView returns what the interfaces show of a delivery, for commands.
func DeliveryView(d delivery.Attempt) any { return newDeliveryView(d) }
