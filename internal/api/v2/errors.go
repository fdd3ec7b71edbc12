package v2

import (
	"errors"
	"net/http"

	"merchantorders/internal/api/invoiceapi"
	"merchantorders/internal/api/webhookapi"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// errInvalidAction: the body of a rejection requests another action.
var errInvalidAction = errors.New("invalid action")

// refusals are the rows of spec 7.2 and 7.3 for the order endpoints, and decision 5, with
// the code of the sample bodies, and that of the code table if it is another one.
var refusals = []struct {
	err     error
	samples string
	table   string
	message string
}{
	{order.ErrCannotAccept, "10304", "10303", "Cannot Accept Order"},
	{order.ErrCannotReject, "10304", "", "Cannot Reject Order"},
	{order.ErrInvalidReason, "10301", "10306", "The reason is not valid"},
	{errInvalidAction, "10305", "", "Invalid Action"},
}

const codeNotFound = "10301"

// errorEncoder returns the ErrorEncoder of this version. The bodies are
// web.CodedBody, except for the published errors of upload and delete, which are
// web.MessageBody as in version 1 (spec 7.2, see invoiceapi.ErrorEncoder).
func errorEncoder(tableCodes bool) web.ErrorEncoder {
	return func(r *http.Request, err error) (int, any) {
		if errors.Is(err, order.ErrNotFound) {
			message := invoiceapi.OrderNotFound(r.PathValue("orderReference"))
			return http.StatusNotFound, web.NewCodedBody(codeNotFound, message)
		}
		if status, body, ok := webhookapi.Refusals.Encode(err); ok {
			return status, body
		}
		if status, body, ok := answerRefusals.Encode(err); ok {
			return status, body
		}
		if transition := (*order.TransitionError)(nil); errors.As(err, &transition) { // only in a sandbox
			err = &strict.ParamError{Name: "state", Problem: "cannot be reached from " + transition.From.String()}
		}
		for _, row := range refusals {
			if errors.Is(err, row.err) {
				code := row.samples
				if tableCodes && row.table != "" {
					code = row.table
				}
				return http.StatusBadRequest, web.NewCodedBody(code, row.message)
			}
		}
		return web.EncodeCoded(r, err)
	}
}
