package operator

import (
	"errors"
	"net/http"

	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// importError is a valid order document that was not imported.
type importError struct {
	status order.ImportStatus
	reason string // names the field
}

// Error implements error.
func (e *importError) Error() string { return e.status.String() + ": " + e.reason }

// refusals are the errors of this group alone.
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

// encodeError is the ErrorEncoder of this group. The body is always web.CodedBody.
func encodeError(r *http.Request, err error) (int, any) {
	var document *ingest.DocumentError
	var result *importError
	switch {
	case errors.As(err, &document):
		return http.StatusBadRequest, web.NewCodedBody("invalid_document", document.Error())
	case errors.As(err, &result) && result.status == order.Conflict:
		return http.StatusConflict, web.NewCodedBody("conflict", result.reason)
	case errors.As(err, &result):
		return http.StatusBadRequest, web.NewCodedBody("invalid_document", result.reason)
	}
	for _, row := range refusals {
		if errors.Is(err, row.err) {
			return row.status, web.NewCodedBody(row.code, row.message)
		}
	}
	return web.EncodeCoded(r, err)
}
