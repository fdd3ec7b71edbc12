package v1

import (
	"errors"
	"testing"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

func TestErrorEncoder(t *testing.T) {
	t.Parallel()
	apitest.CheckErrors(t, encodeError, "orderId", "12", map[error]string{
		web.ErrUnauthorized:            `401 {"message":"Unauthorized"}`,
		web.ErrForbidden:               `403 {"message":"Forbidden"}`,
		web.ErrRouteNotFound:           `404 {"message":"Not Found"}`,
		&web.MethodError{Allow: "GET"}: `405 {"message":"Method Not Allowed"}`,
		&strict.ParamError{Name: "page", Problem: "is given twice"}: `400 {"message":"Invalid request params."}`,
		order.ErrInvalidRange:                   `400 {"message":"Invalid request params."}`,
		strict.ErrInvalidPayload:                `400 {"message":"Invalid payload."}`,
		errInvalidAction:                        `400 {"message":"Invalid Action"}`,
		order.ErrNotFound:                       `404 {"message":"The order with id 12 was not found"}`,
		order.ErrCannotAccept:                   `400 {"message":"Cannot Accept Order"}`,
		order.ErrCannotReject:                   `400 {"message":"Cannot Reject Order"}`,
		order.ErrInvalidReason:                  `400 {"message":"Reason Is Not Valid"}`,
		order.ErrUnavailable:                    `503 {"message":"Service Unavailable"}`,
		errors.New("SELECT secret FROM orders"): `500 {"message":"Internal Server Error"}`,
	})
}

func TestNotFoundEchoes(t *testing.T) {
	t.Parallel()
	apitest.CheckNotFoundEchoes(t, encodeError, "orderId", order.ErrNotFound, func(message string) any { return web.MessageBody{Message: message} })
}
