package v2

import (
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// rehearse serves POST /sandbox/orders/{orderReference}/state.
func (a API) rehearse(r *web.Request) (web.Response, error) {
	if !a.Sandbox {
		return web.Response{}, web.ErrRouteNotFound
	}
	body := web.ReadObject(r, "state")
	var to order.State
	body.Valid("state", func(name string) (ok bool) {
		to, ok = order.ParseState(name)
		return ok
	}, "must be one of "+order.StateNames())
	if err := body.Err(); err != nil {
		return web.Response{}, err
	}
	result, err := a.Orders.Rehearse(r.Context(), r.Caller, orderID(r), to, web.Options(r, respondSuccess))
	return respondSuccess(result), err
}
