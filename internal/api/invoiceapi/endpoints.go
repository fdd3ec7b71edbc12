package invoiceapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// Endpoints are the write handlers of upload and delete.
type Endpoints struct {
	orders     *order.Service
	metrics    *web.Metrics
	storageURL string
}

// NewEndpoints returns the endpoints over a service. metrics counts the uploads;
// storageURL is the URL of the stored files, without a slash at its end.
func NewEndpoints(orders *order.Service, metrics *web.Metrics, storageURL string) *Endpoints {
	return &Endpoints{orders: orders, metrics: metrics, storageURL: storageURL}
}

// uploadedView is the response to an upload.
type uploadedView struct {
	Message string `json:"message"`
	Invoice Entry  `json:"invoice"`
}

// deletedView is the response to a delete, with the remaining files.
type deletedView struct {
	Message  string  `json:"message"`
	Invoices []Entry `json:"invoices"`
}

const success = "success"

// Upload reads the invoice file in the body of a request, to be stored for an
// order.
func (e *Endpoints) Upload(r *web.Request, id order.Identifier) (web.Write, error) {
	filename, content, err := e.readUpload(r)
	if err != nil {
		e.metrics.Upload(uploadResult(err), 0)
		return web.Write{}, err
	}
	return web.Write{
		Apply: func(ctx context.Context, options order.WriteOptions) (order.WriteResult, error) {
			defer content.Staged.Abort()
			result, err := e.orders.Upload(ctx, r.MerchantID, id, filename, content, options)
			var replay *order.ReplayError
			switch {
			case err == nil:
				e.metrics.Upload(web.UploadStored, result.Invoice.Size)
			case !errors.As(err, &replay):
				e.metrics.Upload(uploadResult(err), 0)
			}
			return result, err
		},
		Respond: func(result order.WriteResult) web.Response {
			entry := NewEntry(e.storageURL, result.Reference, result.Invoice)
			return web.Response{Status: http.StatusOK, Body: uploadedView{Message: success, Invoice: entry}}
		},
	}, nil
}

func (e *Endpoints) readUpload(r *web.Request) (string, order.Content, error) {
	if r.ContentLength > MaxBody {
		return "", order.Content{}, order.ErrFileTooBig
	}
	web.ExtendUploadDeadline(r.Request)
	filename, content, err := ReadUpload(r.Context(), r.Body, e.orders.StageFile)
	switch {
	case errors.Is(err, ErrBodyTooBig):
		err = fmt.Errorf("%w: %w", order.ErrFileTooBig, err)
	case errors.Is(err, ErrPayload):
		err = fmt.Errorf("%w: %w", web.ErrInvalidPayload, err)
	case err != nil:
		err = fmt.Errorf("%w: %w", order.ErrUploadFailed, err)
	}
	return filename, content, err
}

// Delete parses a request to withdraw the invoice file {invoiceId} of an order.
func (e *Endpoints) Delete(r *web.Request, id order.Identifier) (web.Write, error) {
	invoiceID, ok := order.ParseID(r.PathValue("invoiceId"))
	if !ok {
		return web.Write{}, ErrInvalidParams
	}
	return web.Write{
		Apply: func(ctx context.Context, options order.WriteOptions) (order.WriteResult, error) {
			return e.orders.DeleteInvoice(ctx, r.MerchantID, id, invoiceID, options)
		},
		Respond: func(result order.WriteResult) web.Response {
			entries := NewEntries(e.storageURL, result.Reference, result.Invoices)
			return web.Response{Status: http.StatusOK, Body: deletedView{Message: success, Invoices: entries}}
		},
	}, nil
}
