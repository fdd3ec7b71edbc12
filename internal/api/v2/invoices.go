package v2

import (
	"net/http"

	"merchantorders/internal/web"
)

// uploadInvoice answers POST /orders/{orderReference}/invoices.
func (a *api) uploadInvoice(w http.ResponseWriter, r *http.Request) error {
	_, answer, err := a.invoices.Upload(r, orderKey(r), r.PathValue("orderReference"))
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}

// deleteInvoice answers DELETE /orders/{orderReference}/invoices/{invoiceId}.
func (a *api) deleteInvoice(w http.ResponseWriter, r *http.Request) error {
	_, answer, err := a.invoices.Delete(r, orderKey(r))
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}
