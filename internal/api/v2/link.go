package v2

import (
	"net/http"

	"merchantorders/internal/api/invoiceapi"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// linkView is a link to an invoice file.
type linkView struct {
	URL       string `json:"url"`
	ExpiresAt string `json:"expiresAt"`
}

// linkInvoice serves POST /orders/{orderReference}/invoices/{invoiceId}/link. It
// ignores the body. The idempotency record has the link: whoever reads the database finds
// the key there that signs links.
func (a API) linkInvoice(r *web.Request) (web.Response, error) {
	id, ok := order.ParseID(r.PathValue("invoiceId"))
	if !ok {
		return web.Response{}, invoiceapi.ErrInvalidParams
	}
	respond := func(result order.WriteResult) web.Response {
		view := linkView{URL: a.BaseURL + "/files/" + result.Link.Text, ExpiresAt: web.TimeText(result.Link.ExpiresAt)}
		return web.Response{Status: http.StatusOK, Body: view, Order: result.LockedOrder}
	}
	result, err := a.Links.Add(r.Context(), r.Caller, orderID(r), id, web.Options(r, respond))
	return respond(result), err
}
