// Package v1 is version 1 of the merchant interface, below /api: the legacy one,
// which identifies orders by their legacy id and shows them as flat records (spec
// 2.2, 2.3, 4.1, 7.1).
//
// It translates between HTTP and order.Service and holds no business rule. It does
// not know version 2: either folder could be deleted without the other.
package v1

import (
	"net/http"

	"merchantorders/internal/api/invoiceapi"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// ViewVersion is the version of the bodies of this interface, a part of every ETag.
// Raise it with every change of what a body shows for the same data: a client must not
// go on using a body that it has.
const ViewVersion = "3"

// API is version 1 of the interface.
type API struct {
	invoiceapi.Endpoints
	BaseURL string // of the service, without a slash at its end
}

// Routes returns the routes of this version.
func (a API) Routes() web.RouteGroup {
	invoiceErrors := invoiceapi.ErrorEncoder("orderId", encodeError)
	return web.RouteGroup{
		Prefix:         "/api",
		Interface:      "Version 1",
		MergeSlashes:   true,
		BasicChallenge: true,
		ChecksParams:   true,
		Errors:         encodeError,
		Routes: []web.Route{
			web.ReadRoute("/orders", web.Merchants(order.ScopeOrdersRead), a.listOrders).Takes(listParams.OfList()...),
			web.ReadRoute("/orders/{orderId}", web.Merchants(order.ScopeOrdersRead), a.getOrder),
			web.WriteRoute(http.MethodPut, "/orders/{orderId}", web.Merchants(order.ScopeOrdersWrite), a.putOrder),
			web.WriteRoute(http.MethodPost, "/orders/{orderId}/invoices", web.Merchants(order.ScopeInvoicesWrite), a.uploadInvoice).AsUpload().WithErrors(invoiceErrors),
			web.WriteRoute(http.MethodDelete, "/orders/{orderId}/invoices/{invoiceId}", web.Merchants(order.ScopeInvoicesWrite), a.deleteInvoice).WithErrors(invoiceErrors),
		},
	}
}

// withSuccessorLink adds the Link to the order in version 2 to the response to a change
// of the order.
func (a API) withSuccessorLink(response web.Response) web.Response {
	response.Header = http.Header{"Link": {a.successorLink(response.Order.Reference)}}
	return response
}

// successorLink returns the Link to the order with a reference in version 2, or to
// the list if the reference is empty (decision 5).
func (a API) successorLink(reference string) string {
	address := a.BaseURL + "/v2/orders"
	if reference != "" {
		address += "/" + reference
	}
	return "<" + address + `>; rel="successor-version"`
}
