package v2

import "merchantorders/internal/web"

// uploadInvoice serves POST /orders/{orderReference}/invoices.
func (a *api) uploadInvoice(r *web.Request) (web.Write, error) {
	return a.invoices.Upload(r, orderID(r))
}

// deleteInvoice serves DELETE /orders/{orderReference}/invoices/{invoiceId}.
func (a *api) deleteInvoice(r *web.Request) (web.Write, error) {
	return a.invoices.Delete(r, orderID(r))
}
