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
var refusals = []invoiceapi.Refusal{
	{Err: order.ErrCannotAccept, Status: http.StatusBadRequest, Message: "Cannot Accept Order"},
	{Err: order.ErrCannotReject, Status: http.StatusBadRequest, Message: "Cannot Reject Order"},
	{Err: order.ErrInvalidReason, Status: http.StatusBadRequest, Message: "Reason Is Not Valid"},
	{Err: errInvalidAction, Status: http.StatusBadRequest, Message: "Invalid Action"},
}

// encodeError is the ErrorEncoder of this version. The body is always
// web.MessageBody.
var encodeError = invoiceapi.MessageEncoder(refusals, "orderId", web.EncodeMessage)
