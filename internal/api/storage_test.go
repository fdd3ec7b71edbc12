package api_test

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"merchantorders/internal/order"

	"github.com/google/go-cmp/cmp"
)

// stored uploads a file to R-1 and returns the path of its URL.
func (s *service) stored(filename, content string) string {
	s.t.Helper()
	got := s.ask(s.merchant, "POST", "/v2/orders/R-1/invoices", uploadBody(filename, content))
	var uploaded struct{ Invoice struct{ URL string } }
	if err := json.Unmarshal([]byte(got.body), &uploaded); err != nil || got.status != http.StatusOK {
		s.t.Fatalf("%d %s", got.status, got.body)
	}
	path, ok := strings.CutPrefix(uploaded.Invoice.URL, baseURL)
	if !ok {
		s.t.Fatalf("the address %s is not below %s", uploaded.Invoice.URL, baseURL)
	}
	return path
}

// TestStorage downloads files from the URLs of their entries.
func TestStorage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		filename, mediaType, name string
	}{
		{"a.pdf", "application/pdf", "a.pdf"},
		{"A.PNG", "image/png", "A.PNG"},
		{"b.jpg", "image/jpeg", "b.jpg"},
		{"c.JPEG", "image/jpeg", "c.JPEG"},
		{`x"; filename=evil.html;.pdf`, "application/pdf", `x"; filename=evil.html;.pdf`},
		{"a?b#c%2F d.pdf", "application/pdf", "a?b#c%2F d.pdf"},
		{"a\r\nSet-Cookie: x=1.pdf", "application/pdf", "aSet-Cookie: x=1.pdf"},
		{"Τιμολόγιο\u202efdp.pdf", "application/pdf", "Τιμολόγιο\u202efdp.pdf"},
		{"...pdf", "application/pdf", "...pdf"},
		{".pdf", "application/pdf", ".pdf"},
		{strings.Repeat("ω", 300) + ".pdf", "application/pdf", strings.Repeat("ω", 98) + ".pdf"},
	}
	content := "%PDF-1.7\n<script>alert(1)</script>\x00\xff"
	for _, test := range tests {
		t.Run(test.filename, func(t *testing.T) {
			t.Parallel()
			s := start(t, setup{})
			path := s.stored(test.filename, content)
			got := s.expect("GET", path, "", 200, content)
			want := map[string]string{
				"Content-Type":            test.mediaType,
				"Content-Length":          strconv.Itoa(len(content)),
				"X-Content-Type-Options":  "nosniff",
				"Content-Security-Policy": "sandbox; default-src 'none'",
				"Cache-Control":           "private, no-store",
				"Accept-Ranges":           "bytes",
				"Set-Cookie":              "",
			}
			for name, value := range want {
				if diff := cmp.Diff(value, got.header.Get(name)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
			disposition, params, err := mime.ParseMediaType(got.header.Get("Content-Disposition"))
			if err != nil || disposition != "attachment" || params["filename"] != test.name {
				t.Errorf("Content-Disposition %q: %v", got.header.Get("Content-Disposition"), err)
			}
			head := s.expect("HEAD", path, "", 200, "")
			if head.header.Get("Content-Length") != strconv.Itoa(len(content)) {
				t.Errorf("HEAD: Content-Length %q", head.header.Get("Content-Length"))
			}
		})
	}
}

func TestStorageRanges(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	path := s.stored("a.pdf", "0123456789")
	ranged := func(value string) response {
		t.Helper()
		return s.send(s.merchant, "GET", path, nil, http.Header{"Range": {value}})
	}
	got := ranged("bytes=2-4")
	s.compare("a range", got, http.StatusPartialContent, "234")
	if got.header.Get("Content-Range") != "bytes 2-4/10" {
		t.Errorf("Content-Range %q", got.header.Get("Content-Range"))
	}
	s.compare("a range to the end", ranged("bytes=8-"), http.StatusPartialContent, "89")
	s.compare("the last bytes", ranged("bytes=-3"), http.StatusPartialContent, "789")

	got = ranged("bytes=10-")
	s.compare("a range past the end", got, http.StatusRequestedRangeNotSatisfiable, `{"message":"Requested Range Not Satisfiable"}`)
	for name, want := range map[string]string{
		"Content-Type": "application/json; charset=utf-8", "Content-Range": "bytes */10", "Content-Disposition": "",
	} {
		if got.header.Get(name) != want {
			t.Errorf("past the end: %s %q, want %q", name, got.header.Get(name), want)
		}
	}
	refused := s.send(s.merchant, "GET", path, nil, http.Header{"If-Match": {`"another"`}})
	s.compare("If-Match", refused, http.StatusPreconditionFailed, `{"message":"Precondition Failed"}`)

	etag := s.ask(s.merchant, "GET", path, "").header.Get("ETag")
	same := s.send(s.merchant, "GET", path, nil, http.Header{"If-None-Match": {etag}})
	s.compare("If-None-Match "+etag, same, http.StatusNotModified, "")
}

// TestDamagedFiles checks that no byte of a file is sent whose content is not that
// of the upload: the response is a 500, logged and counted.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	content := strings.Repeat("0123456789", 100)
	path := s.stored("a.pdf", content)
	file := filepath.Join(s.files, "invoices", "R-1", "a.pdf")
	flipped := []byte(content)
	flipped[990] ^= 1
	requests := 0
	for name, damaged := range map[string]string{
		"shorter": content[:999], "longer": content + "x", "empty": "", "changed": string(flipped), "missing": "",
	} {
		if err := os.WriteFile(file, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if name == "missing" {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		for _, ranged := range []string{"", "bytes=0-9", "bytes=985-", "bytes=0-1,5-6"} {
			got := s.send(s.merchant, "GET", path, nil, http.Header{"Range": {ranged}})
			s.compare(name+" "+ranged, got, http.StatusInternalServerError, `{"message":"Internal Server Error"}`)
			if got.header.Get("Content-Disposition") != "" || got.header.Get("ETag") != "" {
				t.Errorf("%s: headers of a file: %v", name, got.header)
			}
			requests++
		}
		s.expect("HEAD", path, "", 500, "")
		requests++
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	s.expect("GET", path, "", 200, content)
	if want := fmt.Sprintf("merchant_orders_damaged_files_total %d", requests); !strings.Contains(metricsText(s), want) {
		t.Errorf("the metrics have no %q", want)
	}
	logged := 0
	for _, line := range s.logLines("request") {
		if line["level"] == "ERROR" && strings.Contains(line["error"].(string), "invoice 1 of order R-1") {
			logged++
		}
	}
	if logged != requests {
		t.Errorf("%d of %d refused downloads are logged", logged, requests)
	}
}

// TestStorageNotFound checks that everything but the merchant's active files gets the
// same 404.
func TestStorageNotFound(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	path := s.stored("a.pdf", "content")
	deleted := s.stored("b.pdf", "deleted")
	s.ask(s.merchant, "DELETE", "/api/orders/101/invoices/2", "")
	const notFound = `{"message":"The invoice was not found."}`
	for _, hidden := range []string{
		deleted,
		strings.Replace(path, "R-1", "R-2", 1),
		strings.Replace(path, "a.pdf", "A.pdf", 1), strings.Replace(path, "a.pdf", "a.pdf%00", 1),
		strings.Replace(path, "a.pdf", "%2e%2e%2Fa.pdf", 1), strings.Replace(path, "a.pdf", "%2e%2e", 1),
		strings.Replace(path, "a.pdf", "%ff.pdf", 1), strings.Replace(path, "R-1/a.pdf", "%2e%2e/R-1%2Fa.pdf", 1),
		strings.Replace(path, "R-1", "%00", 1),
	} {
		got := s.expect("GET", hidden, "", 404, notFound)
		if got.header.Get("Content-Type") != "application/json; charset=utf-8" || got.header.Get("Content-Disposition") != "" {
			t.Errorf("%s: %v", hidden, got.header)
		}
	}
	for _, place := range []string{"/us/inv/", "/eu/other/", "/%65u/i%00v/"} {
		s.expect("GET", strings.Replace(path, "/eu/inv/", place, 1), "", 200, "content")
	}
	s.compare("foreign", s.ask(s.other, "GET", path, ""), 404, notFound)
	s.compare("without a token", s.ask("", "GET", path, ""), 401, v1Unauthorized)
	s.compare("without a token, elsewhere", s.ask("", "GET", "/storage/us/x/invoices/R-1/a.pdf", ""), 401, v1Unauthorized)
	s.compare("without the scope", s.ask(s.token(355, order.ScopeInvoicesWrite), "GET", path, ""), 403, v1Forbidden)
	s.expect("GET", "/storage/eu/inv/invoices/R-1", "", 404, `{"message":"Not Found"}`)
	s.expect("GET", "/storage/eu/inv/invoices/R-1/", "", 404, `{"message":"Not Found"}`)
	s.expect("GET", path, "", 200, "content")
}

// TestStorageSameBytes checks that a file of the largest size is downloaded as it was
// uploaded.
func TestStorageSameBytes(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	content := make([]byte, 4_000_000)
	for i := range content {
		content[i] = byte(i * i >> 3)
	}
	path := s.stored("big.pdf", string(content))
	got := s.ask(s.merchant, "GET", path, "")
	if got.status != http.StatusOK || got.body != strings.TrimSuffix(string(content), "\n") {
		t.Errorf("%d, %d bytes are not those that were sent", got.status, len(got.body))
	}
}
