package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// ErrWebhookNotFound means that the merchant has no such webhook, or no such event.
var ErrWebhookNotFound = errors.New("the webhook or the event does not exist")

// NewWebhook describes a webhook to be added.
type NewWebhook struct {
	URL         string            `json:"url"`
	Description string            `json:"description,omitempty"`
	Types       []EventType       `json:"types,omitempty"` // none: all
	Include     Include           `json:"include,omitempty"`
	Batch       int               `json:"batch,omitempty"`    // most events of a delivery, up to 100, for WebhookEvents; 0: each is delivered alone
	Headers     map[string]string `json:"headers,omitempty"`  // further headers of deliveries
	Username    string            `json:"username,omitempty"` // of Basic authentication, with Password
	Password    string            `json:"password,omitempty"`
	After       *int64            `json:"after,omitempty"` // number of the event after which deliveries begin; nil: the newest
}

// WebhookChange says what to change of a webhook; nil: nothing.
type WebhookChange struct {
	URL         *string      `json:"url,omitempty"`
	Description *string      `json:"description,omitempty"`
	Types       *[]EventType `json:"types,omitempty"`
	Include     *Include     `json:"include,omitempty"` // a pointer to an empty one: without orders
	Batch       *int         `json:"batch,omitempty"`
	// Headers replaces all further headers. Username and Password are changed together; two
	// empty texts remove them. A URL of another host removes all of them.
	Headers  *map[string]string `json:"headers,omitempty"`
	Username *string            `json:"username,omitempty"`
	Password *string            `json:"password,omitempty"`
	Enabled  *bool              `json:"enabled,omitempty"`
}

// Include says what the events of a webhook have beside their own fields; empty: nothing.
type Include string

// IncludeOrder includes the Order as it is when the event is sent. The token needs the
// scope orders:read too.
const IncludeOrder Include = "order"

// MarshalJSON implements json.Marshaler.
func (i Include) MarshalJSON() ([]byte, error) {
	if i == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(i))
}

// webhookCall returns a call below /webhooks.
func (c *Client) webhookCall(method, op string, below ...string) *call {
	return &call{op: op, method: method, url: c.address(nil, append([]string{"webhooks"}, below...)...), notFound: ErrWebhookNotFound}
}

// Webhooks returns the merchant's webhooks, by id. The token needs the scope webhooks,
// as for all calls about webhooks.
func (c *Client) Webhooks(ctx context.Context) ([]Webhook, error) {
	return fetch(ctx, c, c.webhookCall(http.MethodGet, "list webhooks"), func(r response) ([]Webhook, error) {
		wire, err := decode(r, func(w struct{ Webhooks []Webhook }) bool {
			return w.Webhooks != nil && !slices.ContainsFunc(w.Webhooks, func(w Webhook) bool { return !w.complete() })
		})
		return wire.Webhooks, err
	})
}

// Webhook returns a webhook, or ErrWebhookNotFound.
func (c *Client) Webhook(ctx context.Context, id int64) (Webhook, error) {
	return fetch(ctx, c, c.webhookCall(http.MethodGet, "read webhook "+text(id), text(id)), decodeWebhook)
}

// AddWebhook adds a webhook and returns it with its secret, for VerifyWebhook. The
// secret cannot be read again. It is empty if the response to an earlier attempt was
// lost: then RotateWebhookSecret makes another one.
func (c *Client) AddWebhook(ctx context.Context, webhook NewWebhook, options ...WriteOption) (Webhook, string, error) {
	call := c.webhookCall(http.MethodPost, "add a webhook")
	call.creates = true
	added, err := send(ctx, c, call, webhook, options, decodeSecret)
	return added.Webhook, added.Secret, err
}

// ChangeWebhook changes a webhook, or returns ErrWebhookNotFound.
func (c *Client) ChangeWebhook(ctx context.Context, id int64, change WebhookChange, options ...WriteOption) (Webhook, error) {
	return send(ctx, c, c.webhookCall(http.MethodPatch, "change webhook "+text(id), text(id)), change, options, decodeWebhook)
}

// RemoveWebhook removes a webhook, or returns ErrWebhookNotFound.
func (c *Client) RemoveWebhook(ctx context.Context, id int64, options ...WriteOption) error {
	_, err := send(ctx, c, c.webhookCall(http.MethodDelete, "remove webhook "+text(id), text(id)), nil, options, decodeSuccess)
	return err
}

// RotateWebhookSecret replaces the secret of a webhook and returns the new one, as
// AddWebhook does. The old one signs too for the time of overlap, at most a week.
func (c *Client) RotateWebhookSecret(ctx context.Context, id int64, overlap time.Duration, options ...WriteOption) (Webhook, string, error) {
	body := map[string]string{"overlap": overlap.String()}
	rotated, err := send(ctx, c, c.webhookCall(http.MethodPost, "rotate the secret of webhook "+text(id), text(id), "secret"), body, options, decodeSecret)
	return rotated.Webhook, rotated.Secret, err
}

// SendTestEvent sends a test event to a webhook and returns what came of it.
func (c *Client) SendTestEvent(ctx context.Context, id int64, options ...WriteOption) (Delivery, error) {
	return send(ctx, c, c.webhookCall(http.MethodPost, "test webhook "+text(id), text(id), "test"), nil, options, decodeSent)
}

// RedeliverEvent sends an event to a webhook again and returns what came of it.
func (c *Client) RedeliverEvent(ctx context.Context, id, event int64, options ...WriteOption) (Delivery, error) {
	body := map[string]int64{"event": event}
	return send(ctx, c, c.webhookCall(http.MethodPost, "send an event to webhook "+text(id), text(id), "redeliver"), body, options, decodeSent)
}

// ReplayEvents delivers the events after a number to a webhook again, in order.
func (c *Client) ReplayEvents(ctx context.Context, id, after int64, options ...WriteOption) (Webhook, error) {
	body := map[string]int64{"after": after}
	return send(ctx, c, c.webhookCall(http.MethodPost, "replay events to webhook "+text(id), text(id), "replay"), body, options, decodeWebhook)
}

// Deliveries returns up to limit deliveries to a webhook, the newest first; those with
// ids below before, unless that is 0. limit is 1 to 200; 0 means the default of the
// service.
func (c *Client) Deliveries(ctx context.Context, id, before int64, limit int) ([]Delivery, error) {
	query := make(url.Values)
	if before != 0 {
		query.Set("before", text(before))
	}
	if limit != 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	call := c.webhookCall(http.MethodGet, "list deliveries to webhook "+text(id))
	call.url = c.address(query, "webhooks", text(id), "deliveries")
	return fetch(ctx, c, call, func(r response) ([]Delivery, error) {
		wire, err := decode(r, func(w struct{ Deliveries []Delivery }) bool { return w.Deliveries != nil })
		return wire.Deliveries, err
	})
}

func decodeSent(r response) (Delivery, error) {
	wire, err := decode(r, func(w struct{ Delivery Delivery }) bool { return w.Delivery.MessageID != "" })
	return wire.Delivery, err
}
