package invoiceapi

import (
	"errors"
	"fmt"
	"net/http"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// Endpoints are upload and delete, alike in both versions but for the way an
// order is named (spec 4.3, 4.4).
type Endpoints struct {
	orders     *order.Service
	metrics    *web.Metrics
	storageURL string
}

// NewEndpoints returns the endpoints over a service. figures counts the
// uploads. storageURL is the address of the storage, without a slash at its
// end.
func NewEndpoints(orders *order.Service, figures *web.Metrics, storageURL string) *Endpoints {
	return &Endpoints{orders: orders, metrics: figures, storageURL: storageURL}
}

// Uploaded answers an upload.
type Uploaded struct {
	Message string `json:"message"`
	Invoice Entry  `json:"invoice"`
}

// Deleted answers a delete with what is left.
type Deleted struct {
	Message  string  `json:"message"`
	Invoices []Entry `json:"invoices"`
}

const success = "success"

// Headers sets what a version adds to the headers of a success. reference is
// that of the order.
type Headers func(h http.Header, reference string)

// Upload stores the invoice file in a request's body for the order that key
// names, and id in the request's path, and answers. An error that the
// specification names is an *Error.
func (e *Endpoints) Upload(w http.ResponseWriter, r *http.Request, key order.Identifier, id string, headers Headers) error {
	change := web.NewChange(r, func(h http.Header, done order.WriteResult) any {
		headers(h, done.Reference)
		return Uploaded{Message: success, Invoice: NewEntry(e.storageURL, done.Reference, done.Invoice)}
	}, func(err error) error { return refusal(err, id) })
	done, err := e.upload(r, key, change)
	var repeated *order.ReplayError
	switch {
	case err == nil:
		e.metrics.Upload(web.UploadStored, done.Invoice.Size)
	case !errors.As(err, &repeated):
		e.metrics.Upload(result(refusal(err, id)), 0)
	}
	return change.Answer(w, done, err)
}

func (e *Endpoints) upload(r *http.Request, key order.Identifier, change *web.Change) (order.WriteResult, error) {
	if r.ContentLength > MaxBody {
		return order.WriteResult{}, order.ErrFileTooBig
	}
	web.ExtendUploadDeadline(r)
	filename, content, err := ReadUpload(r.Body, func() (order.StagedFile, error) {
		return e.orders.StageFile(r.Context())
	})
	switch {
	case errors.Is(err, ErrBodyTooBig):
		return order.WriteResult{}, fmt.Errorf("%w: %w", order.ErrFileTooBig, err)
	case errors.Is(err, ErrPayload):
		return order.WriteResult{}, fmt.Errorf("%w: %w", web.ErrInvalidPayload, err)
	case err != nil:
		return order.WriteResult{}, fmt.Errorf("%w: %w", order.ErrUploadFailed, err)
	}
	defer content.Staged.Abort()
	return e.orders.Upload(r.Context(), web.MerchantID(r), key, filename, content, change.Attempt())
}

// result says whose fault a failed upload is.
func result(err error) web.UploadResult {
	var known *Error
	if errors.As(err, &known) && known.Status < http.StatusInternalServerError || web.Status(err) < http.StatusInternalServerError {
		return web.UploadRefused
	}
	return web.UploadFailed
}

// Delete withdraws the invoice file that {invoiceId} in a request's path names
// from the order that key names, and answers. An error that the specification
// names is an *Error.
func (e *Endpoints) Delete(w http.ResponseWriter, r *http.Request, key order.Identifier, headers Headers) error {
	invoiceID, ok := order.ParseID(r.PathValue("invoiceId"))
	if !ok {
		return InvalidParams()
	}
	change := web.NewChange(r, func(h http.Header, done order.WriteResult) any {
		headers(h, done.Reference)
		return Deleted{Message: success, Invoices: NewEntries(e.storageURL, done.Reference, done.Invoices)}
	}, func(err error) error { return refusal(err, "") })
	done, err := e.orders.DeleteInvoice(r.Context(), web.MerchantID(r), key, invoiceID, change.Attempt())
	return change.Answer(w, done, err)
}

// InvalidParams is the refusal of a delete whose path has an identifier that
// cannot be one.
func InvalidParams() error { return refusal(errParams, "") }
