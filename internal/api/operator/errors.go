package operator

import (
	"errors"
	"net/http"

	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// outcomeError is an order document that was read and not taken.
type outcomeError struct {
	verdict order.ImportStatus
	reason  string // names the field
}

// Error implements error.
func (e *outcomeError) Error() string { return e.verdict.String() + ": " + e.reason }

// refusals are the errors that only this section has.
var refusals = []struct {
	err     error
	status  int
	code    string
	message string
}{
	{order.ErrNotFound, http.StatusNotFound, "not_found", "The order was not found."},
	{order.ErrInvalidTransition, http.StatusConflict, "invalid_move", "The order cannot move to that state from where it stands."},
	{order.ErrMerchantExists, http.StatusConflict, "conflict", "A merchant with that id has another name."},
	{token.ErrNoMerchant, http.StatusNotFound, "not_found", "The merchant was not found."},
	{token.ErrUnknown, http.StatusNotFound, "not_found", "The token was not found."},
}

// errorForm is the form of errors here: coded.
func encodeError(r *http.Request, err error) (int, any) {
	var document *ingest.DocumentError
	var outcome *outcomeError
	switch {
	case errors.As(err, &document):
		return http.StatusBadRequest, web.NewErrorBody("invalid_document", document.Error())
	case errors.As(err, &outcome) && outcome.verdict == order.Conflict:
		return http.StatusConflict, web.NewErrorBody("conflict", outcome.reason)
	case errors.As(err, &outcome):
		return http.StatusBadRequest, web.NewErrorBody("invalid_document", outcome.reason)
	}
	for _, row := range refusals {
		if errors.Is(err, row.err) {
			return row.status, web.NewErrorBody(row.code, row.message)
		}
	}
	return web.EncodeCoded(r, err)
}
