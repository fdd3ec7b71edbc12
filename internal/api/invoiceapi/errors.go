package invoiceapi

import (
	"errors"
	"fmt"
	"net/http"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// ErrInvalidParams means that an id in the path is not a number.
var ErrInvalidParams = errors.New("invalid request params")

// refusal is an error with its published status and message.
type refusal struct {
	err     error
	status  int
	message string
}

// refusals are the rows of spec 7.1 for upload and delete. The first match counts:
// an upload that fails because of the storage is a failed upload.
var refusals = []refusal{
	{order.ErrUploadFailed, http.StatusInternalServerError, "There were errors during the upload."},
	{web.ErrInvalidPayload, http.StatusBadRequest, "Invalid payload."},
	{order.ErrUnsupportedFileType, http.StatusBadRequest, "The file type is not supported."},
	{order.ErrFileTooBig, http.StatusBadRequest, "The file size is too big."},
	{order.ErrTooManyFiles, http.StatusBadRequest, fmt.Sprintf("You cannot upload more than %d files.", order.MaxInvoices)},
	{ErrInvalidParams, http.StatusBadRequest, "Invalid request params."},
	{order.ErrInvoiceNotFound, http.StatusNotFound, "The invoice was not found."},
}

// find returns the row of an error. ok is false if it has none.
func find(err error) (row refusal, ok bool) {
	for _, row := range refusals {
		if errors.Is(err, row.err) {
			return row, true
		}
	}
	return refusal{}, false
}

// ErrorEncoder returns the encoder of the invoice routes: the published messages
// for the errors of upload and delete, and next for all others. orderParam is the
// path parameter that identifies the order.
func ErrorEncoder(orderParam string, next web.ErrorEncoder) web.ErrorEncoder {
	return func(r *http.Request, err error) (int, any) {
		if row, ok := find(err); ok {
			return row.status, web.MessageBody{Message: row.message}
		}
		if errors.Is(err, order.ErrNotFound) {
			return http.StatusNotFound, web.MessageBody{Message: OrderNotFound(r.PathValue(orderParam))}
		}
		return next(r, err)
	}
}

// OrderNotFound returns the message about a missing order, the same in both
// versions. id is the order's id or reference as in the path.
func OrderNotFound(id string) string {
	return "The order with id " + web.Echo(id) + " was not found"
}

// uploadResult returns how an upload that returned an error is counted.
func uploadResult(err error) web.UploadResult {
	status := web.Status(err)
	if row, ok := find(err); ok {
		status = row.status
	} else if errors.Is(err, order.ErrNotFound) {
		status = http.StatusNotFound
	}
	if status < http.StatusInternalServerError {
		return web.UploadRefused
	}
	return web.UploadFailed
}
