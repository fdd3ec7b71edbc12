package commands_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"merchantorders/internal/app/apptest"
)

// call sends one request with a token, unless that is empty.
func call(t *testing.T, method, url, token, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(content)
}

func get(t *testing.T, url, token string) (int, string) {
	t.Helper()
	return call(t, http.MethodGet, url, token, "")
}

// upload stores an invoice file for an order and returns its address.
func upload(t *testing.T, baseURL, token, reference, filename, content string) string {
	t.Helper()
	body := `{"filename":"` + filename + `","contentBase64":"` + base64.StdEncoding.EncodeToString([]byte(content)) + `"}`
	status, response := call(t, http.MethodPost, baseURL+"/v2/orders/"+reference+"/invoices", token, body)
	var uploaded struct{ Invoice struct{ URL string } }
	if err := json.Unmarshal([]byte(response), &uploaded); status != 200 || err != nil {
		t.Fatalf("upload: %d %s", status, response)
	}
	return uploaded.Invoice.URL
}

func TestServe(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	if want := "Merchant Orders listens on " + s.BaseURL + "\n"; s.Stdout() != want {
		t.Errorf("standard output is %q, want %q", s.Stdout(), want)
	}
	for path, want := range map[string]int{
		"/healthz": 200, "/readyz": 200, "/metrics": 200, "/nothing": 404,
		"/api/orders": 401, "/v2/orders": 401, "/operator/tokens": 401, "/storage/local/merchant-orders/invoices/a/b.pdf": 401,
	} {
		if got, body := get(t, s.BaseURL+path, ""); got != want {
			t.Errorf("%s: %d %s, want %d", path, got, body, want)
		}
	}
	operator := s.Folder.Token(t, "--operator")
	for _, tc := range []struct{ path, token string }{
		{"/api/orders", s.Token}, {"/v2/orders", s.Token}, {"/operator/merchants", operator},
	} {
		if got, body := get(t, s.BaseURL+tc.path, tc.token); got != 200 {
			t.Errorf("%s: %d %s", tc.path, got, body)
		}
	}
	s.Import(t, document(1))
	address := upload(t, s.BaseURL, s.Token, "T-1", "a.pdf", "content")
	if want := s.BaseURL + "/storage/local/merchant-orders/invoices/T-1/a.pdf"; address != want {
		t.Errorf("the file's address is %s, want %s", address, want)
	}
	if status, body := get(t, address, s.Token); status != 200 || body != "content" {
		t.Errorf("the file: %d %q", status, body)
	}
}

func TestServeLogsJSONWithoutTokens(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	get(t, s.BaseURL+"/v2/orders", s.Token)
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
	get(t, s.BaseURL+"/v2/orders", s.Token)
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
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.BaseURL+"/api/orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+s.Token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if got, want := response.Header.Get("Link"), `<https://orders.example.com/v2/orders>; rel="successor-version"`; got != want {
		t.Errorf("Link is %s, want %s", got, want)
	}
}

func TestServeErrorCodes(t *testing.T) {
	t.Parallel()
	for codes, want := range map[string]string{"samples": `"10304"`, "table": `"10303"`} {
		s := apptest.Start(t, "--error-codes", codes)
		s.Import(t, document(1, func(d map[string]any) { d["state"] = "canceled" }))
		status, body := call(t, http.MethodPatch, s.BaseURL+"/v2/orders/T-1/accept", s.Token, "")
		if status != 400 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s, want code %s", codes, status, body, want)
		}
	}
}

// TestServePortInUse starts a server on a port that is in use: it makes nothing.
func TestServePortInUse(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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
	var puts atomic.Int64
	bucket := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"x"`)
		w.Header().Set("Last-Modified", "Sun, 01 Nov 2026 00:00:00 GMT")
		switch r.Method {
		case http.MethodPut:
			puts.Add(1)
		case http.MethodDelete:
			w.WriteHeader(http.StatusNoContent)
		case http.MethodGet:
			_, _ = io.WriteString(w, "<ListBucketResult></ListBucketResult>")
		}
	}))
	defer bucket.Close()
	f := folder(t)
	f.Settings = []string{"--storage", "s3://bucket?region=eu-central-1&endpoint=" + bucket.URL}
	f.Serve(t).Stop(t)
	if got := puts.Load(); got != 1 {
		t.Errorf("%d objects were written, want 1", got)
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
	get(t, s.BaseURL+"/healthz", "")
	s.Stop(t)
	if !regexp.MustCompile(`(?m)^time=\S+ level=INFO msg=request request=\S+ method=GET route=/healthz status=200 `).MatchString(s.Log()) {
		t.Errorf("the log is not text:\n%s", s.Log())
	}
}

func TestServeWritesTokenUsesAtShutdown(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	get(t, s.BaseURL+"/v2/orders", s.Token)
	s.Stop(t)
	if used := rows(t, s.Run(t, "", "token", "list").Stdout)[0][6]; used == "-" {
		t.Error("the use of the token was not written at shutdown")
	}
}

func TestRevocationIsEffectiveAtOnce(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	if status, _ := get(t, s.BaseURL+"/v2/orders", s.Token); status != 200 {
		t.Fatalf("before: %d", status)
	}
	if got := s.Run(t, "", "token", "revoke", "1"); got.Code != 0 {
		t.Fatal(got)
	}
	if status, _ := get(t, s.BaseURL+"/v2/orders", s.Token); status != 401 {
		t.Errorf("after: %d, want 401", status)
	}
}

func TestProcessStopsOnSignals(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		p := apptest.StartProcess(t, filepath.Join(t.TempDir(), "data"))
		if status, body := get(t, p.BaseURL+"/healthz", ""); status != 200 {
			t.Errorf("%d %s", status, body)
		}
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
	if status, body := call(t, http.MethodPatch, first.BaseURL+"/v2/orders/T-1/accept", token, ""); status != 200 {
		t.Fatalf("accept: %d %s", status, body)
	}
	address := upload(t, first.BaseURL, token, "T-1", "a.pdf", "content")
	first.Kill(t)
	second := apptest.StartProcess(t, data)
	status, body := get(t, second.BaseURL+"/v2/orders/T-1", token)
	if status != 200 || !strings.Contains(body, `"state":"in-processing"`) {
		t.Errorf("the accepted order: %d %s", status, body)
	}
	path := regexp.MustCompile(`/storage/.*`).FindString(address)
	if status, body := get(t, second.BaseURL+path, token); status != 200 || body != "content" {
		t.Errorf("the uploaded file: %d %q", status, body)
	}
	if code := second.Stop(t, syscall.SIGTERM); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
