package v1

import (
	"net/http"

	"merchantorders/internal/api/invoiceapi"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// uploadInvoice answers POST /orders/{orderId}/invoices.
func (a *api) uploadInvoice(w http.ResponseWriter, r *http.Request) error {
	head, answer, err := a.invoices.Upload(r, orderKey(r), r.PathValue("orderId"))
	if err != nil {
		return err
	}
	a.nameSuccessor(w, head.Reference)
	return web.WriteJSON(w, http.StatusOK, answer)
}

// deleteInvoice answers DELETE /orders/{orderId}/invoices/{invoiceId}.
func (a *api) deleteInvoice(w http.ResponseWriter, r *http.Request) error {
	// A delete tells an order id that cannot be one from one that is unknown.
	number, ok := order.ParseID(r.PathValue("orderId"))
	if !ok {
		return invoiceapi.InvalidParams()
	}
	head, answer, err := a.invoices.Delete(r, order.NumberKey(number))
	if err != nil {
		return err
	}
	a.nameSuccessor(w, head.Reference)
	return web.WriteJSON(w, http.StatusOK, answer)
}
