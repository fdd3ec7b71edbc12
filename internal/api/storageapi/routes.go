package storageapi

import (
	"errors"
	"net/http"

	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// Deps is what the group works with.
type Deps struct {
	Orders *order.Service
	// Region and Bucket are the first two segments of every file's path.
	Region string
	Bucket string
}

// api serves the requests for stored files.
type api struct {
	orders *order.Service
	region string
	bucket string
}

// Routes returns the route of the stored files.
func Routes(deps Deps) web.RouteGroup {
	a := &api{orders: deps.Orders, region: deps.Region, bucket: deps.Bucket}
	return web.RouteGroup{
		Prefix: "/storage",
		Errors: encodeError,
		Routes: []web.Route{
			web.GetRoute("/{region}/{bucket}/invoices/{orderReference}/{filename}", token.OrdersRead, a.getFile),
		},
	}
}

// encodeError is the ErrorEncoder of this group. The body is always
// web.MessageBody (decision 6).
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
