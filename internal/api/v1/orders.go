package v1

import (
	"net/http"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// listOrders answers GET /orders.
func (a *api) listOrders(w http.ResponseWriter, r *http.Request) error {
	params, err := parseListParams(r)
	if err != nil {
		return err
	}
	merchantID := web.MerchantID(r)
	page, err := a.orders.List(r.Context(), merchantID, params.filter)
	if err != nil {
		return err
	}
	a.nameSuccessor(w.Header(), "")
	return web.WriteJSON(w, http.StatusOK, newListView(params, page, merchantID, a.orders.Now()))
}

// getOrder answers GET /orders/{orderId}.
func (a *api) getOrder(w http.ResponseWriter, r *http.Request) error {
	found, err := a.orders.Get(r.Context(), web.MerchantID(r), orderKey(r))
	if err != nil {
		return err
	}
	a.nameSuccessor(w.Header(), found.Reference)
	w.Header().Set("ETag", web.OrderTag(found.Number, found.Revision))
	return web.WriteJSON(w, http.StatusOK, newOrderView(found, a.storageURL))
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
	var done order.Changed
	if asked.accept {
		done, err = a.orders.Accept(r.Context(), web.MerchantID(r), orderKey(r), change.Attempt())
	} else {
		done, err = a.orders.Reject(r.Context(), web.MerchantID(r), orderKey(r), asked.reason, change.Attempt())
	}
	return change.Answer(w, done, err)
}

// moved is the answer to an accept or a reject.
func (a *api) moved(h http.Header, done order.Changed) any {
	a.nameSuccessor(h, done.Reference)
	return messageView{Message: "success"}
}

// nameSuccessor tells the client where version 2 has what it asked for: the
// list, or the order with a reference (decision 5).
func (a *api) nameSuccessor(h http.Header, reference string) {
	address := a.baseURL + "/v2/orders"
	if reference != "" {
		address += "/" + reference
	}
	h.Set("Link", "<"+address+`>; rel="successor-version"`)
}
