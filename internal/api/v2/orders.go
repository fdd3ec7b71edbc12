package v2

import (
	"net/http"

	"merchantorders/internal/web"
)

// listOrders answers GET /orders.
func (a *api) listOrders(w http.ResponseWriter, r *http.Request) error {
	params, err := parseListParams(r)
	if err != nil {
		return err
	}
	page, err := a.orders.List(r.Context(), web.MerchantID(r), params.filter)
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, newListView(params, page, a.orders.Now()))
}

// getOrder answers GET /orders/{orderReference}.
func (a *api) getOrder(w http.ResponseWriter, r *http.Request) error {
	found, err := a.orders.Get(r.Context(), web.MerchantID(r), orderKey(r))
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, newOrderView(found, a.storageURL))
}

// acceptOrder answers PATCH /orders/{orderReference}/accept. A body is not
// looked at.
func (a *api) acceptOrder(w http.ResponseWriter, r *http.Request) error {
	if _, err := a.orders.Accept(r.Context(), web.MerchantID(r), orderKey(r)); err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, successView{Success: true})
}

// rejectOrder answers PATCH /orders/{orderReference}/reject.
func (a *api) rejectOrder(w http.ResponseWriter, r *http.Request) error {
	body, err := web.ReadBody(r, web.MaxBody)
	if err != nil {
		return err
	}
	reason, err := parseRejection(body)
	if err != nil {
		return err
	}
	if _, err := a.orders.Reject(r.Context(), web.MerchantID(r), orderKey(r), reason); err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, successView{Success: true})
}
