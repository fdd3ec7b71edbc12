// Package operator is the marketplace's interface, below /operator (decisions 1, 2 and 7).
// Its routes accept operators' tokens only.
//
// It does not know the merchant interface and holds no business rule: package
// ingest decides what an order document may contain, package order what may happen
// to an order.
package operator

import (
	"errors"
	"log/slog"
	"net/http"

	"merchantorders/internal/api/tokenapi"
	"merchantorders/internal/api/webhookapi"
	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// API serves the requests of operators.
type API struct {
	order.Services
	Tokens   *token.Registry
	Webhooks webhookapi.API
	Log      *slog.Logger // gets the creations and revocations of tokens and login links

	Sessions *token.Sessions
	BaseURL  string // of the service, in login links
	// OrderView and EventViews return orders and events as merchants see them, so that
	// both sides speak of the same thing. MarketEventViews adds the merchants.
	OrderView        func(order.Order) any
	EventViews       func([]order.EventRecord) any
	MarketEventViews func(events []order.EventRecord, orders bool) any
}

// Routes returns the routes of operators.
func (a API) Routes() web.RouteGroup {
	return web.RouteGroup{
		Prefix:       "/operator",
		ChecksParams: true,
		Errors:       encodeError,
		Routes: append([]web.Route{
			web.WriteRoute(http.MethodPost, "/orders", web.Operators(order.ScopeOrdersIngest), a.importOrder),
			web.StreamRoute("/orders/import", web.Operators(order.ScopeOrdersIngest), a.importOrders).TakesOnly("results"),
			web.StreamRoute("/orders/transitions", web.Operators(order.ScopeOrdersTransition), a.changeOrders).TakesOnly("results"),
			web.ValueRoute("/orders", web.Operators(order.ScopeOrdersRead), a.searchOrders).TakesOnly("merchantId", "orderId", "reference", "email", "phone",
				"name", "q", "state", "dateFrom", "dateTo", "expiresBefore", "sort", "limit", web.CursorName),
			web.ExportRoute("/orders/export", web.Operators(order.ScopeOrdersRead), a.exportOrders).TakesOnly("merchantId", "state", "dateFrom", "dateTo", web.CursorName),
			web.ValueRoute("/orders/{orderReference}", web.Operators(order.ScopeOrdersRead), a.inspectOrder),
			web.GetRoute("/events", web.Operators(order.ScopeOrdersRead), a.listEvents).TakesOnly(web.CursorName, "limit", "wait", "types", "include"),
			web.ValueRoute("/overview", web.Operators(order.ScopeOrdersRead), a.overview).TakesOnly("limit", web.CursorName),
			web.WriteRoute(http.MethodPost, "/merchants/{merchantId}/orders/{orderReference}/state", web.Operators(order.ScopeOrdersTransition), a.transitionOrder),
			web.WriteRoute(http.MethodPatch, "/merchants/{merchantId}/orders/{orderReference}", web.Operators(order.ScopeOrdersTransition), a.correctOrder),
			web.ValueRoute("/merchants", web.Operators(order.ScopeMerchants), a.listMerchants).TakesOnly("name", "suspended", "after", "limit"),
			web.WriteRoute(http.MethodPost, "/merchants", web.Operators(order.ScopeMerchants), a.addMerchant),
			web.ValueRoute("/merchants/{merchantId}", web.Operators(order.ScopeMerchants), a.getMerchant),
			web.WriteRoute(http.MethodPatch, "/merchants/{merchantId}", web.Operators(order.ScopeMerchants), a.updateMerchant),
			web.WriteRoute(http.MethodPost, "/merchants/{merchantId}/suspend", web.Operators(order.ScopeMerchants), a.suspendMerchant),
			web.WriteRoute(http.MethodPost, "/merchants/{merchantId}/resume", web.Operators(order.ScopeMerchants), a.resumeMerchant),
			web.WriteRoute(http.MethodPost, "/merchants/{merchantId}/login-link", web.Operators(order.ScopeTokens), a.createLoginLink),
			web.ValueRoute("/tokens", web.Operators(order.ScopeTokens), a.listTokens).TakesOnly("merchantId", "operator", "state", "label", "scope", "after", "limit"),
			web.WriteRoute(http.MethodPost, "/tokens", web.Operators(order.ScopeTokens), a.createToken),
			web.WriteRoute(http.MethodPost, "/tokens/{tokenId}/rotate", web.Operators(order.ScopeTokens), a.rotateToken),
			web.WriteRoute(http.MethodDelete, "/merchants/{merchantId}/tokens", web.Operators(order.ScopeTokens), a.revokeTokens),
			web.WriteRoute(http.MethodDelete, "/tokens/{tokenId}", web.Operators(order.ScopeTokens), a.revokeToken).TakesOnly("children"),
			web.GetRoute("/audit", web.Operators(order.ScopeAudit), a.listAudit).TakesOnly("merchantId", "orderReference", "tokenId", "action",
				"from", "to", "limit", web.CursorName),
			web.WriteRoute(http.MethodPost, "/customers/erase", web.Operators(order.ScopeCustomerData), a.eraseCustomer),
			web.PostRoute("/customers/export", web.Operators(order.ScopeCustomerData), a.exportCustomer),
		}, a.Webhooks.OperatorRoutes()...),
	}
}

// refusals are the errors of this group alone.
var refusals = web.CodedRefusals{
	{Err: order.ErrNotFound, Status: http.StatusNotFound, Code: "not_found", Message: "The order was not found."},
	{Err: order.ErrInvalidReason, Status: http.StatusBadRequest, Code: "invalid_params", Message: ingest.InvalidReason},
	{Err: order.ErrErased, Status: http.StatusConflict, Code: "erased", Message: ingest.Erased},
	{Err: order.ErrOtherHistory, Status: http.StatusConflict, Code: "history_changed", Message: "The event of the cursor is gone: the database was replaced. Begin a new copy."},
	{Err: order.ErrOnCluster, Status: http.StatusConflict, Code: "not_on_cluster", Message: "A cluster has no common order of the events of all merchants. Follow the events of each merchant."},
	{Err: order.ErrMerchantExists, Status: http.StatusConflict, Code: "conflict", Message: "A merchant with that id has another name."},
	{Err: order.ErrMerchantNotFound, Status: http.StatusNotFound, Code: "not_found", Message: "The merchant was not found."},
}

// encodeError is the ErrorEncoder of this group. The body is always web.CodedBody.
func encodeError(r *http.Request, err error) (int, any) {
	var document *ingest.DocumentError
	var result *order.ImportError
	var transition *order.TransitionError
	switch {
	case errors.As(err, &transition):
		return http.StatusConflict, web.NewCodedBody("invalid_move", ingest.TransitionProblem(transition))
	case errors.As(err, &document):
		return http.StatusBadRequest, web.NewCodedBody("invalid_document", document.Error())
	case errors.As(err, &result) && result.Status == order.Conflict:
		return http.StatusConflict, web.NewCodedBody("conflict", result.Reason)
	case errors.As(err, &result):
		return http.StatusBadRequest, web.NewCodedBody("invalid_document", result.Reason)
	}
	if status, body, ok := webhookapi.Refusals.Encode(err); ok {
		return status, body
	}
	if status, body, ok := refusals.Encode(err); ok {
		return status, body
	}
	return encodeTokenErrors(r, err)
}

var encodeTokenErrors = tokenapi.ErrorEncoder(web.EncodeCoded)

// parsePage parses the query of a list that is paged by id: the id of the last row of the
// page before, 0 for none, and the limit, 0 for all rows.
func parsePage(r *web.Request) (query *web.Query, after int64, limit int) {
	query = web.ParseQuery(r)
	return query, query.Int("after", 0, 0, strict.MaxInt), query.Limit(0, order.MaxMerchantsPage)
}
