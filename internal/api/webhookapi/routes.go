// Package webhookapi serves the endpoints of webhooks: those of one merchant for
// version 2 and for operators, and those of all merchants for operators.
//
// It translates between HTTP and webhook.Service and holds no business rule.
package webhookapi

import (
	"net/http"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
	"merchantorders/internal/webhook"
)

// API serves the requests for webhooks.
type API struct {
	Webhooks *webhook.Service
}

// client is on whose behalf a request is made.
type client struct {
	actor      order.Actor
	merchantID int64 // whose webhooks are meant; 0: of no merchant
}

// getHandler reads; changeHandler parses a change.
type (
	getHandler    func(http.ResponseWriter, *http.Request, client) error
	changeHandler func(*web.Request, client) (web.Change, error)
)

// MerchantRoutes returns the routes for merchants, below /webhooks.
func (a API) MerchantRoutes() []web.Route {
	by := func(r *web.Request) client { return client{order.ActorMerchant, r.MerchantID} }
	get := func(path string, handle getHandler) web.Route {
		return web.GetRoute("/webhooks"+path, order.ScopeWebhooks, func(w http.ResponseWriter, r *web.Request) error {
			return handle(w, r.Request, by(r))
		})
	}
	change := func(method, path string, handle changeHandler) web.Route {
		return web.ChangeRoute(method, "/webhooks"+path, order.ScopeWebhooks, func(r *web.Request) (web.Change, error) {
			return handle(r, by(r))
		})
	}
	return a.routes(get, change)
}

// OperatorRoutes returns the routes for operators: the same as those for merchants
// below /merchants/{merchantId}/webhooks, and a list of all webhooks.
func (a API) OperatorRoutes() []web.Route {
	const prefix = "/merchants/{merchantId}/webhooks"
	by := func(r *http.Request) client {
		id, _ := order.ParseID(r.PathValue("merchantId")) // an invalid id becomes 0, which no merchant has
		return client{order.ActorOperator, id}
	}
	get := func(path string, handle getHandler) web.Route {
		return web.OperatorRoute(http.MethodGet, prefix+path, order.ScopeWebhooks, func(w http.ResponseWriter, r *http.Request) error {
			return handle(w, r, by(r))
		})
	}
	change := func(method, path string, handle changeHandler) web.Route {
		return web.OperatorChangeRoute(method, prefix+path, order.ScopeWebhooks, func(r *web.Request) (web.Change, error) {
			return handle(r, by(r.Request))
		})
	}
	all := web.OperatorRoute(http.MethodGet, "/webhooks", order.ScopeWebhooks, a.listAll)
	return append(a.routes(get, change), all)
}

func (a API) routes(get func(string, getHandler) web.Route, change func(string, string, changeHandler) web.Route) []web.Route {
	const one = "/{webhookId}"
	return []web.Route{
		get("", a.list),
		change(http.MethodPost, "", a.add),
		get(one, a.get),
		change(http.MethodPatch, one, a.change),
		change(http.MethodDelete, one, a.remove),
		change(http.MethodPost, one+"/secret", a.rotateSecret),
		change(http.MethodPost, one+"/test", a.test),
		change(http.MethodPost, one+"/redeliver", a.redeliver),
		change(http.MethodPost, one+"/replay", a.replay),
		get(one+"/deliveries", a.listDeliveries),
	}
}

// key returns the endpoint that a request names. An invalid id becomes 0, which no
// endpoint has.
func (c client) key(r *http.Request) webhook.Key {
	id, _ := order.ParseID(r.PathValue("webhookId"))
	return webhook.Key{MerchantID: c.merchantID, ID: id}
}

// Refusals are the errors of these routes alone.
var Refusals = web.CodedRefusals{
	{Err: webhook.ErrNotFound, Status: http.StatusNotFound, Code: "not_found", Message: "The webhook was not found."},
	{Err: webhook.ErrNoMerchant, Status: http.StatusNotFound, Code: "not_found", Message: "The merchant was not found."},
	{Err: webhook.ErrNoEvent, Status: http.StatusNotFound, Code: "not_found", Message: "The merchant has no event with that number."},
	{Err: webhook.ErrTooMany, Status: http.StatusConflict, Code: "too_many_webhooks", Message: "The merchant has 20 webhooks, which is the maximum."},
	{Err: webhook.ErrBusy, Status: http.StatusConflict, Code: "webhook_busy", Message: "A delivery to the webhook is in progress; try again."},
}
