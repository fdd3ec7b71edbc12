package storageapi

import (
	"encoding/hex"
	"fmt"
	"mime"
	"net/http"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// getFile serves GET /{region}/{bucket}/invoices/{orderReference}/{filename}.
func (a *api) getFile(w http.ResponseWriter, r *web.Request) error {
	if r.PathValue("region") != a.region || r.PathValue("bucket") != a.bucket {
		return order.ErrInvoiceNotFound
	}
	invoice, file, err := a.orders.OpenInvoice(r.Context(), r.MerchantID, r.PathValue("orderReference"), r.PathValue("filename"))
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
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": invoice.Name}))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cache-Control", "private, no-store")
	h.Set("ETag", `"`+hex.EncodeToString(invoice.SHA256[:])+`"`)
}

// contentError says that http.ServeContent refused a range or a condition of the
// request.
type contentError struct {
	status int
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
