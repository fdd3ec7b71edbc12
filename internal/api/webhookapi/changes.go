package webhookapi

import (
	"net/http"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// add serves POST /webhooks.
func (a API) add(r *web.Request) (web.Response, error) {
	body := web.ReadObject(r, "url", "description", "types", "include", "batch", "headers", "username", "password", startName(r))
	change := a.parseChange(body, true)
	var after *order.MarketCursor
	if name := startName(r); body.Has(name) {
		after = new(parseStart(body, name))
	}
	if err := body.Err(); err != nil {
		return web.Response{}, err
	}
	e, err := a.Webhooks.Add(r.Context(), r.Caller, merchantOf(r), change, after, web.Options(r, repeated(http.StatusCreated)))
	return respondSecret(http.StatusCreated, e), err
}

// respondSecret returns a response that shows the secret of an endpoint.
func respondSecret(status int, e webhook.Endpoint) web.Response {
	return web.Response{Status: status, Body: secretView{Secret: new(string(e.Secret)), Webhook: newWebhookView(e)}}
}

// repeated returns the response to a repetition of a request whose response has shown the secret.
func repeated(status int) func(webhook.Endpoint) web.Response {
	return func(e webhook.Endpoint) web.Response {
		return web.Response{Status: status, Body: secretView{Webhook: newWebhookView(e)}}
	}
}

// respondEndpoint returns the response that shows an endpoint.
func respondEndpoint(e webhook.Endpoint) web.Response {
	return web.Response{Status: http.StatusOK, Body: newWebhookView(e)}
}

// change serves PATCH /webhooks/{webhookId}.
func (a API) change(r *web.Request) (web.Response, error) {
	body := web.ReadObject(r, "url", "description", "types", "include", "batch", "headers", "username", "password", "enabled")
	change := a.parseChange(body, false)
	if err := body.Err(); err != nil {
		return web.Response{}, err
	}
	e, err := a.Webhooks.Change(r.Context(), r.Caller, keyOf(r), change, web.Options(r, respondEndpoint))
	return respondEndpoint(e), err
}

// remove serves DELETE /webhooks/{webhookId}. It ignores the body.
func (a API) remove(r *web.Request) (web.Response, error) {
	e, err := a.Webhooks.Remove(r.Context(), r.Caller, keyOf(r), web.Options(r, respondRemoved))
	return respondRemoved(e), err
}

func respondRemoved(webhook.Endpoint) web.Response {
	return web.Response{Status: http.StatusOK, Body: successView{Success: true}}
}

// rotateSecret serves POST /webhooks/{webhookId}/secret. The body may be empty.
func (a API) rotateSecret(r *web.Request) (web.Response, error) {
	body := web.ReadOptionalObject(r, "overlap")
	overlap := parseOverlap(body)
	if err := body.Err(); err != nil {
		return web.Response{}, err
	}
	e, err := a.Webhooks.RotateSecret(r.Context(), r.Caller, keyOf(r), overlap, web.Options(r, repeated(http.StatusOK)))
	return respondSecret(http.StatusOK, e), err
}

// replay serves POST /webhooks/{webhookId}/replay.
func (a API) replay(r *web.Request) (web.Response, error) {
	body := web.ReadObject(r, startName(r))
	after := parseStart(body, startName(r))
	if err := body.Err(); err != nil {
		return web.Response{}, err
	}
	e, err := a.Webhooks.Replay(r.Context(), r.Caller, keyOf(r), after, web.Options(r, respondEndpoint))
	return respondEndpoint(e), err
}

// test serves POST /webhooks/{webhookId}/test. It ignores the body.
func (a API) test(r *web.Request) (web.Response, error) {
	sent, err := a.Webhooks.Test(r.Context(), r.Caller, keyOf(r), web.Options(r, respondSent))
	return respondSent(sent), err
}

// redeliver serves POST /webhooks/{webhookId}/redeliver.
func (a API) redeliver(r *web.Request) (web.Response, error) {
	merchantID, names := merchantOf(r), []string{"event"}
	if merchantID == delivery.Marketplace {
		names = append(names, "merchantId")
	}
	body := web.ReadObject(r, names...)
	event := body.Int("event", 1, strict.MaxInt)
	if merchantID == delivery.Marketplace {
		merchantID = body.Int("merchantId", 1, strict.MaxInt)
	}
	if err := body.Err(); err != nil {
		return web.Response{}, err
	}
	sent, err := a.Webhooks.Redeliver(r.Context(), r.Caller, keyOf(r), merchantID, event, web.Options(r, respondSent))
	return respondSent(sent), err
}

// respondSent returns the response to a message that was sent, whatever came of it.
func respondSent(d delivery.Attempt) web.Response {
	return web.Response{Status: http.StatusOK, Body: sentView{Acknowledged: d.Error == "", Delivery: newDeliveryView(d)}}
}
