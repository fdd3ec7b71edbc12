// Package webhookapi serves the endpoints of webhooks: those of one merchant for
// version 2 and for operators, and for operators those of the marketplace, which is the
// merchant webhook.All in a path, and a list of all.
//
// It translates between HTTP and webhook.Service and holds no business rule.
package webhookapi

import (
	"net/http"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// API serves the requests for webhooks.
type API struct {
	Webhooks *webhook.Service
}

// Routes returns the routes of the webhooks of one merchant, below prefix/webhooks: the
// merchant of the caller, or of an operator's path.
func (a API) Routes(prefix string, access web.Access) []web.Route {
	all := prefix + "/webhooks"
	one := all + "/{webhookId}"
	return []web.Route{
		web.ValueRoute(all, access, a.list),
		web.WriteRoute(http.MethodPost, all, access, a.add),
		web.ValueRoute(one, access, a.get),
		web.WriteRoute(http.MethodPatch, one, access, a.change),
		web.WriteRoute(http.MethodDelete, one, access, a.remove),
		web.WriteRoute(http.MethodPost, one+"/secret", access, a.rotateSecret),
		web.WriteRoute(http.MethodPost, one+"/test", access, a.test).AsStream(),
		web.WriteRoute(http.MethodPost, one+"/redeliver", access, a.redeliver),
		web.WriteRoute(http.MethodPost, one+"/replay", access, a.replay),
		web.ValueRoute(one+"/deliveries", access, a.listDeliveries).Takes("before", "limit"),
	}
}

// OperatorRoutes returns the routes for operators: those of one merchant below
// /merchants/{merchantId}/webhooks, and a list of all webhooks.
func (a API) OperatorRoutes() []web.Route {
	access := web.Operators(order.ScopeWebhooks)
	return append(a.Routes("/merchants/{merchantId}", access), web.ValueRoute("/webhooks", access, a.listAll).Takes("state", "after", "limit"))
}

// merchantOf returns whose webhooks a request means.
func merchantOf(r *web.Request) int64 {
	if !r.Caller.Operator() {
		return r.Caller.MerchantID
	}
	return webhook.ParseMerchantID(r.PathValue("merchantId"))
}

// keyOf returns the endpoint that a request names. An invalid id becomes 0, which no
// endpoint has.
func keyOf(r *web.Request) delivery.Key {
	id, _ := order.ParseID(r.PathValue("webhookId"))
	return delivery.Key{MerchantID: merchantOf(r), ID: id}
}

// Refusals are the errors of these routes alone.
var Refusals = web.CodedRefusals{
	{Err: delivery.ErrNotFound, Status: http.StatusNotFound, Code: "not_found", Message: "The webhook was not found."},
	{Err: delivery.ErrNoMerchant, Status: http.StatusNotFound, Code: "not_found", Message: "The merchant was not found."},
	{Err: webhook.ErrNoEvent, Status: http.StatusNotFound, Code: "not_found", Message: "The merchant has no event with that number."},
	{Err: delivery.ErrOrders, Status: http.StatusForbidden, Code: "forbidden", Message: "A webhook needs the scope orders:read, because its receiver sees the events of orders."},
	{Err: delivery.ErrTooMany, Status: http.StatusConflict, Code: "too_many_webhooks", Message: "The merchant has 20 webhooks, which is the maximum."},
	{Err: webhook.ErrBusy, Status: http.StatusConflict, Code: "webhook_busy", Message: "A delivery to the webhook is in progress; try again."},
}
