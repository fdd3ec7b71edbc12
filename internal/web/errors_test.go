package web_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
)

// TestTooManyIdempotencyKeys checks what a client reads that has used too many keys.
func TestTooManyIdempotencyKeys(t *testing.T) {
	t.Parallel()
	server := serve(t, tokens{}, web.RouteGroup{Errors: web.EncodeCoded, Routes: []web.Route{
		public("POST", "/full", func(http.ResponseWriter, *web.Request) error { return order.ErrTooManyIdempotencyKeys }),
	}})
	got := server.ask(t, "POST /full")
	const want = `{"error":{"code":"too_many_requests","message":"Too many idempotency keys in a day."}}` + "\n"
	if got.status != 429 || got.header.Get("Retry-After") != "60" || got.body != want {
		t.Errorf("%+v", got)
	}
}

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
		{&strict.ParamError{Name: "page", Problem: "is odd"}, 400},
		{strict.ErrInvalidPayload, 400},
		{order.ErrInvalidRange, 400},
		{order.ErrUnavailable, 503},
		{order.ErrTooManyIdempotencyKeys, 429},
		// Errors that only the versions know.
		{order.ErrNotFound, 500},
		{order.ErrUploadFailed, 500},
		{errors.New("anything"), 500},
		{io.ErrUnexpectedEOF, 500},
		{context.DeadlineExceeded, 500},
	} {
		testenv.Equal(t, fmt.Sprintf("%v: status", test.err), test.want, web.Status(test.err))
		testenv.Equal(t, fmt.Sprintf("%v, wrapped: status", test.err), test.want, web.Status(fmt.Errorf("list orders: %w", test.err)))
		testenv.Equal(t, fmt.Sprintf("%v, joined: status", test.err), test.want, web.Status(errors.Join(io.EOF, test.err)))
	}
}
