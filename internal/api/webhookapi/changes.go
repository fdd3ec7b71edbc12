package webhookapi

import (
	"context"
	"net/http"

	"merchantorders/internal/web"
	"merchantorders/internal/webhook"
)

// add serves POST /webhooks.
func (a API) add(r *web.Request, c client) (web.Change, error) {
	body, err := web.ReadObject(r.Request, "url", "description", "types", "after")
	if err != nil {
		return web.Change{}, err
	}
	addition := webhook.Addition{MerchantID: c.merchantID}
	if addition.URL, err = a.parseURL(body); err != nil {
		return web.Change{}, err
	}
	if body.Has("description") {
		if addition.Description, err = parseDescription(body); err != nil {
			return web.Change{}, err
		}
	}
	if body.Has("types") {
		if addition.Types, err = parseTypes(body); err != nil {
			return web.Change{}, err
		}
	}
	if body.Has("after") {
		after, err := parseNumber(body, "after", 0)
		if err != nil {
			return web.Change{}, err
		}
		addition.After = &after
	}
	return withSecret(http.StatusCreated, func(ctx context.Context, options webhook.ChangeOptions) (webhook.Endpoint, error) {
		return a.Webhooks.Add(ctx, c.actor, addition, options)
	}), nil
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
	body, err := web.ReadObject(r.Request, "url", "description", "types", "enabled")
	if err != nil {
		return web.Change{}, err
	}
	change, err := a.parseChange(body)
	if err != nil {
		return web.Change{}, err
	}
	return showing(func(ctx context.Context, options webhook.ChangeOptions) (webhook.Endpoint, error) {
		return a.Webhooks.Change(ctx, c.actor, c.key(r.Request), change, options)
	}), nil
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
	body, err := web.ReadOptionalObject(r.Request, "overlap")
	if err != nil {
		return web.Change{}, err
	}
	overlap, err := parseOverlap(body)
	if err != nil {
		return web.Change{}, err
	}
	return withSecret(http.StatusOK, func(ctx context.Context, options webhook.ChangeOptions) (webhook.Endpoint, error) {
		return a.Webhooks.RotateSecret(ctx, c.actor, c.key(r.Request), overlap, options)
	}), nil
}

// replay serves POST /webhooks/{webhookId}/replay.
func (a API) replay(r *web.Request, c client) (web.Change, error) {
	body, err := web.ReadObject(r.Request, "after")
	if err != nil {
		return web.Change{}, err
	}
	after, err := parseNumber(body, "after", 0)
	if err != nil {
		return web.Change{}, err
	}
	return showing(func(ctx context.Context, options webhook.ChangeOptions) (webhook.Endpoint, error) {
		return a.Webhooks.Replay(ctx, c.actor, c.key(r.Request), after, options)
	}), nil
}

// test serves POST /webhooks/{webhookId}/test. It ignores the body.
func (a API) test(r *web.Request, c client) (web.Change, error) {
	return web.NewChange(func(ctx context.Context, options webhook.SendOptions) (webhook.Delivery, error) {
		return a.Webhooks.Test(ctx, c.key(r.Request), options)
	}, respondSent), nil
}

// redeliver serves POST /webhooks/{webhookId}/redeliver.
func (a API) redeliver(r *web.Request, c client) (web.Change, error) {
	body, err := web.ReadObject(r.Request, "event")
	if err != nil {
		return web.Change{}, err
	}
	event, err := parseNumber(body, "event", 1)
	if err != nil {
		return web.Change{}, err
	}
	return web.NewChange(func(ctx context.Context, options webhook.SendOptions) (webhook.Delivery, error) {
		return a.Webhooks.Redeliver(ctx, c.key(r.Request), event, options)
	}, respondSent), nil
}

// respondSent returns the response to a message that was sent, whatever came of it.
func respondSent(d webhook.Delivery) web.Response {
	return web.Response{Status: http.StatusOK, Body: sentView{Acknowledged: d.Error == "", Delivery: newDeliveryView(d)}}
}
