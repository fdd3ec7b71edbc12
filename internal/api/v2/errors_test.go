package v2

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
	for _, codes := range []ErrorCodes{"", Samples, Table} { // Samples is the default
		accept, reason := "10304", "10301"
		if codes == Table {
			accept, reason = "10303", "10306"
		}
		apitest.CheckErrors(t, errorEncoder(codes), "orderReference", "SF-1", map[error]string{
			web.ErrUnauthorized:            `401 {"error":{"code":"unauthorized","message":"The token is missing or not valid."}}`,
			web.ErrForbidden:               `403 {"error":{"code":"forbidden","message":"The token does not allow this."}}`,
			web.ErrRouteNotFound:           `404 {"error":{"code":"not_found","message":"Nothing is served at this path."}}`,
			&web.MethodError{Allow: "GET"}: `405 {"error":{"code":"method_not_allowed","message":"This path does not take that method."}}`,
			&strict.ParamError{Name: "page", Problem: "is given twice"}: `400 {"error":{"code":"invalid_params","message":"page is given twice"}}`,
			order.ErrInvalidRange:                   `400 {"error":{"code":"invalid_params","message":"the range ends before it begins"}}`,
			strict.ErrInvalidPayload:                `400 {"error":{"code":"invalid_payload","message":"Invalid payload."}}`,
			errInvalidAction:                        `400 {"error":{"code":"10305","message":"Invalid Action"}}`,
			order.ErrNotFound:                       `404 {"error":{"code":"10301","message":"The order with id SF-1 was not found"}}`,
			order.ErrCannotAccept:                   `400 {"error":{"code":"` + accept + `","message":"Cannot Accept Order"}}`,
			order.ErrCannotReject:                   `400 {"error":{"code":"10304","message":"Cannot Reject Order"}}`,
			order.ErrInvalidReason:                  `400 {"error":{"code":"` + reason + `","message":"The reason is not valid"}}`,
			order.ErrUnavailable:                    `503 {"error":{"code":"unavailable","message":"The service cannot answer for now."}}`,
			errors.New("SELECT secret FROM orders"): `500 {"error":{"code":"internal","message":"The service failed to answer."}}`,
		})
	}
}

func TestNotFoundEchoes(t *testing.T) {
	t.Parallel()
	apitest.CheckNotFoundEchoes(t, errorEncoder(Samples), "orderReference", order.ErrNotFound, func(message string) any { return web.NewCodedBody("10301", message) })
}
