package commands_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/filestore/s3test"
	"merchantorders/internal/testenv"
)

// upload stores an invoice file for an order and returns its address.
func upload(t *testing.T, baseURL, token, reference, filename, content string) string {
	t.Helper()
	got := testenv.Send(t, token, "POST", baseURL+"/v2/orders/"+reference+"/invoices", apptest.UploadBody(filename, []byte(content)))
	got.WantStatus(t, 200)
	uploaded, err := apptest.Uploaded(got)
	testenv.NoError(t, err)
	return uploaded.URL
}

func TestServe(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	if want := s.Listening(); s.Stdout() != want {
		t.Errorf("standard output is %q, want %q", s.Stdout(), want)
	}
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
	if want := s.BaseURL + "/storage/local/merchant-orders/invoices/T-1/a.pdf"; address != want {
		t.Errorf("the file's address is %s, want %s", address, want)
	}
	testenv.Send(t, s.Token, "GET", address, "").Want(t, "the file", 200, "content")
}

func TestServeLogsJSONWithoutTokens(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	testenv.Send(t, s.Token, "GET", s.BaseURL+"/v2/orders", "")
	s.Stop(t)
	requests := 0
	for line := range strings.Lines(s.Log()) {
		var entry struct {
			Msg, Route string
			Status     int
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Errorf("not JSON: %q", line)
		}
		if entry.Msg == "request" && entry.Route == "/v2/orders" && entry.Status == 200 {
			requests++
		}
	}
	if requests != 1 {
		t.Errorf("%d request log lines, want 1:\n%s", requests, s.Log())
	}
	if strings.Contains(s.Log(), s.Token) {
		t.Error("the log contains a token")
	}
}

func TestServeLogLevel(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, "--log-level", "warn")
	testenv.Send(t, s.Token, "GET", s.BaseURL+"/v2/orders", "")
	s.Stop(t)
	if s.Log() != "" {
		t.Errorf("at warn the log is %s", s.Log())
	}
}

func TestServeAddresses(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, "--base-url", "https://orders.example.com/", "--storage-url", "https://cdn.example.com/x/")
	s.Import(t, document(1))
	if got, want := upload(t, s.BaseURL, s.Token, "T-1", "a.pdf", "x"), "https://cdn.example.com/x/invoices/T-1/a.pdf"; got != want {
		t.Errorf("the file's address is %s, want %s", got, want)
	}
	response := testenv.Send(t, s.Token, "GET", s.BaseURL+"/api/orders", "")
	if got, want := response.Header.Get("Link"), `<https://orders.example.com/v2/orders>; rel="successor-version"`; got != want {
		t.Errorf("Link is %s, want %s", got, want)
	}
}

func TestServeErrorCodes(t *testing.T) {
	t.Parallel()
	for codes, want := range map[string]string{"samples": `"10304"`, "table": `"10303"`} {
		s := apptest.Start(t, "--error-codes", codes)
		s.Import(t, document(1, func(d map[string]any) { d["state"] = "canceled" }))
		testenv.Send(t, s.Token, "PATCH", s.BaseURL+"/v2/orders/T-1/accept", "").WantText(t, 400, want)
	}
}

// TestServePortInUse starts a server on a port that is in use: it makes nothing.
func TestServePortInUse(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.NoError(t, err)
	defer func() { _ = listener.Close() }()
	f := folder(t)
	got := f.Run(t, "", "serve", "--log-level=error", "--listen", listener.Addr().String())
	want := "merchant-orders: --listen (MERCHANT_ORDERS_LISTEN): " + listener.Addr().String() + " is in use by another program"
	if got.Code != 2 || got.Stdout != "" || !strings.HasPrefix(got.Stderr, want) || strings.Count(got.Stderr, "\n") != 1 {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(f.Data); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the data folder was created: %v", err)
	}
}

// TestServeTestsBucketOnce counts the objects with which a server tests its bucket.
func TestServeTestsBucketOnce(t *testing.T) {
	t.Parallel()
	memory := new(s3test.Memory)
	bucket := httptest.NewServer(memory)
	defer bucket.Close()
	f := folder(t)
	f.Settings = []string{"--storage", "s3://bucket?region=eu-central-1&endpoint=" + bucket.URL}
	f.Serve(t).Stop(t)
	if got := memory.Puts(); got != 1 || memory.Objects() != 0 {
		t.Errorf("%d objects were written, want 1, and %d are left", got, memory.Objects())
	}
}

func TestServeLogsDatabaseAndStorage(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	want := `"database":"sqlite://` + s.Data + `/orders.db","storage":"file://` + s.Data + `/files"`
	if !strings.Contains(s.Log(), `"msg":"listening"`) || !strings.Contains(s.Log(), want) {
		t.Errorf("no %s in:\n%s", want, s.Log())
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

func TestServeWritesTokenUsesAtShutdown(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	testenv.Send(t, s.Token, "GET", s.BaseURL+"/v2/orders", "")
	s.Stop(t)
	if used := rows(t, s.Run(t, "", "token", "list").Stdout)[0][6]; used == "-" {
		t.Error("the use of the token was not written at shutdown")
	}
}

func TestProcessStopsOnSignals(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		p := apptest.StartProcess(t, filepath.Join(t.TempDir(), "data"))
		testenv.Send(t, "", "GET", p.BaseURL+"/healthz", "").WantStatus(t, 200)
		if code := p.Stop(t, signal); code != 0 {
			t.Errorf("after %s: exit code %d", signal, code)
		}
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

func TestKilledServerRestarts(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	first := apptest.StartProcess(t, data)
	token := first.Merchant(t, 355)
	first.Import(t, document(1))
	testenv.Send(t, token, "PATCH", first.BaseURL+"/v2/orders/T-1/accept", "").WantStatus(t, 200)
	address := upload(t, first.BaseURL, token, "T-1", "a.pdf", "content")
	first.Kill(t)
	second := apptest.StartProcess(t, data)
	testenv.Send(t, token, "GET", second.BaseURL+"/v2/orders/T-1", "").WantText(t, 200, `"state":"in-processing"`)
	path := regexp.MustCompile(`/storage/.*`).FindString(address)
	testenv.Send(t, token, "GET", second.BaseURL+path, "").Want(t, "the file", 200, "content")
	if code := second.Stop(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
