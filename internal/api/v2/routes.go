package v2

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
	BaseURL    string     // of the service
	StorageURL string     // of the stored files
	ErrorCodes ErrorCodes // empty: Samples
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
	encodeError := errorEncoder(deps.ErrorCodes)
	invoiceErrors := invoiceapi.ErrorEncoder("orderReference", encodeError)
	return web.RouteGroup{
		Prefix: "/v2",
		Errors: encodeError,
		Routes: []web.Route{
			web.ReadRoute("/orders", token.OrdersRead, a.listOrders),
			web.ReadRoute("/orders/{orderReference}", token.OrdersRead, a.getOrder),
			web.GetRoute("/orders/{orderReference}/events", token.OrdersRead, a.listOrderEvents),
			web.GetRoute("/events", token.OrdersRead, a.listEvents),
			web.WriteRoute(http.MethodPatch, "/orders/{orderReference}/accept", token.OrdersWrite, a.acceptOrder),
			web.WriteRoute(http.MethodPatch, "/orders/{orderReference}/reject", token.OrdersWrite, a.rejectOrder),
			web.WriteRoute(http.MethodPost, "/orders/{orderReference}/invoices", token.InvoicesWrite, a.uploadInvoice).WithErrors(invoiceErrors),
			web.WriteRoute(http.MethodDelete, "/orders/{orderReference}/invoices/{invoiceId}", token.InvoicesWrite, a.deleteInvoice).WithErrors(invoiceErrors),
		},
	}
}
