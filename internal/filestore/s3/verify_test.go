package s3_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"merchantorders/internal/filestore"
	"merchantorders/internal/filestore/s3"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestBucketKeepsSomethingElse stores a file in buckets that acknowledge it and keep something
// else: the upload fails and leaves nothing, and the bucket cannot be opened.
func TestBucketKeepsSomethingElse(t *testing.T) {
	t.Parallel()
	for name, mood := range map[string]struct {
		keep   func([]byte) []byte
		etag   string
		stores bool
	}{
		"all":                        {nil, "", true},
		"all, with a tag of its own": {nil, `"tag"`, true},
		"nothing":                    {func([]byte) []byte { return nil }, "", false},
		"a part":                     {func(content []byte) []byte { return content[:len(content)-1] }, "", false},
		"other bytes":                {func(content []byte) []byte { return []byte(strings.ToUpper(string(content))) }, `"tag"`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			memory := new(s3test.Memory)
			server := httptest.NewServer(memory)
			defer server.Close()
			bucket := bucketOn(server)
			files := testenv.Of(s3.Open(t.Context(), bucket)).Must(t)
			testenv.NoError(t, files.OpenStaging(t.TempDir()))
			defer func() { _ = files.Close() }()
			memory.Keep, memory.ETag = mood.keep, mood.etag
			staged := testenv.Of(files.Stage(t.Context())).Must(t)
			testenv.Of(staged.Write([]byte("invoice"))).Must(t)
			if err := staged.Commit(t.Context(), order.InvoicePath("R-1", "a.pdf")); (err == nil) != mood.stores || memory.Objects() > 0 != mood.stores {
				t.Errorf("commit: %v; %d objects are left", err, memory.Objects())
			}
			testenv.Equal(t, "probe", mood.stores, filestore.Probe(t.Context(), files) == nil)
			if _, err := s3.Open(t.Context(), bucket); (err == nil) != mood.stores {
				t.Errorf("open: %v", err)
			}
		})
	}
}

// bucketOn returns a bucket on a server that takes any credentials.
func bucketOn(server *httptest.Server) s3.Bucket {
	return s3.Bucket{Name: "files", Region: s3test.Region, Endpoint: server.URL, Credentials: s3.Credentials{AccessKeyID: "key", SecretAccessKey: "secret"}}
}

// TestBucketOverwrites opens a bucket that ignores If-None-Match.
func TestBucketOverwrites(t *testing.T) {
	t.Parallel()
	for _, overwrites := range []bool{false, true} {
		memory := &s3test.Memory{Overwrites: overwrites}
		server := httptest.NewServer(memory)
		defer server.Close()
		testenv.Equal(t, "overwrites", overwrites, testenv.Of(s3.Open(t.Context(), bucketOn(server))).Must(t).Overwrites())
		testenv.Equal(t, "objects that are left", 0, memory.Objects())
	}
}

// TestBucketRefuses opens buckets that refuse requests: the error says what to do, and whether
// to wait.
func TestBucketRefuses(t *testing.T) {
	t.Parallel()
	for code, test := range map[string]struct {
		status   int
		want     string
		notReady bool
	}{
		"RequestTimeTooSkewed": {403, "synchronize it with NTP", false},
		"ExpiredToken":         {400, "renew them", false},
		"QuotaExceeded":        {403, "is full", false},
		"NotImplemented":       {501, "If-None-Match", false},
		"XMinioStorageFull":    {507, "are full", true},
		"SlowDown":             {503, "S3 responds SlowDown", true},
		"TemporaryRedirect":    {307, "another endpoint", false},
		"a closed connection":  {0, "closed the connection without a response", true},
		"a page":               {200, "not that of an S3 server: check the endpoint", false},
		"listing":              {403, "cannot be listed: the credentials do not allow this", false},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			memory := new(s3test.Memory)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if code == "listing" && strings.Trim(r.URL.Path, "/") != "files" {
					memory.ServeHTTP(w, r)
					return
				}
				if test.status == 0 {
					panic(http.ErrAbortHandler)
				}
				w.WriteHeader(test.status)
				_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", code)
			}))
			defer server.Close()
			_, err := s3.Open(t.Context(), bucketOn(server))
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), order.InvoiceFolder) || s3.IsNotReady(err) != test.notReady {
				t.Errorf("error %v, not ready %t", err, s3.IsNotReady(err))
			}
		})
	}
}
