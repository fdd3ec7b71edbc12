package v1

import (
	"errors"
	"net/http"

	"merchantorders/internal/api/invoiceapi"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// errInvalidAction: the body of a PUT requests an action that does not exist.
var errInvalidAction = errors.New("invalid action")

// refusals are the rows of spec 7.1 for the order endpoints, and decision 5.
var refusals = []struct {
	err     error
	status  int
	message string
}{
	{order.ErrCannotAccept, http.StatusBadRequest, "Cannot Accept Order"},
	{order.ErrCannotReject, http.StatusBadRequest, "Cannot Reject Order"},
	{order.ErrInvalidReason, http.StatusBadRequest, "Reason Is Not Valid"},
	{errInvalidAction, http.StatusBadRequest, "Invalid Action"},
}

// encodeError is the ErrorEncoder of this version. The body is always
// web.MessageBody.
func encodeError(r *http.Request, err error) (int, any) {
	if errors.Is(err, order.ErrNotFound) {
		return http.StatusNotFound, web.MessageBody{Message: invoiceapi.OrderNotFound(r.PathValue("orderId"))}
	}
	for _, row := range refusals {
		if errors.Is(err, row.err) {
			return row.status, web.MessageBody{Message: row.message}
		}
	}
	return web.EncodeMessage(r, err)
}
