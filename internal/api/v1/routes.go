package v1

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
	BaseURL    string    // address of the service, without a slash at its end
	StorageURL string    // address of the stored files, without a slash at its end
	Kept       *web.Kept // answers that may be given again
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
		Prefix: "/api",
		Routes: []web.Route{
			{Method: http.MethodGet, Path: "/orders", Scope: token.OrdersRead, Handle: kept.Serve(a.listOrders)},
			{Method: http.MethodGet, Path: "/orders/{orderId}", Scope: token.OrdersRead, Handle: kept.Serve(a.getOrder)},
			{Method: http.MethodPut, Path: "/orders/{orderId}", Scope: token.OrdersWrite, Handle: a.putOrder},
			{Method: http.MethodPost, Path: "/orders/{orderId}/invoices", Scope: token.InvoicesWrite, Handle: a.uploadInvoice},
			{Method: http.MethodDelete, Path: "/orders/{orderId}/invoices/{invoiceId}", Scope: token.InvoicesWrite, Handle: a.deleteInvoice},
		},
		Errors:   encodeError,
		Attempts: deps.Orders,
	}
}
