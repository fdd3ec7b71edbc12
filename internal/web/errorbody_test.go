package web_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

func TestErrorEncoders(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err         error
		status      int
		flat        string
		code, coded string
	}{
		{web.ErrUnauthorized, 401, "Unauthorized", "unauthorized", "The token is missing or not valid."},
		{web.ErrForbidden, 403, "Forbidden", "forbidden", "The token does not allow this."},
		{web.ErrRouteNotFound, 404, "Not Found", "not_found", "Nothing is served at this path."},
		{&web.MethodError{Allow: "GET, HEAD"}, 405, "Method Not Allowed", "method_not_allowed", "This path does not take that method."},
		{&strict.ParamError{Name: "page", Problem: "is given twice"}, 400, "Invalid request params.", "invalid_params", "page is given twice"},
		{order.ErrInvalidRange, 400, "Invalid request params.", "invalid_params", "the range ends before it begins"},
		{strict.ErrInvalidPayload, 400, "Invalid payload.", "invalid_payload", "Invalid payload."},
		{order.ErrUnavailable, 503, "Service Unavailable", "unavailable", "The service cannot answer for now."},
		{errors.New("password=hunter2"), 500, "Internal Server Error", "internal", "The service failed to answer."},
	} {
		for _, err := range []error{test.err, fmt.Errorf("wrapped: %w", test.err), errors.Join(io.EOF, test.err)} {
			status, body := web.EncodeMessage(nil, err)
			checkForm(t, err, status, body, test.status, web.MessageBody{Message: test.flat})
			status, body = web.EncodeCoded(nil, err)
			checkForm(t, err, status, body, test.status, web.NewCodedBody(test.code, test.coded))
		}
	}
}

func checkForm(t *testing.T, err error, status int, body any, wantStatus int, want any) {
	t.Helper()
	if status != wantStatus || body != want {
		t.Errorf("%v: %d %+v, want %d %+v", err, status, body, wantStatus, want)
	}
}
