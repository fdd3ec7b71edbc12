package v2

import (
	"net/http"

	"merchantorders/internal/api/invoiceapi"
	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// Deps is what the version works with.
type Deps struct {
	Orders     *order.Service
	Metrics    *web.Metrics
	BaseURL    string     // address of the service, without a slash at its end
	StorageURL string     // address of the stored files, without a slash at its end
	ErrorCodes ErrorCodes // zero: Samples
	Kept       *web.Kept  // answers that may be given again
}

// api answers the requests of this version.
type api struct {
	orders     *order.Service
	invoices   *invoiceapi.Endpoints
	baseURL    string
	storageURL string
}

// Section returns the routes of this version and its form of errors.
func Routes(deps Deps) web.RouteGroup {
	a := &api{
		orders:     deps.Orders,
		invoices:   invoiceapi.NewEndpoints(deps.Orders, deps.Metrics, deps.StorageURL),
		baseURL:    deps.BaseURL,
		storageURL: deps.StorageURL,
	}
	kept := deps.Kept
	return web.RouteGroup{
		Prefix: "/v2",
		Routes: []web.Route{
			{Method: http.MethodGet, Path: "/orders", Scope: token.OrdersRead, Handle: kept.Serve(a.listOrders)},
			{Method: http.MethodGet, Path: "/orders/{orderReference}", Scope: token.OrdersRead, Handle: kept.Serve(a.getOrder)},
			{Method: http.MethodGet, Path: "/orders/{orderReference}/events", Scope: token.OrdersRead, Handle: a.listOrderEvents},
			{Method: http.MethodGet, Path: "/events", Scope: token.OrdersRead, Handle: a.listEvents},
			{Method: http.MethodPatch, Path: "/orders/{orderReference}/accept", Scope: token.OrdersWrite, Handle: a.acceptOrder},
			{Method: http.MethodPatch, Path: "/orders/{orderReference}/reject", Scope: token.OrdersWrite, Handle: a.rejectOrder},
			{Method: http.MethodPost, Path: "/orders/{orderReference}/invoices", Scope: token.InvoicesWrite, Handle: a.uploadInvoice},
			{Method: http.MethodDelete, Path: "/orders/{orderReference}/invoices/{invoiceId}", Scope: token.InvoicesWrite, Handle: a.deleteInvoice},
		},
		Errors:   errorEncoder(deps.ErrorCodes),
		Attempts: deps.Orders,
	}
}
