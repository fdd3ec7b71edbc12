package api_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// stored uploads a file to R-1 and returns the path of its URL.
func (s *service) stored(filename, content string) string {
	s.T.Helper()
	got := s.Send(s.merchant, "POST", "/v2/orders/R-1/invoices", apptest.UploadBody(filename, []byte(content)))
	var uploaded struct{ Invoice struct{ URL string } }
	got.Decode(s.T, &uploaded)
	path, ok := strings.CutPrefix(uploaded.Invoice.URL, baseURL)
	if !ok {
		s.T.Fatalf("the address %s is not below %s", uploaded.Invoice.URL, baseURL)
	}
	return path
}

// Proves decision 6 (ranges, conditions).
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
	testenv.Equal(t, "Content-Range", "bytes 2-4/10", got.Header.Get("Content-Range"))
	ranged("bytes=8-").Want(s.T, "a range to the end", http.StatusPartialContent, "89")
	ranged("bytes=-3").Want(s.T, "the last bytes", http.StatusPartialContent, "789")

	got = ranged("bytes=10-")
	got.Want(s.T, "a range past the end", http.StatusRequestedRangeNotSatisfiable, `{"message":"Requested Range Not Satisfiable"}`)
	for name, want := range map[string]string{
		"Content-Type": "application/json", "Content-Range": "bytes */10", "Content-Disposition": "",
	} {
		testenv.Equal(t, "past the end: "+name, want, got.Header.Get(name))
	}
	refused := s.Send(s.merchant, "GET", path, "", "If-Match", `"another"`)
	refused.Want(s.T, "If-Match", http.StatusPreconditionFailed, `{"message":"Precondition Failed"}`)

	etag := s.Send(s.merchant, "GET", path, "").Header.Get("ETag")
	same := s.Send(s.merchant, "GET", path, "", "If-None-Match", etag)
	same.Want(s.T, "If-None-Match "+etag, http.StatusNotModified, "")
}

// TestDamagedFiles checks that no byte of a file is sent whose content is not that
// of the upload: the response is a 500, logged and counted.
// Proves decision 6 (damaged files).
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
	testenv.Contains(t, "metrics", s.metricsText(), fmt.Sprintf("merchant_orders_damaged_files_total %d", requests))
	logged := 0
	for _, line := range s.logLines("request") {
		if line["level"] == "ERROR" && strings.Contains(line["error"].(string), "invoice 1 of order R-1") {
			logged++
		}
	}
	testenv.Equal(t, "refused downloads in the log", requests, logged)
}
