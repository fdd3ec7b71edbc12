package operator

import (
	"net/http"

	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// Deps is what the group works with.
type Deps struct {
	Orders *order.Service
	Tokens *token.Registry
}

// api serves the requests of operators.
type api struct {
	orders *order.Service
	tokens *token.Registry
}

// Routes returns the routes of operators.
func Routes(deps Deps) web.RouteGroup {
	a := &api{orders: deps.Orders, tokens: deps.Tokens}
	return web.RouteGroup{
		Prefix: "/operator",
		Errors: encodeError,
		Routes: []web.Route{
			web.OperatorRoute(http.MethodPost, "/orders", a.importOrder),
			web.OperatorRoute(http.MethodPost, "/merchants/{merchantId}/orders/{orderReference}/state", a.transitionOrder),
			web.OperatorRoute(http.MethodGet, "/merchants", a.listMerchants),
			web.OperatorRoute(http.MethodPost, "/merchants", a.addMerchant),
			web.OperatorRoute(http.MethodGet, "/tokens", a.listTokens),
			web.OperatorRoute(http.MethodPost, "/tokens", a.createToken),
			web.OperatorRoute(http.MethodDelete, "/tokens/{tokenId}", a.revokeToken),
		},
	}
}
