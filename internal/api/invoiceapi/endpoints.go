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
	figures    *web.Figures
	storageURL string
}

// NewEndpoints returns the endpoints over a service. figures counts the
// uploads. storageURL is the address of the storage, without a slash at its
// end.
func NewEndpoints(orders *order.Service, figures *web.Figures, storageURL string) *Endpoints {
	return &Endpoints{orders: orders, figures: figures, storageURL: storageURL}
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

// Upload stores the invoice file in a request's body for the order that key
// names, and id in the request's path. An error that the specification names
// is an *Error.
func (e *Endpoints) Upload(r *http.Request, key order.Key, id string) (order.Head, Uploaded, error) {
	head, invoice, err := e.upload(r, key)
	if err != nil {
		err = refusal(err, id)
		e.figures.Upload(result(err), 0)
		return order.Head{}, Uploaded{}, err
	}
	e.figures.Upload(web.UploadStored, invoice.Size)
	entry := NewEntry(e.storageURL, head.Reference, invoice)
	return head, Uploaded{Message: success, Invoice: entry}, nil
}

func (e *Endpoints) upload(r *http.Request, key order.Key) (order.Head, order.Invoice, error) {
	if r.ContentLength > MaxBody {
		return order.Head{}, order.Invoice{}, order.ErrFileTooBig
	}
	web.ExpectUpload(r)
	filename, content, err := ReadUpload(r.Body, func() (order.Draft, error) {
		return e.orders.NewDraft(r.Context())
	})
	switch {
	case errors.Is(err, ErrBodyTooBig):
		return order.Head{}, order.Invoice{}, fmt.Errorf("%w: %w", order.ErrFileTooBig, err)
	case errors.Is(err, ErrPayload):
		return order.Head{}, order.Invoice{}, fmt.Errorf("%w: %w", web.ErrPayload, err)
	case err != nil:
		return order.Head{}, order.Invoice{}, fmt.Errorf("%w: %w", order.ErrUpload, err)
	}
	defer content.Draft.Discard()
	return e.orders.Upload(r.Context(), web.MerchantID(r), key, filename, content)
}

// result says whose fault a failed upload is.
func result(err error) web.UploadResult {
	var known *Error
	if errors.As(err, &known) && known.Status < http.StatusInternalServerError {
		return web.UploadRefused
	}
	return web.UploadFailed
}

// Delete withdraws the invoice file that {invoiceId} in a request's path names
// from the order that key names. An error that the specification names is an
// *Error.
func (e *Endpoints) Delete(r *http.Request, key order.Key) (order.Head, Deleted, error) {
	invoiceID, ok := order.ParseID(r.PathValue("invoiceId"))
	if !ok {
		return order.Head{}, Deleted{}, InvalidParams()
	}
	head, left, err := e.orders.DeleteInvoice(r.Context(), web.MerchantID(r), key, invoiceID)
	if err != nil {
		return order.Head{}, Deleted{}, refusal(err, "")
	}
	entries := NewEntries(e.storageURL, head.Reference, left)
	return head, Deleted{Message: success, Invoices: entries}, nil
}

// InvalidParams is the refusal of a delete whose path has an identifier that
// cannot be one.
func InvalidParams() error { return refusal(errParams, "") }
