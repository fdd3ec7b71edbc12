package storageapi

import (
	"errors"
	"net/http"

	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// Deps is what the section works with.
type Deps struct {
	Orders *order.Service
	// Region and Bucket stand in the address of every file; any others are not
	// there.
	Region string
	Bucket string
}

// api answers the requests for stored files.
type api struct {
	orders *order.Service
	region string
	bucket string
}

// Section returns the route of the stored files and its form of errors.
func Routes(deps Deps) web.RouteGroup {
	a := &api{orders: deps.Orders, region: deps.Region, bucket: deps.Bucket}
	return web.RouteGroup{
		Prefix: "/storage",
		Routes: []web.Route{{
			Method: http.MethodGet,
			Path:   "/{region}/{bucket}/invoices/{orderReference}/{filename}",
			Scope:  token.OrdersRead,
			Handle: a.getFile,
		}},
		Errors: encodeError,
	}
}

// errorForm is the form of errors here: flat (decision 6).
func encodeError(r *http.Request, err error) (int, any) {
	var refused *contentError
	switch {
	case errors.Is(err, order.ErrInvoiceNotFound):
		return http.StatusNotFound, web.MessageBody{Message: "The invoice was not found."}
	case errors.As(err, &refused):
		return refused.status, web.MessageBody{Message: http.StatusText(refused.status)}
	}
	return web.EncodeMessage(r, err)
}
