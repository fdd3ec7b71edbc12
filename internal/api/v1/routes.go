package v1

import (
	"net/http"

	"merchantorders/internal/api/invoiceapi"
	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// Deps is what the version works with. The URLs have no slash at their end.
type Deps struct {
	Orders     *order.Service
	Metrics    *web.Metrics
	BaseURL    string // of the service
	StorageURL string // of the stored files
}

// api serves the requests of this version.
type api struct {
	orders     *order.Service
	invoices   *invoiceapi.Endpoints
	baseURL    string
	storageURL string
}

// Routes returns the routes of this version.
func Routes(deps Deps) web.RouteGroup {
	a := &api{
		orders:     deps.Orders,
		invoices:   invoiceapi.NewEndpoints(deps.Orders, deps.Metrics, deps.StorageURL),
		baseURL:    deps.BaseURL,
		storageURL: deps.StorageURL,
	}
	invoiceErrors := invoiceapi.ErrorEncoder("orderId", encodeError)
	return web.RouteGroup{
		Prefix: "/api",
		Errors: encodeError,
		Routes: []web.Route{
			web.ReadRoute("/orders", token.OrdersRead, a.listOrders),
			web.ReadRoute("/orders/{orderId}", token.OrdersRead, a.getOrder),
			web.WriteRoute(http.MethodPut, "/orders/{orderId}", token.OrdersWrite, a.putOrder),
			web.WriteRoute(http.MethodPost, "/orders/{orderId}/invoices", token.InvoicesWrite, a.uploadInvoice).WithErrors(invoiceErrors),
			web.WriteRoute(http.MethodDelete, "/orders/{orderId}/invoices/{invoiceId}", token.InvoicesWrite, a.deleteInvoice).WithErrors(invoiceErrors),
		},
	}
}

// withSuccessorLink adds the Link to the order in version 2 to the response of a
// write.
func (a *api) withSuccessorLink(write web.Write) web.Write {
	respond := write.Respond
	write.Respond = func(result order.WriteResult) web.Response {
		response := respond(result)
		response.Header = http.Header{"Link": {a.successorLink(result.Reference)}}
		return response
	}
	return write
}

// successorLink returns the Link to the order with a reference in version 2, or to
// the list if the reference is empty (decision 5).
func (a *api) successorLink(reference string) string {
	address := a.baseURL + "/v2/orders"
	if reference != "" {
		address += "/" + reference
	}
	return "<" + address + `>; rel="successor-version"`
}
