package storageapi

import (
	"encoding/hex"
	"fmt"
	"mime"
	"net/http"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// getFile answers GET /{region}/{bucket}/invoices/{orderReference}/{filename}.
func (a *api) getFile(w http.ResponseWriter, r *http.Request) error {
	if r.PathValue("region") != a.region || r.PathValue("bucket") != a.bucket {
		return order.ErrInvoiceNotFound
	}
	invoice, file, err := a.orders.OpenInvoice(r.Context(), web.MerchantID(r),
		r.PathValue("orderReference"), r.PathValue("filename"))
	if err != nil {
		return err
	}
	defer file.Close()
	setHeaders(w.Header(), invoice)
	answer := &contentWriter{ResponseWriter: w}
	http.ServeContent(answer, r, "", invoice.CreatedAt, file)
	if answer.refused != 0 {
		w.Header().Del("Content-Disposition")
		return &contentError{status: answer.refused}
	}
	return nil
}

// setHeaders says what a file is and that it is to be kept, not shown: what is
// in it was never looked at.
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

// contentError says that a range or a condition of the request cannot be met.
type contentError struct {
	status int
}

// Error implements error.
func (e *contentError) Error() string {
	return fmt.Sprintf("the content cannot be sent as asked: status %d", e.status)
}

// contentWriter holds back the errors of http.ServeContent, whose bodies are
// plain text, so that they can be answered in the section's form.
type contentWriter struct {
	http.ResponseWriter
	refused int // status of the error held back; 0: none
}

// WriteHeader implements http.ResponseWriter.
func (w *contentWriter) WriteHeader(status int) {
	if status >= http.StatusBadRequest {
		w.refused = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *contentWriter) Write(p []byte) (int, error) {
	if w.refused != 0 {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *contentWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
