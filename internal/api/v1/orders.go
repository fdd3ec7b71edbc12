package v1

import (
	"net/http"

	"merchantorders/internal/api/orderapi"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// listOrders answers GET /orders.
func (a *api) listOrders(r *http.Request) (web.Answer, error) {
	params, err := parseListParams(r)
	if err != nil {
		return web.Answer{}, err
	}
	merchantID, now := web.MerchantID(r), a.orders.Now()
	answer := orderapi.List(r, params.filter, now, func(*web.Answer) (any, error) {
		page, err := a.orders.List(r.Context(), merchantID, params.filter)
		if err != nil {
			return nil, err
		}
		return newListView(params, page, merchantID, now), nil
	})
	answer.Links = append(answer.Links, a.successor(""))
	return answer, nil
}

// getOrder answers GET /orders/{orderId}.
func (a *api) getOrder(r *http.Request) (web.Answer, error) {
	return orderapi.One(r, a.orders, orderKey(r), func(found order.Order, answer *web.Answer) any {
		answer.Links = append(answer.Links, a.successor(found.Reference))
		return newOrderView(found, a.storageURL)
	})
}

// putOrder answers PUT /orders/{orderId}: it accepts or rejects the order.
func (a *api) putOrder(w http.ResponseWriter, r *http.Request) error {
	body, err := web.ReadBody(r, web.MaxBody)
	if err != nil {
		return err
	}
	asked, err := parseAction(body)
	if err != nil {
		return err
	}
	var head order.Head
	if asked.accept {
		head, err = a.orders.Accept(r.Context(), web.MerchantID(r), orderKey(r))
	} else {
		head, err = a.orders.Reject(r.Context(), web.MerchantID(r), orderKey(r), asked.reason)
	}
	if err != nil {
		return err
	}
	a.nameSuccessor(w, head.Reference)
	return web.WriteJSON(w, http.StatusOK, messageView{Message: "success"})
}

// nameSuccessor tells the client where version 2 has what it asked for.
func (a *api) nameSuccessor(w http.ResponseWriter, reference string) {
	w.Header().Set("Link", a.successor(reference))
}

// successor is the Link to what version 2 has in place of a list, or of the
// order with a reference (decision 5).
func (a *api) successor(reference string) string {
	address := a.baseURL + "/v2/orders"
	if reference != "" {
		address += "/" + reference
	}
	return "<" + address + `>; rel="successor-version"`
}
