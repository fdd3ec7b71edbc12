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

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// stored uploads a file to R-1 and returns the path of its URL.
func (s *service) stored(filename, content string) string {
	s.T.Helper()
	got := s.Send(s.merchant, "POST", "/v2/orders/R-1/invoices", uploadBody(filename, content))
	var uploaded struct{ Invoice struct{ URL string } }
	if err := json.Unmarshal([]byte(got.Body), &uploaded); err != nil || got.Status != http.StatusOK {
		s.T.Fatalf("%d %s", got.Status, got.Body)
	}
	path, ok := strings.CutPrefix(uploaded.Invoice.URL, baseURL)
	if !ok {
		s.T.Fatalf("the address %s is not below %s", uploaded.Invoice.URL, baseURL)
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
			s := start(t)
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
				if diff := cmp.Diff(value, got.Header.Get(name)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
			disposition, params, err := mime.ParseMediaType(got.Header.Get("Content-Disposition"))
			if err != nil || disposition != "attachment" || params["filename"] != test.name {
				t.Errorf("Content-Disposition %q: %v", got.Header.Get("Content-Disposition"), err)
			}
			head := s.expect("HEAD", path, "", 200, "")
			if head.Header.Get("Content-Length") != strconv.Itoa(len(content)) {
				t.Errorf("HEAD: Content-Length %q", head.Header.Get("Content-Length"))
			}
		})
	}
}

func TestStorageRanges(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := s.stored("a.pdf", "0123456789")
	ranged := func(value string) testenv.Response {
		t.Helper()
		return s.Send(s.merchant, "GET", path, "", "Range", value)
	}
	got := ranged("bytes=2-4")
	got.Want(s.T, "a range", http.StatusPartialContent, "234")
	if got.Header.Get("Content-Range") != "bytes 2-4/10" {
		t.Errorf("Content-Range %q", got.Header.Get("Content-Range"))
	}
	ranged("bytes=8-").Want(s.T, "a range to the end", http.StatusPartialContent, "89")
	ranged("bytes=-3").Want(s.T, "the last bytes", http.StatusPartialContent, "789")

	got = ranged("bytes=10-")
	got.Want(s.T, "a range past the end", http.StatusRequestedRangeNotSatisfiable, `{"message":"Requested Range Not Satisfiable"}`)
	for name, want := range map[string]string{
		"Content-Type": "application/json; charset=utf-8", "Content-Range": "bytes */10", "Content-Disposition": "",
	} {
		if got.Header.Get(name) != want {
			t.Errorf("past the end: %s %q, want %q", name, got.Header.Get(name), want)
		}
	}
	refused := s.Send(s.merchant, "GET", path, "", "If-Match", `"another"`)
	refused.Want(s.T, "If-Match", http.StatusPreconditionFailed, `{"message":"Precondition Failed"}`)

	etag := s.Send(s.merchant, "GET", path, "").Header.Get("ETag")
	same := s.Send(s.merchant, "GET", path, "", "If-None-Match", etag)
	same.Want(s.T, "If-None-Match "+etag, http.StatusNotModified, "")
}

// TestDamagedFiles checks that no byte of a file is sent whose content is not that
// of the upload: the response is a 500, logged and counted.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	s := start(t)
	content := strings.Repeat("0123456789", 100)
	path := s.stored("a.pdf", content)
	file := filepath.Join(s.Folder, "invoices", "R-1", "a.pdf")
	flipped := []byte(content)
	flipped[990] ^= 1
	requests := 0
	for name, damaged := range map[string]string{
		"shorter": content[:999], "longer": content + "x", "empty": "", "changed": string(flipped), "missing": "",
	} {
		testenv.NoError(t, os.WriteFile(file, []byte(damaged), 0o600))
		if name == "missing" {
			testenv.NoError(t, os.Remove(file))
		}
		for _, ranged := range []string{"", "bytes=0-9", "bytes=985-", "bytes=0-1,5-6"} {
			got := s.Send(s.merchant, "GET", path, "", "Range", ranged)
			got.Want(s.T, name+" "+ranged, http.StatusInternalServerError, `{"message":"Internal Server Error"}`)
			if got.Header.Get("Content-Disposition") != "" || got.Header.Get("ETag") != "" {
				t.Errorf("%s: headers of a file: %v", name, got.Header)
			}
			requests++
		}
		s.expect("HEAD", path, "", 500, "")
		requests++
	}
	testenv.NoError(t, os.WriteFile(file, []byte(content), 0o600))
	s.expect("GET", path, "", 200, content)
	if want := fmt.Sprintf("merchant_orders_damaged_files_total %d", requests); !strings.Contains(s.metricsText(), want) {
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
	s := start(t)
	path := s.stored("a.pdf", "content")
	deleted := s.stored("b.pdf", "deleted")
	s.Send(s.merchant, "DELETE", "/api/orders/101/invoices/2", "")
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
		if got.Header.Get("Content-Type") != "application/json; charset=utf-8" || got.Header.Get("Content-Disposition") != "" {
			t.Errorf("%s: %v", hidden, got.Header)
		}
	}
	for _, place := range []string{"/us/inv/", "/eu/other/", "/%65u/i%00v/"} {
		s.expect("GET", strings.Replace(path, "/eu/inv/", place, 1), "", 200, "content")
	}
	s.Send(s.other, "GET", path, "").Want(s.T, "foreign", 404, notFound)
	s.Send("", "GET", path, "").Want(s.T, "without a token", 401, v1Unauthorized)
	s.Send("", "GET", "/storage/us/x/invoices/R-1/a.pdf", "").Want(s.T, "without a token, elsewhere", 401, v1Unauthorized)
	s.Send(s.NewToken(355, order.ScopeInvoicesWrite), "GET", path, "").Want(s.T, "without the scope", 403, v1Forbidden)
	s.expect("GET", "/storage/eu/inv/invoices/R-1", "", 404, `{"message":"Not Found"}`)
	s.expect("GET", "/storage/eu/inv/invoices/R-1/", "", 404, `{"message":"Not Found"}`)
	s.expect("GET", path, "", 200, "content")
}

// TestStorageSameBytes checks that a file of the largest size is downloaded as it was
// uploaded.
func TestStorageSameBytes(t *testing.T) {
	t.Parallel()
	s := start(t)
	content := make([]byte, 4_000_000)
	for i := range content {
		content[i] = byte(i * i >> 3)
	}
	path := s.stored("big.pdf", string(content))
	got := s.Send(s.merchant, "GET", path, "")
	if got.Status != http.StatusOK || got.Body != strings.TrimSuffix(string(content), "\n") {
		t.Errorf("%d, %d bytes are not those that were sent", got.Status, len(got.Body))
	}
}
