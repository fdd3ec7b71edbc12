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
