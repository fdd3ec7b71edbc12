// Package invoiceapi serves the upload and the deletion of invoice files, which are
// the same in both versions apart from the order's identifier (spec 4.3, 4.4).
//
// It knows neither how a version represents orders nor the rules for invoice files:
// it reads what a client sent, calls order.Service, and writes the published
// responses.
package invoiceapi

import (
	"errors"
	"fmt"
	"hash"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"merchantorders/internal/metrics"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// Endpoints serve upload and delete.
type Endpoints struct {
	Orders     *order.Service
	Metrics    *metrics.Metrics // counts the uploads
	StorageURL string           // of the stored files, without a slash at its end
	// Additions says that the endpoints are those of version 2, which has more than what is
	// published: an upload may be a form, and files have an order.InvoiceData.
	Additions bool
}

// uploadedView is the response to an upload.
type uploadedView struct {
	Message string `json:"message"`
	Invoice any    `json:"invoice"` // Entry or PublishedEntry
}

// deletedView is the response to a delete, with the remaining files.
type deletedView struct {
	Message  string `json:"message"`
	Invoices any    `json:"invoices"` // []Entry or []PublishedEntry
}

const success = "success"

// Upload stores the invoice file in the body of a request for an order. adapt changes
// the response to that of a version; nil: not called.
func (e Endpoints) Upload(r *web.Request, id order.Identifier, adapt func(web.Response) web.Response) (web.Response, error) {
	filename, content, err := e.readUpload(r)
	if err != nil {
		e.Metrics.Upload(uploadResult(err), 0)
		return web.Response{}, err
	}
	defer content.Staged.Abort()
	respond := func(result order.WriteResult) web.Response {
		view := uploadedView{Message: success, Invoice: PublishedEntries(e.StorageURL, result.Reference, []order.Invoice{result.Invoice})[0]}
		if e.Additions {
			view.Invoice = NewEntries(e.StorageURL, result.Reference, []order.Invoice{result.Invoice})[0]
		}
		return adapted(adapt, result, view)
	}
	result, err := e.Orders.Upload(r.Context(), r.Caller, id, filename, content, web.Options(r, respond))
	switch {
	case err == nil:
		e.Metrics.Upload(metrics.UploadStored, result.Invoice.Size)
	case !errors.As(err, new(*order.ReplayError)):
		e.Metrics.Upload(uploadResult(err), 0)
	}
	return respond(result), err
}

// adapted returns the response with a body to a change of an order.
func adapted(adapt func(web.Response) web.Response, result order.WriteResult, body any) web.Response {
	response := web.Response{Status: http.StatusOK, Body: body, Order: result.LockedOrder}
	if adapt != nil {
		response = adapt(response)
	}
	return response
}

func (e Endpoints) readUpload(r *web.Request) (string, order.Content, error) {
	if r.ContentLength > MaxBody {
		return "", order.Content{}, order.ErrFileTooBig
	}
	web.ExtendUploadDeadline(r)
	var filename string
	var content order.Content
	var err error
	if contentType := r.Header.Get("Content-Type"); e.Additions && web.IsMultipart(contentType) {
		var digest hash.Hash
		if filename, content, digest, err = ReadForm(r.Context(), contentType, r.Body, e.Orders.StageFile); digest != nil {
			r.DigestAs(digest)
		}
	} else {
		filename, content, err = ReadUpload(r.Context(), r.Body, e.Orders.StageFile, e.names()...)
	}
	switch {
	case errors.Is(err, ErrBodyTooBig):
		err = fmt.Errorf("%w: %w", order.ErrFileTooBig, err)
	case err != nil && !errors.Is(err, strict.ErrInvalidPayload):
		err = fmt.Errorf("%w: %w", order.ErrUploadFailed, err)
	}
	return filename, content, err
}

// names are those of the optional members of an upload.
func (e Endpoints) names() []string {
	if e.Additions {
		return order.InvoiceFields
	}
	return nil
}

// Delete withdraws the invoice file {invoiceId} of an order. adapt is as in Upload.
func (e Endpoints) Delete(r *web.Request, id order.Identifier, adapt func(web.Response) web.Response) (web.Response, error) {
	invoiceID, ok := order.ParseID(r.PathValue("invoiceId"))
	if !ok {
		return web.Response{}, ErrInvoiceID
	}
	respond := func(result order.WriteResult) web.Response {
		view := deletedView{Message: success, Invoices: PublishedEntries(e.StorageURL, result.Reference, result.Invoices)}
		if e.Additions {
			view.Invoices = NewEntries(e.StorageURL, result.Reference, result.Invoices)
		}
		return adapted(adapt, result, view)
	}
	result, err := e.Orders.DeleteInvoice(r.Context(), r.Caller, id, invoiceID, web.Options(r, respond))
	return respond(result), err
}

// PublishedEntry is an invoice file as both versions show it (spec 2.1).
type PublishedEntry struct {
	ID        int64  `json:"id"`
	URL       string `json:"url"`
	CreatedAt string `json:"created_at"`
}

// Entry is an invoice file as version 2 shows it: also what the merchant has said of it.
type Entry struct {
	ID        int64  `json:"id"`
	URL       string `json:"url"`
	CreatedAt string `json:"created_at"`
	Kind      string `json:"kind,omitempty"`
	Number    string `json:"number,omitempty"`
	Mark      string `json:"mark,omitempty"`
	Link      string `json:"link,omitempty"`
}

// createdAtFormat is ISO 8601 in UTC.
const createdAtFormat = "2006-01-02T15:04:05Z"

// PublishedEntries returns the entries of invoice files of the order with a reference, in the
// same order. storageURL is the URL of the stored files, without a slash at its end. The
// result is never nil, so that no files are shown as [].
func PublishedEntries(storageURL, reference string, invoices []order.Invoice) []PublishedEntry {
	return web.Collect(invoices, func(invoice order.Invoice) PublishedEntry {
		// A plus is itself in a path, but a space to object storages.
		name := strings.ReplaceAll(url.PathEscape(invoice.Name), "+", "%2B")
		return PublishedEntry{invoice.ID, storageURL + "/" + order.InvoicePath(reference, name), invoice.CreatedAt.UTC().Format(createdAtFormat)}
	})
}

// NewEntries is PublishedEntries for version 2.
func NewEntries(storageURL, reference string, invoices []order.Invoice) []Entry {
	entries := make([]Entry, 0, len(invoices))
	for i, published := range PublishedEntries(storageURL, reference, invoices) {
		data := invoices[i].InvoiceData
		entries = append(entries, Entry{published.ID, published.URL, published.CreatedAt, data.Kind, data.Number, data.Mark, data.Link})
	}
	return entries
}

// ErrInvalidParams means that an id in the path is not a number.
var ErrInvalidParams = errors.New("invalid request params")

// ErrInvoiceID is the ErrInvalidParams of an {invoiceId}.
var ErrInvoiceID = strict.Detail(ErrInvalidParams, "The last id in the path is that of a file, in digits: id in invoices of the order.")

// Refusal is an error with its published status and message.
type Refusal struct {
	Err     error
	Status  int
	Message string
}

// refusals are the rows of spec 7.1 for upload and delete. The first match counts:
// an upload that fails because of the storage is a failed upload.
var refusals = []Refusal{
	{order.ErrUploadFailed, http.StatusInternalServerError, "There were errors during the upload."},
	{strict.ErrInvalidPayload, http.StatusBadRequest, "Invalid payload."},
	{order.ErrUnsupportedFileType, http.StatusBadRequest, "The file type is not supported."},
	{order.ErrFileTooBig, http.StatusBadRequest, "The file size is too big."},
	{order.ErrTooManyFiles, http.StatusBadRequest, fmt.Sprintf("You cannot upload more than %d files.", order.MaxInvoices)},
	{ErrInvalidParams, http.StatusBadRequest, "Invalid request params."},
	{order.ErrInvoiceNotFound, http.StatusNotFound, "The invoice was not found."},
}

// ErrorEncoder returns the encoder of the invoice routes: the published messages
// for the errors of upload and delete, and next for all others. orderParam is the
// path parameter that identifies the order.
func ErrorEncoder(orderParam string, next web.ErrorEncoder) web.ErrorEncoder {
	return MessageEncoder(refusals, orderParam, next)
}

// MessageEncoder returns an encoder for refusals, the first match of which counts,
// and for a missing order. next encodes all other errors.
func MessageEncoder(refusals []Refusal, orderParam string, next web.ErrorEncoder) web.ErrorEncoder {
	return func(r *http.Request, err error) (int, any) {
		if i := indexOf(refusals, err); i >= 0 {
			return refusals[i].Status, web.MessageBody{Message: refusals[i].Message}
		}
		if errors.Is(err, order.ErrNotFound) {
			return http.StatusNotFound, web.MessageBody{Message: OrderNotFound(r.PathValue(orderParam))}
		}
		return next(r, err)
	}
}

func indexOf(refusals []Refusal, err error) int {
	return slices.IndexFunc(refusals, func(row Refusal) bool { return errors.Is(err, row.Err) })
}

// OrderNotFound returns the message about a missing order, the same in both
// versions. id is the order's id or reference as in the path.
func OrderNotFound(id string) string {
	return "The order with id " + strict.Echo(id) + " was not found"
}

// uploadResult returns how an upload that returned an error is counted.
func uploadResult(err error) metrics.UploadResult {
	status := web.Status(err)
	if i := indexOf(refusals, err); i >= 0 {
		status = refusals[i].Status
	} else if errors.Is(err, order.ErrNotFound) {
		status = http.StatusNotFound
	}
	if status < http.StatusInternalServerError {
		return metrics.UploadRefused
	}
	return metrics.UploadFailed
}
