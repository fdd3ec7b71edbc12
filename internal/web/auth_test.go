package web_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// who responds with the merchant of the request's token.
func who(w http.ResponseWriter, r *web.Request) error {
	return web.WriteJSON(w, http.StatusOK, r.Caller.MerchantID)
}

// guarded is a group with a route for each kind of token.
func guarded() web.RouteGroup {
	return web.RouteGroup{Errors: form("rest"), Routes: []web.Route{
		web.GetRoute("/read", web.Merchants(order.ScopeOrdersRead), who),
		web.GetRoute("/write", web.Merchants(order.ScopeOrdersWrite), who),
		web.GetRoute("/invoices", web.Merchants(order.ScopeInvoicesWrite), who),
		web.GetRoute("/operator", web.Operators(order.ScopeOrdersIngest), tell("operator")),
		public("GET", "/open", tell("open")),
	}}
}

func basic(pair string) string { return base64.StdEncoding.EncodeToString([]byte(pair)) }

// verifyError is an Authenticator that fails.
type verifyError struct{ error }

func (v verifyError) Authenticate(context.Context, string, netip.Addr) (token.Grant, error) {
	return token.Grant{}, v.error
}

func TestAuthenticationFails(t *testing.T) {
	t.Parallel()
	for status, err := range map[int]error{
		503: fmt.Errorf("dial the database at db.internal: %w", order.ErrUnavailable),
		500: errors.New("column scopes is missing"),
		401: fmt.Errorf("token 7: %w", token.ErrUnknown),
	} {
		server := serve(t, verifyError{err}, guarded())
		got := server.ask(t, "GET /read", "Authorization: Bearer x")
		if got.status != status || read[failure](t, got.body) != (failure{"rest", status}) {
			t.Errorf("%v: %+v", err, got)
		}
		testenv.Equal(t, fmt.Sprintf("%v: Retry-After", err), status == 503, got.header.Get("Retry-After") != "")
	}
}
