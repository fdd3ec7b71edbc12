package web_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want int
	}{
		{web.ErrUnauthorized, 401},
		{web.ErrForbidden, 403},
		{web.ErrRouteNotFound, 404},
		{&web.MethodError{Allow: "GET"}, 405},
		{&web.ParamError{Name: "page", Problem: "is odd"}, 400},
		{web.ErrInvalidPayload, 400},
		{order.ErrInvalidRange, 400},
		{order.ErrUnavailable, 503},
		// Errors that only the versions know.
		{order.ErrNotFound, 500},
		{order.ErrUploadFailed, 500},
		{errors.New("anything"), 500},
		{io.ErrUnexpectedEOF, 500},
		{context.DeadlineExceeded, 500},
	} {
		if got := web.Status(test.err); got != test.want {
			t.Errorf("%v: status %d, want %d", test.err, got, test.want)
		}
		if got := web.Status(fmt.Errorf("list orders: %w", test.err)); got != test.want {
			t.Errorf("%v, wrapped: status %d, want %d", test.err, got, test.want)
		}
		if got := web.Status(errors.Join(io.EOF, test.err)); got != test.want {
			t.Errorf("%v, joined: status %d, want %d", test.err, got, test.want)
		}
	}
}
