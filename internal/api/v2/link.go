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
// ignores the body.
func (a API) linkInvoice(w http.ResponseWriter, r *web.Request) error {
	id, ok := order.ParseID(r.PathValue("invoiceId"))
	if !ok {
		return invoiceapi.ErrInvalidParams
	}
	link, expires, err := a.Links.Add(r.Context(), r.Caller, orderID(r), id)
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, linkView{URL: a.BaseURL + "/files/" + link, ExpiresAt: web.TimeText(expires)})
}
