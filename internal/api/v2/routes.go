// Package v2 is version 2 of the merchant interface, below /v2: it identifies
// orders by their reference and shows them as nested records (spec 2.4 to 2.6, 4.2,
// 7.2).
//
// It translates between HTTP and order.Service and holds no business rule. It does
// not know version 1: either folder could be deleted without the other.
package v2

import (
	"log/slog"
	"net/http"

	"merchantorders/internal/api/invoiceapi"
	"merchantorders/internal/api/tokenapi"
	"merchantorders/internal/api/webhookapi"
	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// API is version 2 of the interface.
type API struct {
	invoiceapi.Endpoints
	Links      *order.Links
	BaseURL    string // of the service, without a slash at its end
	TableCodes bool   // error codes are those of the code table where the sample bodies have others (spec 7.3, decision 5)
	Webhooks   webhookapi.API
	Tokens     *token.Registry
	Sessions   *token.Sessions
	Log        *slog.Logger // gets the creations and revocations of tokens and login links
	Sandbox    bool         // integrators rehearse with the server
}

// Routes returns the routes of this version.
func (a API) Routes() web.RouteGroup {
	encodeError := errorEncoder(a.TableCodes)
	// Every error of these routes has the flat form (decision 5).
	invoiceErrors := invoiceapi.ErrorEncoder("orderReference", web.EncodeMessage)
	tokenErrors := tokenapi.ErrorEncoder(encodeError)
	return web.RouteGroup{
		Prefix:       "/v2",
		Interface:    "Version 2",
		MergeSlashes: true,
		ChecksParams: true,
		Errors:       encodeError,
		Routes: append([]web.Route{
			web.ReadRoute("/orders", web.Merchants(order.ScopeOrdersRead), a.listOrders).Takes(listParams.OfList()...),
			web.ValueRoute("/orders/unanswered", web.Merchants(order.ScopeOrdersRead), a.listUnanswered).Takes("expiresBefore", "limit", web.CursorName),
			web.ValueRoute("/orders/without-invoice", web.Merchants(order.ScopeOrdersRead), a.listWithoutInvoice).Takes("limit", web.CursorName),
			web.ReadRoute("/orders/by-merchant-reference/{merchantReference}", web.Merchants(order.ScopeOrdersRead), a.listByMerchantReference).First(),
			web.ExportRoute("/orders/export", web.Merchants(order.ScopeOrdersRead), a.exportOrders).Takes(listParams.OfExport()...),
			web.ReadRoute("/orders/{orderReference}", web.Merchants(order.ScopeOrdersRead), a.getOrder),
			web.WriteRoute(http.MethodPatch, "/orders/{orderReference}", web.Merchants(order.ScopeOrdersWrite), a.updateOrder),
			web.ValueRoute("/orders/{orderReference}/events", web.Merchants(order.ScopeOrdersRead), a.listOrderEvents).Takes("after", "limit"),
			web.GetRoute("/events", web.Merchants(order.ScopeOrdersRead), a.listEvents).AsStream().Takes("after", "limit", "wait", "types", "include"),
			web.ValueRoute("/tokens", web.Merchants(order.ScopeTokens), a.listTokens).Takes("state", "after", "limit"),
			web.ValueRoute("/tokens/current", web.Merchants(0), a.getCurrentToken).WithErrors(tokenErrors),
			web.WriteRoute(http.MethodPost, "/tokens", web.Merchants(order.ScopeTokens), a.createToken).WithErrors(tokenErrors),
			web.WriteRoute(http.MethodPost, "/tokens/{tokenId}/rotate", web.Merchants(order.ScopeTokens), a.rotateToken).WithErrors(tokenErrors),
			web.WriteRoute(http.MethodDelete, "/tokens/{tokenId}", web.Merchants(order.ScopeTokens), a.revokeToken).TakesOnly("children").WithErrors(tokenErrors),
			web.WriteRoute(http.MethodPost, "/login-link", web.Merchants(order.ScopeTokens), a.createLoginLink).WithErrors(tokenErrors),
			web.WriteRoute(http.MethodPatch, "/orders/{orderReference}/accept", web.Merchants(order.ScopeOrdersWrite), a.acceptOrder),
			web.WriteRoute(http.MethodPatch, "/orders/{orderReference}/reject", web.Merchants(order.ScopeOrdersWrite), a.rejectOrder),
			web.StreamRoute("/orders/answers", web.Merchants(order.ScopeOrdersWrite), a.answerOrders).Takes("results"),
			web.WriteRoute(http.MethodPost, "/orders/{orderReference}/invoices", web.Merchants(order.ScopeInvoicesWrite), a.uploadInvoice).AsUpload().WithErrors(invoiceErrors),
			web.WriteRoute(http.MethodDelete, "/orders/{orderReference}/invoices/{invoiceId}", web.Merchants(order.ScopeInvoicesWrite), a.deleteInvoice).WithErrors(invoiceErrors),
			web.WriteRoute(http.MethodPost, "/orders/{orderReference}/invoices/{invoiceId}/link", web.Merchants(order.ScopeOrdersRead), a.linkInvoice).WithErrors(invoiceErrors),
			web.WriteRoute(http.MethodPost, "/sandbox/orders/{orderReference}/state", web.Merchants(order.ScopeOrdersWrite), a.rehearse),
		}, a.Webhooks.Routes("", web.Merchants(order.ScopeWebhooks))...),
	}
}
