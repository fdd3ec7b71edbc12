package web_test

import (
	"net/http"
	"testing"

	"merchantorders/internal/order"
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
