package operator

import (
	"net/http"

	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// Deps is what the section works with.
type Deps struct {
	Orders *order.Service
	Tokens *token.Registry
}

// api answers the requests of the operator.
type api struct {
	orders *order.Service
	tokens *token.Registry
}

// Section returns the routes of the operator and its form of errors.
func Routes(deps Deps) web.RouteGroup {
	a := &api{orders: deps.Orders, tokens: deps.Tokens}
	route := func(method, path string, handle web.Handler) web.Route {
		return web.Route{Method: method, Path: path, Access: web.ForOperators, Handle: handle}
	}
	return web.RouteGroup{
		Prefix: "/operator",
		Routes: []web.Route{
			route(http.MethodPost, "/orders", a.addOrder),
			route(http.MethodPost, "/merchants/{merchantId}/orders/{orderReference}/state", a.transitionOrder),
			route(http.MethodGet, "/merchants", a.listMerchants),
			route(http.MethodPost, "/merchants", a.addMerchant),
			route(http.MethodGet, "/tokens", a.listTokens),
			route(http.MethodPost, "/tokens", a.createToken),
			route(http.MethodDelete, "/tokens/{tokenId}", a.revokeToken),
		},
		Errors: encodeError,
	}
}
