// Package invoiceapi serves the upload and the deletion of invoice files, which are
// the same in both versions apart from the order's identifier (spec 4.3, 4.4).
//
// It knows neither how a version represents orders nor the rules for invoice files:
// it reads what a client sent, calls order.Service, and writes the published
// responses.
package invoiceapi
