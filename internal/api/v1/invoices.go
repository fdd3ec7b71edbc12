package v1

import (
	"net/http"

	"merchantorders/internal/api/invoiceapi"
	"merchantorders/internal/order"
)

// uploadInvoice answers POST /orders/{orderId}/invoices.
func (a *api) uploadInvoice(w http.ResponseWriter, r *http.Request) error {
	return a.invoices.Upload(w, r, orderIdentifier(r), r.PathValue("orderId"), a.nameSuccessor)
}

// deleteInvoice answers DELETE /orders/{orderId}/invoices/{invoiceId}.
func (a *api) deleteInvoice(w http.ResponseWriter, r *http.Request) error {
	// A delete tells an order id that cannot be one from one that is unknown.
	number, ok := order.ParseID(r.PathValue("orderId"))
	if !ok {
		return invoiceapi.InvalidParams()
	}
	return a.invoices.Delete(w, r, order.ByLegacyID(number), a.nameSuccessor)
}
