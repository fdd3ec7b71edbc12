package v1

import (
	"merchantorders/internal/api/invoiceapi"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// uploadInvoice serves POST /orders/{orderId}/invoices.
func (a *api) uploadInvoice(r *web.Request) (web.Write, error) {
	write, err := a.invoices.Upload(r, orderID(r))
	return a.withSuccessorLink(write), err
}

// deleteInvoice serves DELETE /orders/{orderId}/invoices/{invoiceId}. Unlike the
// other routes it distinguishes an invalid order id from an unknown one.
func (a *api) deleteInvoice(r *web.Request) (web.Write, error) {
	if _, ok := order.ParseID(r.PathValue("orderId")); !ok {
		return web.Write{}, invoiceapi.ErrInvalidParams
	}
	write, err := a.invoices.Delete(r, orderID(r))
	return a.withSuccessorLink(write), err
}
