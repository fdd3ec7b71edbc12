package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/order"
)

// link makes a link to the first file of R-1 and returns its path.
func (s *service) link() string {
	s.t.Helper()
	got := s.ask(s.merchant, "POST", "/v2/orders/R-1/invoices/1/link", "")
	var made struct{ URL, ExpiresAt string }
	if err := json.Unmarshal([]byte(got.body), &made); err != nil || got.status != http.StatusOK || made.ExpiresAt != "2026-11-20T10:15:00Z" {
		s.t.Fatalf("%d %s", got.status, got.body)
	}
	path, ok := strings.CutPrefix(made.URL, baseURL)
	if !ok || url.PathEscape(strings.TrimPrefix(path, "/files/")) != strings.TrimPrefix(path, "/files/") {
		s.t.Fatalf("the address is %s", made.URL)
	}
	return path
}

// TestLinks opens a link as a browser does: without a token.
func TestLinks(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	s.stored("Τιμολόγιο.pdf", "0123456789")
	path := s.link()
	got := s.ask("", "GET", path, "")
	s.compare("the link", got, http.StatusOK, "0123456789")
	for name, want := range map[string]string{
		"Content-Type":            "application/pdf",
		"Content-Disposition":     "attachment; filename=_________.pdf; filename*=utf-8''%CE%A4%CE%B9%CE%BC%CE%BF%CE%BB%CF%8C%CE%B3%CE%B9%CE%BF.pdf",
		"X-Content-Type-Options":  "nosniff",
		"Content-Security-Policy": "sandbox; default-src 'none'",
		"Cache-Control":           "private, no-store",
		"Referrer-Policy":         "no-referrer",
	} {
		if diff := cmp.Diff(want, got.header.Get(name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	head := s.ask("", "HEAD", path, "")
	if head.status != http.StatusOK || head.header.Get("Content-Length") != "10" {
		t.Errorf("HEAD: %d, %v", head.status, head.header)
	}
	part := s.send("", "GET", path, nil, http.Header{"Range": {"bytes=2-4"}})
	s.compare("a range", part, http.StatusPartialContent, "234")
	s.compare("with a token", s.ask(s.other, "GET", path, ""), http.StatusOK, "0123456789")
	if path != s.link() {
		t.Error("two links made at the same time differ")
	}

	s.seconds.Store(15*60 - 1)
	s.compare("just before the expiry", s.ask("", "GET", path, ""), http.StatusOK, "0123456789")
	s.seconds.Store(15 * 60)
	const expired = "This link has expired. A link to an invoice file is valid for 15 minutes: ask for a new one."
	s.compare("at the expiry", s.ask("", "GET", path, ""), http.StatusGone, expired)
	s.stop()
	signature := path[strings.LastIndex(path, ".")+1:]
	if log := s.log.String(); strings.Contains(log, signature) || !strings.Contains(log, `"route":"/files/{link}"`) {
		t.Errorf("the log contains the signature, or not the route:\n%s", log)
	}
}

// TestLinkPages checks what a person reads whose link does not open.
func TestLinkPages(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	s.stored("a.pdf", "content")
	path := s.link()
	deleted := "This invoice file was deleted."
	invalid := "This link is not valid. Check that the whole address was copied, or ask for a new link."
	s.compare("a range past the end", s.send("", "GET", path, nil, http.Header{"Range": {"bytes=10-"}}), 416, "Requested Range Not Satisfiable.")
	s.compare("a condition", s.send("", "GET", path, nil, http.Header{"If-Match": {`"other"`}}), 412, "Precondition Failed.")
	s.compare("a part of the link", s.ask("", "GET", path[:len(path)-3], ""), 404, invalid)
	if _, err := s.orders.SuspendMerchant(t.Context(), apitest.MerchantID, "unpaid", order.MerchantOptions{}); err != nil {
		t.Fatal(err)
	}
	s.compare("while suspended", s.ask("", "GET", path, ""), 403, "This invoice file cannot be opened now: the merchant is suspended.")
	if _, err := s.orders.ResumeMerchant(t.Context(), apitest.MerchantID, order.MerchantOptions{}); err != nil {
		t.Fatal(err)
	}
	s.compare("after that", s.ask("", "GET", path, ""), 200, "content")
	s.compare("another method", s.ask("", "POST", path, ""), 405, `{"message":"Method Not Allowed"}`)
	s.ask(s.merchant, "DELETE", "/v2/orders/R-1/invoices/1", "")
	got := s.ask("", "GET", path, "")
	s.compare("a deleted file", got, 404, deleted)
	if got.header.Get("Content-Type") != "text/plain; charset=utf-8" || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers of a text: %v", got.header)
	}
	got = s.send("", "GET", path, nil, http.Header{"Accept": {"text/html,application/xhtml+xml,*/*;q=0.8"}})
	s.compare("in a browser", got, 404, "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Invoice file</title>\n<p>"+deleted+"</p>\n</html>")
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Referrer-Policy": "no-referrer", "Content-Security-Policy": "sandbox; default-src 'none'",
		"X-Content-Type-Options": "nosniff", "Content-Disposition": "",
	} {
		if got.header.Get(name) != want {
			t.Errorf("in a browser: %s %q, want %q", name, got.header.Get(name), want)
		}
	}
}
