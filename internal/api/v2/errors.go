package v2

import (
	"errors"
	"net/http"

	"merchantorders/internal/api/invoiceapi"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// errAction: the body of a reject asks for something else.
var errAction = errors.New("invalid action")

// ErrorCodes says which of the published codes hold where the sample bodies
// and the code table disagree (spec 7.3, decision 5).
type ErrorCodes string

// The values of ErrorCodes.
const (
	Samples ErrorCodes = "samples" // failed accept 10304, invalid reason 10301
	Table   ErrorCodes = "table"   // failed accept 10303, invalid reason 10306
)

// refusals are the rows of spec 7.2 and 7.3 for the order endpoints, and
// decision 5. table is empty where the two sources agree.
var refusals = []struct {
	err     error
	samples string
	table   string
	message string
}{
	{order.ErrCannotAccept, "10304", "10303", "Cannot Accept Order"},
	{order.ErrCannotReject, "10304", "", "Cannot Reject Order"},
	{order.ErrInvalidReason, "10301", "10306", "The reason is not valid"},
	{errAction, "10305", "", "Invalid Action"},
}

const codeNotFound = "10301"

// errorForm returns this version's form of errors. It is the coded one but for
// what the specification lists of upload and delete, which is flat as in
// version 1 (spec 7.2). What these two endpoints have in common with all
// others (401, 403, 405, 503, and 500 other than a failed upload) is coded.
func errorEncoder(codes ErrorCodes) web.ErrorEncoder {
	return func(r *http.Request, err error) (int, any) {
		var invoice *invoiceapi.Error
		if errors.As(err, &invoice) {
			return invoice.Status, invoice.Body()
		}
		if errors.Is(err, order.ErrNotFound) {
			message := invoiceapi.OrderNotFound(r.PathValue("orderReference"))
			return http.StatusNotFound, web.NewErrorBody(codeNotFound, message)
		}
		for _, row := range refusals {
			if errors.Is(err, row.err) {
				code := row.samples
				if codes == Table && row.table != "" {
					code = row.table
				}
				return http.StatusBadRequest, web.NewErrorBody(code, row.message)
			}
		}
		return web.EncodeCoded(r, err)
	}
}
