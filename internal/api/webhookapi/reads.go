package webhookapi

import (
	"net/http"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// Limits of the lists.
const (
	defaultDeliveries = 50
	maxDeliveries     = 200
	defaultWebhooks   = 100
	maxWebhooks       = 500
)

// list serves GET /webhooks of a merchant, which has few.
func (a API) list(w http.ResponseWriter, r *web.Request) error {
	endpoints, err := a.Webhooks.List(r.Context(), merchantOf(r))
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, newWebhooksView(endpoints))
}

// listAll serves GET /webhooks of operators.
func (a API) listAll(w http.ResponseWriter, r *web.Request) error {
	query := web.ParseQuery(r)
	state := webhook.ParseState(query.OneOf("state", webhook.StateNames...))
	after, limit := query.Int("after", 0, 0, strict.MaxInt), query.Limit(defaultWebhooks, maxWebhooks)
	if err := query.Err(); err != nil {
		return err
	}
	endpoints, err := a.Webhooks.Page(r.Context(), state, after, limit+1)
	if err != nil {
		return err
	}
	endpoints, next := web.CutPage(endpoints, limit, func(e webhook.Endpoint) int64 { return e.ID })
	return web.WriteJSON(w, http.StatusOK, pageView{newWebhooksView(endpoints), next})
}

// get serves GET /webhooks/{webhookId}.
func (a API) get(w http.ResponseWriter, r *web.Request) error {
	endpoint, err := a.Webhooks.Get(r.Context(), keyOf(r))
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, newWebhookView(endpoint))
}

// listDeliveries serves GET /webhooks/{webhookId}/deliveries.
func (a API) listDeliveries(w http.ResponseWriter, r *web.Request) error {
	query := web.ParseQuery(r)
	before, limit := query.Int("before", strict.MaxInt, 1, strict.MaxInt), query.Limit(defaultDeliveries, maxDeliveries)
	if err := query.Err(); err != nil {
		return err
	}
	deliveries, err := a.Webhooks.Deliveries(r.Context(), keyOf(r), before, limit+1)
	if err != nil {
		return err
	}
	deliveries, next := web.CutPage(deliveries, limit, func(d delivery.Attempt) int64 { return d.ID })
	return web.WriteJSON(w, http.StatusOK, deliveriesView{web.Collect(deliveries, newDeliveryView), next})
}
