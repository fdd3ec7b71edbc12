package v2

import "net/http"

// uploadInvoice answers POST /orders/{orderReference}/invoices.
func (a *api) uploadInvoice(w http.ResponseWriter, r *http.Request) error {
	return a.invoices.Upload(w, r, orderIdentifier(r), r.PathValue("orderReference"), noHeaders)
}

// deleteInvoice answers DELETE /orders/{orderReference}/invoices/{invoiceId}.
func (a *api) deleteInvoice(w http.ResponseWriter, r *http.Request) error {
	return a.invoices.Delete(w, r, orderIdentifier(r), noHeaders)
}

// noHeaders: this version adds none to those that both have.
func noHeaders(http.Header, string) {}
