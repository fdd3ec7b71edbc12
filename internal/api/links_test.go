package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// link makes a link to the first file of R-1 and returns its path.
func (s *service) link() string {
	s.T.Helper()
	got := s.Send(s.merchant, "POST", "/v2/orders/R-1/invoices/1/link", "")
	var made struct{ URL, ExpiresAt string }
	if err := json.Unmarshal([]byte(got.Body), &made); err != nil || got.Status != http.StatusOK || made.ExpiresAt != "2026-11-20T10:15:00Z" {
		s.T.Fatalf("%d %s", got.Status, got.Body)
	}
	path, ok := strings.CutPrefix(made.URL, baseURL)
	if !ok || url.PathEscape(strings.TrimPrefix(path, "/files/")) != strings.TrimPrefix(path, "/files/") {
		s.T.Fatalf("the address is %s", made.URL)
	}
	return path
}

// TestLinks opens a link as a browser does: without a token.
// Proves decision 6 (links).
func TestLinks(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.stored("Τιμολόγιο.pdf", "0123456789")
	path := s.link()
	got := s.Send("", "GET", path, "")
	got.Want(s.T, "the link", http.StatusOK, "0123456789")
	for name, want := range map[string]string{
		"Content-Type":            "application/pdf",
		"Content-Disposition":     "attachment; filename=_________.pdf; filename*=utf-8''%CE%A4%CE%B9%CE%BC%CE%BF%CE%BB%CF%8C%CE%B3%CE%B9%CE%BF.pdf",
		"X-Content-Type-Options":  "nosniff",
		"Content-Security-Policy": "sandbox; default-src 'none'",
		"Cache-Control":           "private, no-store",
		"Referrer-Policy":         "no-referrer",
	} {
		testenv.Equal(t, name, want, got.Header.Get(name))
	}
	head := s.Send("", "HEAD", path, "")
	if head.Status != http.StatusOK || head.Header.Get("Content-Length") != "10" {
		t.Errorf("HEAD: %d, %v", head.Status, head.Header)
	}
	part := s.Send("", "GET", path, "", "Range", "bytes=2-4")
	part.Want(s.T, "a range", http.StatusPartialContent, "234")
	s.Send(s.other, "GET", path, "").Want(s.T, "with a token", http.StatusOK, "0123456789")
	testenv.Equal(t, "links made at the same time", s.link(), path)

	s.At(15*60 - 1*time.Second)
	s.Send("", "GET", path, "").Want(s.T, "just before the expiry", http.StatusOK, "0123456789")
	s.At(15 * 60 * time.Second)
	const expired = "This link has expired. A link to an invoice file is valid for 15 minutes: ask for a new one."
	s.Send("", "GET", path, "").Want(s.T, "at the expiry", http.StatusGone, expired)
	s.Stop()
	signature := path[strings.LastIndex(path, ".")+1:]
	if log := s.Log.String(); strings.Contains(log, signature) || !strings.Contains(log, `"route":"/files/{link}"`) {
		t.Errorf("the log contains the signature, or not the route:\n%s", log)
	}
}

// TestLinkOnce repeats the request for a link with its key: there is one link, with one entry
// in the audit log, also after the key of links was replaced.
func TestLinkOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.stored("a.pdf", "content")
	const path = "/v2/orders/R-1/invoices/1/link"
	first := s.Send(s.merchant, "POST", path, "", "Idempotency-Key", "k", "If-Match", "*")
	first.WantStatus(t, http.StatusOK)
	testenv.Equal(t, "the tag", s.Send(s.merchant, "GET", "/v2/orders/R-1", "").Header.Get("ETag"), first.Header.Get("ETag"))
	s.At(time.Minute)
	again := s.Send(s.merchant, "POST", path, "", "Idempotency-Key", "k", "If-Match", "*")
	again.Want(t, "again", http.StatusOK, first.Body)
	testenv.Equal(t, "Idempotent-Replayed", "true", again.Header.Get("Idempotent-Replayed"))
	s.Send(s.merchant, "POST", path, "", "Idempotency-Key", "k").WantStatus(t, http.StatusUnprocessableEntity)
	s.Send(s.merchant, "POST", path, "", "If-Match", `"other"`).WantStatus(t, http.StatusPreconditionFailed)
	testenv.Equal(t, "entries in the audit log", 1, len(testenv.Of(s.Audit.Page(t.Context(), order.AuditQuery{Action: order.InvoiceLinked, Limit: 10})).Must(t).Entries))
}

// TestLinkPages checks what a person reads whose link does not open.
// Proves decision 6 (links that do not open).
func TestLinkPages(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.stored("a.pdf", "content")
	path := s.link()
	deleted := "This invoice file was deleted."
	invalid := "This link is not valid. Check that the whole address was copied, or ask for a new link."
	s.Send("", "GET", path, "", "Range", "bytes=10-").Want(s.T, "a range past the end", 416, "Requested Range Not Satisfiable.")
	s.Send("", "GET", path, "", "If-Match", `"other"`).Want(s.T, "a condition", 412, "Precondition Failed.")
	s.Send("", "GET", path[:len(path)-3], "").Want(s.T, "a part of the link", 404, invalid)
	testenv.Of(s.Merchants.Suspend(t.Context(), order.Command(), apitest.MerchantID, "unpaid", order.Options[order.Merchant]{})).Must(t)
	s.Send("", "GET", path, "").Want(s.T, "while suspended", 403, "This invoice file cannot be opened now: the merchant is suspended.")
	testenv.Of(s.Merchants.Resume(t.Context(), order.Command(), apitest.MerchantID, order.Options[order.Merchant]{})).Must(t)
	s.Send("", "GET", path, "").Want(s.T, "after that", 200, "content")
	s.Send("", "POST", path, "").Want(s.T, "another method", 405, `{"message":"Method Not Allowed"}`)
	s.Send(s.merchant, "DELETE", "/v2/orders/R-1/invoices/1", "")
	got := s.Send("", "GET", path, "")
	got.Want(s.T, "a deleted file", 404, deleted)
	if got.Header.Get("Content-Type") != "text/plain; charset=utf-8" || got.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers of a text: %v", got.Header)
	}
	got = s.Send("", "GET", path, "", "Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	got.Want(s.T, "in a browser", 404, "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Invoice file</title>\n<p>"+deleted+"</p>\n</html>")
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Referrer-Policy": "no-referrer", "Content-Security-Policy": "sandbox; default-src 'none'",
		"X-Content-Type-Options": "nosniff", "Content-Disposition": "",
	} {
		testenv.Equal(t, "in a browser: "+name, want, got.Header.Get(name))
	}
}
