package commands_test

import (
	"io/fs"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"merchantorders/internal/app"
	"merchantorders/internal/app/apptest"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/testenv"
)

// upload stores an invoice file for an order and returns its address.
func upload(t *testing.T, baseURL, token, reference, filename, content string) string {
	t.Helper()
	got := testenv.Send(t, token, "POST", baseURL+"/v2/orders/"+reference+"/invoices", apptest.UploadBody(filename, []byte(content)))
	got.WantStatus(t, 200)
	uploaded := testenv.Of(apptest.Uploaded(got)).Must(t)
	return uploaded.URL
}

func TestServe(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	testenv.Equal(t, "standard output", s.Listening(), s.Stdout())
	testenv.Contains(t, "log", s.Log(), `"database":"sqlite://`+s.Data+`/orders.db","storage":"file://`+s.Data+`/files"`)
	for path, want := range map[string]int{
		"/healthz": 200, "/readyz": 200, "/metrics": 200, "/nothing": 404,
		"/api/orders": 401, "/v2/orders": 401, "/operator/tokens": 401, "/storage/local/merchant-orders/invoices/a/b.pdf": 401,
	} {
		testenv.Send(t, "", "GET", s.Address(path), "").WantStatus(t, want)
	}
	operator := s.Folder.Token(t, "--operator")
	for _, tc := range []struct{ path, token string }{
		{"/api/orders", s.Token}, {"/v2/orders", s.Token}, {"/operator/merchants", operator},
	} {
		testenv.Send(t, tc.token, "GET", s.Address(tc.path), "").WantStatus(t, 200)
	}
	s.Import(t, document(1))
	address := upload(t, s.BaseURL, s.Token, "T-1", "a.pdf", "content")
	testenv.Equal(t, "the file's address", s.BaseURL+"/storage/local/merchant-orders/invoices/T-1/a.pdf", address)
	testenv.Send(t, s.Token, "GET", address, "").Want(t, "the file", 200, "content")
}

func TestServeLogLevel(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, "--log-level", "warn")
	testenv.Send(t, s.Token, "GET", s.BaseURL+"/v2/orders", "")
	s.Stop(t)
	testenv.Equal(t, "the log at warn", "", s.Log())
}

// TestServePortInUse starts a server on a port that is in use: it makes nothing.
func TestServePortInUse(t *testing.T) {
	t.Parallel()
	listener := testenv.Of(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	defer func() { _ = listener.Close() }()
	f := folder(t)
	got := f.Run(t, "", "serve", "--log-level=error", "--listen", listener.Addr().String())
	want := "merchant-orders: --listen (MERCHANT_ORDERS_LISTEN): " + listener.Addr().String() + " is in use by another program"
	if got.Code != 2 || got.Stdout != "" || !strings.HasPrefix(got.Stderr, want) || strings.Count(got.Stderr, "\n") != 1 {
		t.Errorf("%+v", got)
	}
	testenv.Of(os.Stat(f.Data)).WantError(t, "the data folder", fs.ErrNotExist)
}

// TestServeTestsBucketOnce counts the objects with which a server tests its bucket: the second
// one tries to take the place of the first. Where it can, serve and doctor say so.
func TestServeTestsBucketOnce(t *testing.T) {
	t.Parallel()
	for _, overwrites := range []bool{false, true} {
		memory := &s3test.Memory{Overwrites: overwrites}
		bucket := httptest.NewServer(memory)
		defer bucket.Close()
		f := folder(t)
		f.Settings = []string{"--storage", "s3://bucket?region=eu-central-1&endpoint=" + bucket.URL}
		s := f.Serve(t)
		s.Stop(t)
		testenv.Equal(t, "objects that were written", map[bool]int{false: 1, true: 2}[overwrites], memory.Puts())
		testenv.Equal(t, "objects that are left", 0, memory.Objects())
		got := f.Run(t, "", "doctor")
		for where, text := range map[string]string{"log": s.Log(), "doctor": got.Stdout} {
			testenv.Equal(t, "the "+where+" names it", overwrites, strings.Contains(text, app.BucketOverwrites))
		}
		testenv.Equal(t, "rows of doctor", 1, len(regexp.MustCompile(`(?m)^(ok|warning) +storage `).FindAllString(got.Stdout, -1)))
	}
}

func TestServeLogsText(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, "--log-format=text")
	testenv.Send(t, "", "GET", s.BaseURL+"/v2/orders", "")
	s.Stop(t)
	if !regexp.MustCompile(`(?m)^time=\S+ level=INFO msg=request request=\S+ method=GET route=/v2/orders status=401 `).MatchString(s.Log()) {
		t.Errorf("the log is not text:\n%s", s.Log())
	}
}

func TestProcessFilesAreForTheOwnerOnly(t *testing.T) {
	t.Parallel()
	p := apptest.StartProcess(t, filepath.Join(t.TempDir(), "data"), "--demo")
	err := filepath.Walk(p.Data, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %s", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
