// Package storageapi serves stored invoice files to the merchant that owns them,
// below /storage, and to everybody who has a signed link, below /files (decision 6).
// The URLs in orders lead here unless the service is configured with another storage
// URL. The region and the bucket in a URL make no difference: it stays valid after the
// files have moved to another storage.
//
// It does not know how files are stored and does not inspect their content. It
// makes sure that a browser does not run what a merchant uploaded.
package storageapi

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	"merchantorders/internal/metrics"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// API serves the requests for stored files.
type API struct {
	Orders  *order.Service
	Links   *order.Links
	Metrics *metrics.Metrics
}

// Routes returns the route of the stored files.
func (a API) Routes() web.RouteGroup {
	return web.RouteGroup{
		Prefix: "/storage",
		Errors: encodeError,
		Routes: []web.Route{
			web.GetRoute("/{region}/{bucket}/invoices/{orderReference}/{filename}", web.Merchants(order.ScopeOrdersRead), a.getFile).AsStream(),
		},
	}
}

// encodeError is the ErrorEncoder of this group. The body is always
// web.MessageBody (decision 6).
func encodeError(r *http.Request, err error) (int, any) {
	var refused *contentError
	switch {
	case errors.Is(err, order.ErrInvoiceNotFound):
		return http.StatusNotFound, web.MessageBody{Message: "The invoice was not found."}
	case errors.As(err, &refused):
		return refused.status, web.MessageBody{Message: http.StatusText(refused.status)}
	}
	return web.EncodeMessage(r, err)
}

// getFile serves GET /{region}/{bucket}/invoices/{orderReference}/{filename}.
func (a API) getFile(w http.ResponseWriter, r *web.Request) error {
	invoice, file, err := a.Orders.OpenInvoice(r.Context(), r.Caller.MerchantID, r.PathValue("orderReference"), r.PathValue("filename"))
	return a.send(w, r, invoice, file, err)
}

// send sends an opened file, or returns the error of opening it.
func (a API) send(w http.ResponseWriter, r *web.Request, invoice order.Invoice, file order.File, err error) error {
	if errors.Is(err, order.ErrInvoiceDamaged) {
		a.Metrics.DamagedFile()
	}
	if err != nil {
		return err
	}
	defer file.Close()
	setHeaders(w.Header(), invoice)
	content := &contentWriter{ResponseWriter: w}
	http.ServeContent(content, r.Request, "", invoice.CreatedAt, file)
	if content.errorStatus != 0 {
		w.Header().Del("Content-Disposition")
		return &contentError{status: content.errorStatus}
	}
	return nil
}

// setHeaders sets the headers of a file. They make a browser save it and not
// display it, since the service has not inspected the content.
func setHeaders(h http.Header, invoice order.Invoice) {
	mediaType, ok := order.ContentType(invoice.Name)
	if !ok {
		mediaType = "application/octet-stream"
	}
	h.Set("Content-Type", mediaType)
	h.Set("Content-Disposition", web.Attachment(invoice.Name, asciiName(invoice.Name)))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cache-Control", "private, no-store")
	h.Set("ETag", `"`+hex.EncodeToString(invoice.SHA256[:])+`"`)
}

// asciiName returns a name with _ for every letter beyond ASCII.
func asciiName(name string) string {
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII {
			return '_'
		}
		return r
	}, name)
}

// contentError says that http.ServeContent refused a range or a condition of the
// request.
type contentError struct {
	status int
}

// Detail implements strict.Detailed.
func (e *contentError) Detail() string {
	if e.status == http.StatusPreconditionFailed {
		return "The file has not the tag in If-Match, or was stored later: read it again without conditions."
	}
	return "Range must be bytes= and a part of the file, such as bytes=0-99."
}

// Error implements error.
func (e *contentError) Error() string {
	return fmt.Sprintf("the requested range or condition cannot be met: status %d", e.status)
}

// contentWriter suppresses the error responses of http.ServeContent, which are
// plain text, so that the group's ErrorEncoder makes them.
type contentWriter struct {
	http.ResponseWriter
	errorStatus int // of the suppressed response; 0: none
}

// WriteHeader implements http.ResponseWriter.
func (w *contentWriter) WriteHeader(status int) {
	if status >= http.StatusBadRequest {
		w.errorStatus = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *contentWriter) Write(p []byte) (int, error) {
	if w.errorStatus != 0 {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *contentWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
