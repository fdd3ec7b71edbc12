package webhookapi

import (
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
func (a API) list(r *web.Request) (any, error) {
	endpoints, err := a.Webhooks.List(r.Context(), merchantOf(r))
	return newWebhooksView(endpoints), err
}

// listAll serves GET /webhooks of operators.
func (a API) listAll(r *web.Request) (any, error) {
	query := web.ParseQuery(r)
	state := webhook.ParseState(query.OneOf("state", webhook.StateNames...))
	after, limit := query.Int("after", 0, 0, strict.MaxInt), query.Limit(defaultWebhooks, maxWebhooks)
	if err := query.Err(); err != nil {
		return nil, err
	}
	endpoints, err := a.Webhooks.Page(r.Context(), state, after, limit+1)
	endpoints, next := web.CutPage(endpoints, limit, func(e webhook.Endpoint) int64 { return e.ID })
	return pageView{newWebhooksView(endpoints), next}, err
}

// get serves GET /webhooks/{webhookId}.
func (a API) get(r *web.Request) (any, error) {
	endpoint, err := a.Webhooks.Get(r.Context(), keyOf(r))
	return newWebhookView(endpoint), err
}

// listDeliveries serves GET /webhooks/{webhookId}/deliveries.
func (a API) listDeliveries(r *web.Request) (any, error) {
	query := web.ParseQuery(r)
	before, limit := query.Int("before", strict.MaxInt, 1, strict.MaxInt), query.Limit(defaultDeliveries, maxDeliveries)
	if err := query.Err(); err != nil {
		return nil, err
	}
	deliveries, err := a.Webhooks.Deliveries(r.Context(), keyOf(r), before, limit+1)
	deliveries, next := web.CutPage(deliveries, limit, func(d delivery.Attempt) int64 { return d.ID })
	return deliveriesView{web.Collect(deliveries, newDeliveryView), next}, err
}
