package webhookapi

import (
	"context"
	"net/http"

	"merchantorders/internal/web"
	"merchantorders/internal/webhook"
)

// add serves POST /webhooks.
func (a API) add(r *web.Request, c client) (web.Change, error) {
	body := web.ReadObject(r.Request, "url", "description", "types", "after")
	addition := webhook.Addition{MerchantID: c.merchantID, URL: body.Text("url", a.Webhooks.URLProblem)}
	if body.Has("description") {
		addition.Description = body.Text("description", webhook.DescriptionProblem)
	}
	if body.Has("types") {
		addition.Types = parseTypes(body)
	}
	if body.Has("after") {
		after := body.Int("after", 0, web.MaxInt)
		addition.After = &after
	}
	return withSecret(http.StatusCreated, func(ctx context.Context, options webhook.ChangeOptions) (webhook.Endpoint, error) {
		return a.Webhooks.Add(ctx, c.actor, addition, options)
	}), body.Err()
}

// withSecret returns a change whose response shows the secret of the endpoint, but not
// to a repetition of the request.
func withSecret(status int, apply func(context.Context, webhook.ChangeOptions) (webhook.Endpoint, error)) web.Change {
	respond := func(secret *string, e webhook.Endpoint) web.Response {
		return web.Response{Status: status, Body: secretView{Secret: secret, Webhook: newWebhookView(e)}}
	}
	return web.NewSecretChange(apply, func(e webhook.Endpoint) web.Response {
		secret := string(e.Secret)
		return respond(&secret, e)
	}, func(e webhook.Endpoint) web.Response { return respond(nil, e) })
}

// showing returns a change whose response is the endpoint.
func showing(apply func(context.Context, webhook.ChangeOptions) (webhook.Endpoint, error)) web.Change {
	return web.NewChange(apply, func(e webhook.Endpoint) web.Response {
		return web.Response{Status: http.StatusOK, Body: newWebhookView(e)}
	})
}

// change serves PATCH /webhooks/{webhookId}.
func (a API) change(r *web.Request, c client) (web.Change, error) {
	body := web.ReadObject(r.Request, "url", "description", "types", "enabled")
	change := a.parseChange(body)
	return showing(func(ctx context.Context, options webhook.ChangeOptions) (webhook.Endpoint, error) {
		return a.Webhooks.Change(ctx, c.actor, c.key(r.Request), change, options)
	}), body.Err()
}

// remove serves DELETE /webhooks/{webhookId}. It ignores the body.
func (a API) remove(r *web.Request, c client) (web.Change, error) {
	return web.NewChange(func(ctx context.Context, options webhook.ChangeOptions) (webhook.Endpoint, error) {
		return a.Webhooks.Remove(ctx, c.actor, c.key(r.Request), options)
	}, func(webhook.Endpoint) web.Response {
		return web.Response{Status: http.StatusOK, Body: successView{Success: true}}
	}), nil
}

// rotateSecret serves POST /webhooks/{webhookId}/secret. The body may be empty.
func (a API) rotateSecret(r *web.Request, c client) (web.Change, error) {
	body := web.ReadOptionalObject(r.Request, "overlap")
	overlap := parseOverlap(body)
	return withSecret(http.StatusOK, func(ctx context.Context, options webhook.ChangeOptions) (webhook.Endpoint, error) {
		return a.Webhooks.RotateSecret(ctx, c.actor, c.key(r.Request), overlap, options)
	}), body.Err()
}

// replay serves POST /webhooks/{webhookId}/replay.
func (a API) replay(r *web.Request, c client) (web.Change, error) {
	body := web.ReadObject(r.Request, "after")
	after := body.Int("after", 0, web.MaxInt)
	return showing(func(ctx context.Context, options webhook.ChangeOptions) (webhook.Endpoint, error) {
		return a.Webhooks.Replay(ctx, c.actor, c.key(r.Request), after, options)
	}), body.Err()
}

// test serves POST /webhooks/{webhookId}/test. It ignores the body.
func (a API) test(r *web.Request, c client) (web.Change, error) {
	return web.NewChange(func(ctx context.Context, options webhook.SendOptions) (webhook.Delivery, error) {
		return a.Webhooks.Test(ctx, c.key(r.Request), options)
	}, respondSent), nil
}

// redeliver serves POST /webhooks/{webhookId}/redeliver.
func (a API) redeliver(r *web.Request, c client) (web.Change, error) {
	body := web.ReadObject(r.Request, "event")
	event := body.Int("event", 1, web.MaxInt)
	return web.NewChange(func(ctx context.Context, options webhook.SendOptions) (webhook.Delivery, error) {
		return a.Webhooks.Redeliver(ctx, c.key(r.Request), event, options)
	}, respondSent), body.Err()
}

// respondSent returns the response to a message that was sent, whatever came of it.
func respondSent(d webhook.Delivery) web.Response {
	return web.Response{Status: http.StatusOK, Body: sentView{Acknowledged: d.Error == "", Delivery: newDeliveryView(d)}}
}
