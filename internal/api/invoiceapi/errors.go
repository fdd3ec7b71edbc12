package invoiceapi

import (
	"errors"
	"net/http"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// Error is a refusal by an invoice endpoint, with the status and text that
// spec 7.1 gives it in both versions. Every error of these endpoints that the
// specification names is one; the others belong to each version.
type Error struct {
	Status  int
	Message string // as clients read it
	Err     error  // what happened, for the log
}

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap lets errors.Is see what happened.
func (e *Error) Unwrap() error { return e.Err }

// Body returns the body of the answer.
func (e *Error) Body() any { return web.MessageBody{Message: e.Message} }

// errParams: an identifier in the path has not the form of one.
var errParams = errors.New("invalid request params")

// refusals are the rows of spec 7.1 for upload and delete. The first that fits
// counts: a fault of the storage below an upload is an upload's fault.
var refusals = []struct {
	err     error
	status  int
	message string
}{
	{order.ErrUploadFailed, http.StatusInternalServerError, "There were errors during the upload."},
	{web.ErrInvalidPayload, http.StatusBadRequest, "Invalid payload."},
	{order.ErrUnsupportedFileType, http.StatusBadRequest, "The file type is not supported."},
	{order.ErrFileTooBig, http.StatusBadRequest, "The file size is too big."},
	{order.ErrTooManyFiles, http.StatusBadRequest, "You cannot upload more than 3 files."},
	{errParams, http.StatusBadRequest, "Invalid request params."},
	{order.ErrInvoiceNotFound, http.StatusNotFound, "The invoice was not found."},
}

// refusal gives an error its published status and text, where it has one. id
// is the order as the path names it.
func refusal(err error, id string) error {
	for _, row := range refusals {
		if errors.Is(err, row.err) {
			return &Error{Status: row.status, Message: row.message, Err: err}
		}
	}
	if errors.Is(err, order.ErrNotFound) {
		return &Error{Status: http.StatusNotFound, Message: OrderNotFound(id), Err: err}
	}
	return err
}

// OrderNotFound is the text of a missing order, which both versions share. id
// is the order as the path names it.
func OrderNotFound(id string) string {
	return "The order with id " + web.Echo(id) + " was not found"
}
