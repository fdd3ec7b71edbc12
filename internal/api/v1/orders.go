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
	answer := orderapi.List(r, a.orders, params.filter, now, a.baseURL+"/api/orders", func(page order.Page) any {
		return newListView(params, page, merchantID, now)
	})
	answer.Links = append(answer.Links, a.successor(""))
	return answer, nil
}

// getOrder answers GET /orders/{orderId}.
func (a *api) getOrder(r *http.Request) (web.Answer, error) {
	return orderapi.One(r, a.orders, orderIdentifier(r), func(found order.Order, answer *web.Answer) any {
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
	change := web.NewChange(r, a.moved, nil)
	var done order.WriteResult
	if asked.accept {
		done, err = a.orders.Accept(r.Context(), web.MerchantID(r), orderIdentifier(r), change.Attempt())
	} else {
		done, err = a.orders.Reject(r.Context(), web.MerchantID(r), orderIdentifier(r), asked.reason, change.Attempt())
	}
	return change.Answer(w, done, err)
}

// moved is the answer to an accept or a reject.
func (a *api) moved(h http.Header, done order.WriteResult) any {
	a.nameSuccessor(h, done.Reference)
	return messageView{Message: "success"}
}

// nameSuccessor tells the client where version 2 has what it asked for.
func (a *api) nameSuccessor(h http.Header, reference string) {
	h.Set("Link", a.successor(reference))
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
