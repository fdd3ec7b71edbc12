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
func Section(deps Deps) web.Section {
	a := &api{orders: deps.Orders, region: deps.Region, bucket: deps.Bucket}
	return web.Section{
		Prefix: "/storage",
		Routes: []web.Route{{
			Method: http.MethodGet,
			Path:   "/{region}/{bucket}/invoices/{orderReference}/{filename}",
			Scope:  token.OrdersRead,
			Handle: a.getFile,
		}},
		Errors: errorForm,
	}
}

// errorForm is the form of errors here: flat (decision 6).
func errorForm(r *http.Request, err error) (int, any) {
	var refused *contentError
	switch {
	case errors.Is(err, order.ErrInvoiceNotFound):
		return http.StatusNotFound, web.Flat{Message: "The invoice was not found."}
	case errors.As(err, &refused):
		return refused.status, web.Flat{Message: http.StatusText(refused.status)}
	}
	return web.FlatForm(r, err)
}
