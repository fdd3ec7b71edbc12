package v2

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
	now := a.orders.Now()
	return orderapi.List(r, a.orders, params.filter, now, a.baseURL+"/v2/orders", func(page order.Page) any {
		return newListView(params, page, now)
	}), nil
}

// getOrder answers GET /orders/{orderReference}.
func (a *api) getOrder(r *http.Request) (web.Answer, error) {
	return orderapi.One(r, a.orders, orderIdentifier(r), func(found order.Order, _ *web.Answer) any {
		return newOrderView(found, a.storageURL)
	})
}

// acceptOrder answers PATCH /orders/{orderReference}/accept. A body is not
// looked at.
func (a *api) acceptOrder(w http.ResponseWriter, r *http.Request) error {
	change := web.NewChange(r, moved, nil)
	done, err := a.orders.Accept(r.Context(), web.MerchantID(r), orderIdentifier(r), change.Attempt())
	return change.Answer(w, done, err)
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
	change := web.NewChange(r, moved, nil)
	done, err := a.orders.Reject(r.Context(), web.MerchantID(r), orderIdentifier(r), reason, change.Attempt())
	return change.Answer(w, done, err)
}

// moved is the answer to an accept or a reject.
func moved(http.Header, order.WriteResult) any { return successView{Success: true} }
