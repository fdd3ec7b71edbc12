package commands_test

import (
	"crypto/tls"
	"encoding/base64"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/certtest"
	"merchantorders/internal/testenv"
)

// nextCentury is when certificates of these tests expire.
var nextCentury = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// tlsServer is a server with TLS.
type tlsServer struct {
	*apptest.Server
	client *http.Client
}

// startTLS starts a server with TLS, and a client that uses HTTP/2 if h2 is set.
func startTLS(t *testing.T, h2 bool, flags ...string) *tlsServer {
	t.Helper()
	pair := certtest.New(t, nextCentury)
	transport := &http.Transport{ForceAttemptHTTP2: h2, TLSClientConfig: &tls.Config{RootCAs: pair.Pool}}
	t.Cleanup(transport.CloseIdleConnections)
	return &tlsServer{
		Server: apptest.Start(t, append([]string{"--tls-cert", pair.Cert, "--tls-key", pair.Key}, flags...)...),
		client: &http.Client{Transport: transport},
	}
}

// tlsReply is a response of a tlsServer.
type tlsReply struct {
	testenv.Response
	proto      string
	reusedConn bool // the request went over an open connection
}

// do sends a request with the token of the merchant.
func (s *tlsServer) do(t *testing.T, method, path, body string) (reply tlsReply) {
	t.Helper()
	request := testenv.NewRequest(t, s.Token, method, s.BaseURL+path, strings.NewReader(body))
	request = request.WithContext(httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) { reply.reusedConn = info.Reused },
	}))
	reply.Response = testenv.Do(t, func(r *http.Request) (*http.Response, error) {
		response, err := s.client.Do(r)
		if err == nil {
			reply.proto = response.Proto
		}
		return response, err
	}, request)
	return reply
}

// TestServeTLS uploads the largest file, is refused one that is too large, waits for
// events beside other requests, and stops, all over one connection for HTTP/2.
func TestServeTLS(t *testing.T) {
	t.Parallel()
	for name, h2 := range map[string]bool{"HTTP/2.0": true, "HTTP/1.1": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startTLS(t, h2)
			if !strings.HasPrefix(s.BaseURL, "https://127.0.0.1:") || s.Stdout() != s.Listening() {
				t.Errorf("standard output is %q", s.Stdout())
			}
			s.Import(t, document(1))
			content := base64.StdEncoding.EncodeToString(append([]byte("%PDF-1.7\n"), make([]byte, 4_000_000-9)...))
			const uploads = "/v2/orders/T-1/invoices"
			got := s.do(t, "POST", uploads, `{"filename":"a.pdf","contentBase64":"`+content+`"}`)
			if got.proto != name || got.Status != 200 || !strings.Contains(got.Body, `"url":"`+s.BaseURL+`/storage/`) {
				t.Errorf("upload: %+v", got)
			}
			got = s.do(t, "POST", uploads, `{"filename":"b.pdf","contentBase64":"`+content+`AAAA"}`)
			if got.Status != 413 && got.Status != 400 {
				t.Errorf("upload of a file that is too large: %+v", got)
			}
			got = s.do(t, "PATCH", "/v2/orders/T-1/reject", strings.Repeat(" ", 1<<20))
			if got.Status != 400 {
				t.Errorf("a body that is too large: %+v", got)
			}
			events := make(chan string, 1)
			go func() {
				defer close(events)
				events <- s.do(t, "GET", "/v2/events?after=2&wait=30", "").Body
			}()
			for range 20 {
				if got := s.do(t, "GET", "/v2/orders", ""); got.Status != 200 || h2 && !got.reusedConn {
					t.Fatalf("list: %+v", got)
				}
			}
			if got := s.do(t, "PATCH", "/v2/orders/T-1/accept", ""); got.Status != 200 {
				t.Errorf("accept: %+v", got)
			}
			testenv.Contains(t, "events", <-events, "in-processing")
			s.Stop(t)
			testenv.Contains(t, "log", s.Log(), `"msg":"stopped"`)
			testenv.Lacks(t, "log", s.Log(), `"level":"WARN"`)
		})
	}
}

// TestTLSVersion checks that old versions of TLS, and requests without TLS, are
// refused.
func TestTLSVersion(t *testing.T) {
	t.Parallel()
	s := startTLS(t, false)
	address := strings.TrimPrefix(s.BaseURL, "https://")
	for version, want := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		config := s.client.Transport.(*http.Transport).TLSClientConfig.Clone()
		config.MinVersion, config.MaxVersion = version, version
		conn, err := tls.Dial("tcp", address, config)
		if (err == nil) != want {
			t.Errorf("%s: %v", tls.VersionName(version), err)
		}
		if err == nil {
			_ = conn.Close()
		}
	}
	testenv.Send(t, "", "GET", "http://"+address+"/healthz", "").WantStatus(t, 400)
}

// TestAdminListen checks which port serves what, for each way to listen.
func TestAdminListen(t *testing.T) {
	t.Parallel()
	merchant := map[string]int{"/healthz": 200, "/readyz": 200, "/v2/orders": 403, "/docs": 200, "/debug/pprof/": 404}
	operator := map[string]int{"/docs/guide/operator": 200, "/operator/merchants": 200, "/metrics": 200, "/console/operator": 303}
	const unencrypted = "its connections are not encrypted"
	for _, test := range []struct {
		name        string
		flags       []string
		noAdmin     bool
		unencrypted bool
	}{
		{"loopback", nil, false, false},
		{"no listener", []string{"--admin-listen=none"}, true, false},
		{"every address", []string{"--listen=0.0.0.0:0"}, false, true},
		{"behind a proxy", []string{"--listen=0.0.0.0:0", "--trusted-proxies=127.0.0.1"}, false, false},
		{"behind a proxy on this machine", []string{"--trusted-proxies=127.0.0.1"}, false, false},
		{"a public URL", []string{"--base-url=https://orders.example.com"}, false, false},
		{"a local URL", []string{"--base-url=http://localhost:8080/", "--security-contact=mailto:security@example.com"}, false, false},
		{"admin", []string{"--admin-listen=127.0.0.1:0"}, false, false},
		{"metrics", []string{"--listen=0.0.0.0:0", "--metrics-listen=127.0.0.1:0"}, false, true},
		{"admin and metrics", []string{"--admin-listen=127.0.0.1:0", "--metrics-listen=0.0.0.0:0"}, false, true},
		{"admin for others", []string{"--admin-listen=0.0.0.0:0"}, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := apptest.Folder{Data: filepath.Join(t.TempDir(), "data")}.ServeUnchecked(t, test.flags...)
			token := s.Folder.Token(t, "--operator")
			for path, want := range merchant {
				testenv.Send(t, token, "GET", s.BaseURL+path, "").WantStatus(t, want)
			}
			if contact := testenv.Send(t, token, "GET", s.BaseURL+"/.well-known/security.txt", ""); strings.Contains(strings.Join(test.flags, " "), "--security-contact") {
				contact.WantText(t, 200, "Contact: mailto:security@example.com\nExpires: "+time.Now().UTC().AddDate(0, 0, 180).Format("2006-01"))
				testenv.Equal(t, "headers", []string{"nosniff", "no-store"}, []string{contact.Header.Get("X-Content-Type-Options"), contact.Header.Get("Cache-Control")})
			} else {
				contact.WantStatus(t, 404)
			}
			// Nothing shows whether a proxy has passed a request on, so nobody is served.
			for path := range operator {
				testenv.Send(t, token, "GET", s.BaseURL+path, "").WantStatus(t, 404)
				testenv.Send(t, token, "GET", s.BaseURL+path, "", "X-Forwarded-For", "192.0.2.1").WantStatus(t, 404)
			}
			testenv.Equal(t, "where operators are", true, strings.Contains(testenv.Send(t, token, "GET", s.BaseURL+"/operator/orders", "").Header.Get("Error-Detail"), "(admin-listen)"))
			if (s.AdminURL() == "") != test.noAdmin {
				t.Errorf("standard output is %q", s.Stdout())
			}
			if admin := s.AdminURL(); admin != "" {
				checkAdmin(t, admin, token)
			}
			if (s.MetricsURL() != "") != strings.Contains(strings.Join(test.flags, " "), "metrics-listen") {
				t.Errorf("standard output is %q", s.Stdout())
			} else if s.MetricsURL() != "" {
				checkMetrics(t, s.MetricsURL(), token)
			}
			testenv.Equal(t, "the log warns of HTTP without encryption", test.unencrypted, strings.Contains(s.Log(), unencrypted))
		})
	}
}

// checkAdmin checks what the admin listener serves.
func checkAdmin(t *testing.T, address, token string) {
	t.Helper()
	for path, want := range map[string]int{
		"/healthz": 200, "/readyz": 200, "/metrics": 200, "/operator/merchants": 200, "/docs/guide/token": 200, "/docs/guide/operator": 200, "/openapi/operator.json": 200,
		"/debug/pprof/": 200, "/debug/pprof/heap": 200, "/debug/pprof/cmdline": 404,
		"/v2/orders": 404, "/api/orders": 404, "/storage/local/merchant-orders/invoices/a/b.pdf": 404,
	} {
		testenv.Send(t, token, "GET", address+path, "").WantStatus(t, want)
	}
	testenv.Send(t, "", "GET", address+"/readyz", "").Want(t, "admin /readyz", 200, `{"status":"ready","checks":{"server":"ok","database":"ok","storage":"ok"}}`)
	testenv.Send(t, "", "GET", address+"/operator/merchants", "").WantStatus(t, 401)
	for path, want := range map[string]string{
		"/operator/order": "Is /operator/orders meant?", "/operator/import": "Is /operator/orders/import meant?", "/v2/orders": "The interfaces of merchants are on another port (listen).",
	} {
		testenv.Equal(t, path, "Nothing is at this path. The interface of operators is below /operator. "+want, testenv.Send(t, token, "GET", address+path, "").Header.Get("Error-Detail"))
	}
}

// checkMetrics checks that the listener for metrics serves them and the probes, and nothing else.
func checkMetrics(t *testing.T, address, token string) {
	t.Helper()
	for path, want := range map[string]int{
		"/healthz": 200, "/metrics": 200, "/": 404, "/operator/merchants": 404, "/console/operator": 404, "/docs": 404,
		"/debug/pprof/": 404, "/v2/orders": 404, "/openapi/operator.json": 404,
	} {
		testenv.Send(t, token, "GET", address+path, "").WantStatus(t, want)
	}
	testenv.Send(t, "", "GET", address+"/readyz", "").Want(t, "metrics /readyz", 200, `{"status":"ready"}`)
}

// TestAdminListenTLS checks that the admin listener uses TLS, unless only this
// machine can reach it.
func TestAdminListenTLS(t *testing.T) {
	t.Parallel()
	local, others := startTLS(t, true, "--admin-listen=127.0.0.1:0"), startTLS(t, true, "--admin-listen=0.0.0.0:0")
	testenv.Send(t, "", "GET", local.AdminURL()+"/healthz", "").WantStatus(t, 200)
	if !strings.HasPrefix(local.AdminURL(), "http://") {
		t.Errorf("loopback: %s", local.AdminURL())
	}
	response, err := others.client.Get(others.AdminURL() + "/healthz")
	if err != nil || !strings.HasPrefix(others.AdminURL(), "https://") {
		t.Fatalf("every address: %s: %v", others.AdminURL(), err)
	}
	_ = response.Body.Close()
	testenv.Lacks(t, "log", others.Log(), "not encrypted")
}

// TestServeRefusesListeners starts servers with settings of listeners that are
// wrong: one line each that names the setting.
func TestServeRefusesListeners(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, other := certtest.New(t, nextCentury), certtest.New(t, nextCentury)
	text := filepath.Join(dir, "text")
	testenv.NoError(t, os.WriteFile(text, []byte("no certificate"), 0o600))
	for name, test := range map[string]struct {
		flags []string
		want  string
	}{
		"no key":                     {[]string{"--tls-cert", one.Cert}, "--tls-key (MERCHANT_ORDERS_TLS_KEY): is required with --tls-cert"},
		"no certificate":             {[]string{"--tls-key", one.Key}, "--tls-cert (MERCHANT_ORDERS_TLS_CERT): is required with --tls-key"},
		"no such file":               {[]string{"--tls-cert", dir + "/x", "--tls-key", one.Key}, "--tls-cert (MERCHANT_ORDERS_TLS_CERT): " + dir + "/x: cannot read the file: no such file or directory"},
		"text":                       {[]string{"--tls-cert", text, "--tls-key", one.Key}, "--tls-cert (MERCHANT_ORDERS_TLS_CERT): must be a file with a certificate in PEM form: " + text + " has none"},
		"a key for a cert":           {[]string{"--tls-cert", one.Key, "--tls-key", one.Key}, "--tls-cert (MERCHANT_ORDERS_TLS_CERT): must be a file with a certificate in PEM form: " + one.Key + " has none"},
		"another key":                {[]string{"--tls-cert", one.Cert, "--tls-key", other.Key}, "--tls-key (MERCHANT_ORDERS_TLS_KEY): must be a file with the private key of the certificate in " + one.Cert + ", in PEM form: " + other.Key + ": private key does not match public key"},
		"the same port":              {[]string{"--listen=127.0.0.1:18", "--admin-listen=127.0.0.1:18"}, "--admin-listen (MERCHANT_ORDERS_ADMIN_LISTEN): overlaps with --listen 127.0.0.1:18: choose another port"},
		"the same metrics":           {[]string{"--admin-listen=127.0.0.1:18", "--metrics-listen=127.0.0.1:18"}, "--metrics-listen (MERCHANT_ORDERS_METRICS_LISTEN): overlaps with --admin-listen 127.0.0.1:18: choose another port"},
		"no port":                    {[]string{"--admin-listen=127.0.0.1"}, "--admin-listen (MERCHANT_ORDERS_ADMIN_LISTEN): must be host:port with a port"},
		"not bindable":               {[]string{"--admin-listen=192.0.2.1:8081"}, "--admin-listen (MERCHANT_ORDERS_ADMIN_LISTEN): cannot listen on 192.0.2.1:8081: "},
		"no network":                 {[]string{"--trusted-proxies=10.0.0.0/8,proxy"}, "--trusted-proxies (MERCHANT_ORDERS_TRUSTED_PROXIES): must be networks or addresses, separated by commas, such as"},
		"every address":              {[]string{"--trusted-proxies=0.0.0.0/0"}, "--trusted-proxies (MERCHANT_ORDERS_TRUSTED_PROXIES): must not trust every address: 0.0.0.0/0"},
		"a contact without a scheme": {[]string{"--security-contact=security@example.com"}, "--security-contact (MERCHANT_ORDERS_SECURITY_CONTACT): must be a URI such as mailto:security@example.com or https://example.com/security"},
		"a contact of two lines":     {[]string{"--security-contact=https://example.com/\nExpires: x"}, "--security-contact (MERCHANT_ORDERS_SECURITY_CONTACT): must be a URI such as mailto:security@example.com or https://example.com/security"},
		"a drain below 0":            {[]string{"--drain=-1s"}, "--drain (MERCHANT_ORDERS_DRAIN): must be a duration from 0s to 1h, such as 5s"},
		"a wait of a year":           {[]string{"--wait=8760h"}, "--wait (MERCHANT_ORDERS_WAIT): must be a duration from 0s to 1h, such as 5s"},
	} {
		data := filepath.Join(dir, "data")
		got := apptest.Run(t, "", append([]string{"serve", "--data", data, "--listen=127.0.0.1:0"}, test.flags...)...)
		if got.Code != 2 || strings.Count(got.Stderr, "\n") != 1 || !strings.HasPrefix(got.Stderr, "merchant-orders: "+test.want) || got.Stdout != "" {
			t.Errorf("%s: %+v", name, got)
		}
		if _, err := os.Stat(data); err == nil {
			t.Fatalf("%s: the data folder was created", name)
		}
	}
}

// TestExpiredCertificate checks that an expired certificate is a warning, and that health
// reports it.
func TestExpiredCertificate(t *testing.T) {
	t.Parallel()
	pair := certtest.New(t, time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC))
	s := apptest.Start(t, "--tls-cert", pair.Cert, "--tls-key", pair.Key)
	testenv.Contains(t, "log", s.Log(), "the TLS certificate has expired")
	listen := strings.TrimPrefix(s.BaseURL, "https://")
	apptest.Run(t, "", "health", "--listen", listen, "--tls-cert", pair.Cert).WantErr(t, 1,
		"merchant-orders: the TLS certificate of "+s.BaseURL+"/readyz has expired at 2021-01-01T00:00:00Z: clients refuse it\n")
	apptest.Run(t, "", "health", "--live", "--listen", listen, "--tls-cert", pair.Cert).WantOut(t, 0, "ok\n")
}

// TestClientAddressOfServer checks that failed sign-ins are counted and logged by the
// address in the header of a trusted proxy.
func TestClientAddressOfServer(t *testing.T) {
	t.Parallel()
	s := apptest.Folder{Data: filepath.Join(t.TempDir(), "data")}.Serve(t, "--trusted-proxies", "127.0.0.0/8,::1", "--rate-limit=100")
	signIn := func(client string) int {
		t.Helper()
		return testenv.Send(t, "wrong", "GET", s.BaseURL+"/v2/orders", "", "X-Forwarded-For", "198.51.100.1, "+client).Status
	}
	last := 0
	for range 100 { // 60 a minute are allowed
		if last = signIn("203.0.113.9"); last == 429 {
			break
		}
	}
	if other := signIn("203.0.113.10"); last != 429 || other != 401 {
		t.Errorf("one client: %d, another one: %d", last, other)
	}
	s.Stop(t)
	testenv.Contains(t, "log", s.Log(), `"client":"203.0.113.9"`, `"client":"203.0.113.10"`)
	testenv.Lacks(t, "log", s.Log(), "198.51.100.1")
}

// TestProcessDrains checks that a server that is told to stop is not ready, and
// serves requests until the drain time is over, or a second signal.
func TestProcessDrains(t *testing.T) {
	t.Parallel()
	p := apptest.StartProcess(t, filepath.Join(t.TempDir(), "data"), "--drain=1h")
	testenv.Send(t, "", "GET", p.BaseURL+"/readyz", "").WantStatus(t, 200)
	testenv.NoError(t, syscall.Kill(p.PID(), syscall.SIGTERM))
	testenv.Eventually(t, "it is not ready", func() bool {
		got := testenv.Send(t, "", "GET", p.BaseURL+"/readyz", "")
		return got.Status == 503 && got.Body == `{"message":"Service Unavailable"}`
	})
	testenv.Send(t, "", "GET", p.BaseURL+"/healthz", "").WantStatus(t, 200)
	testenv.Send(t, p.Merchant(t, 355), "GET", p.BaseURL+"/v2/orders", "").WantStatus(t, 200)
	testenv.Contains(t, "log", p.Log(), `"msg":"stopping","drain_seconds":3600`)
	if code := p.Stop(t, syscall.SIGTERM); code == 0 {
		t.Errorf("the second signal: exit code %d", code)
	}
}

// TestAdminBaseURL signs an operator in through a proxy that the service knows by its URL
// alone.
func TestAdminBaseURL(t *testing.T) {
	t.Parallel()
	const admin = "https://orders-admin.example.com"
	s := apptest.Folder{Data: filepath.Join(t.TempDir(), "data")}.ServeUnchecked(t, "--base-url=https://orders.example.com", "--admin-base-url="+admin+"/",
		"--admin-listen=127.0.0.1:0", "--metrics-listen=127.0.0.1:0")
	link := s.Run(t, "", "login-link", "--operator", "--name", "Eleni", "--admin-base-url", admin)
	path, ok := strings.CutPrefix(strings.TrimSpace(link.Stdout), admin)
	if !ok {
		t.Fatalf("link %+v", link)
	}
	// The form is sent by a browser without Sec-Fetch-Site, and the proxy replaces Host.
	for origin, want := range map[string]int{"https://orders.example.com": 403, admin: 303} {
		got := testenv.Send(t, "", "POST", s.AdminURL()+path, "", "Origin", origin, "Content-Type", "application/x-www-form-urlencoded")
		got.WantStatus(t, want)
		cookie := got.Header.Get("Set-Cookie")
		if want == 303 && (!strings.Contains(cookie, "Secure") || got.Header.Get("Strict-Transport-Security") == "") {
			t.Errorf("cookie %q, headers %v", cookie, got.Header)
		}
	}
	operator := s.Folder.Token(t, "--operator")
	for _, path := range []string{"/metrics", "/debug/pprof/"} {
		testenv.Send(t, operator, "GET", s.AdminURL()+path, "").WantStatus(t, 404)
		testenv.Send(t, "", "GET", s.MetricsURL()+path, "").WantStatus(t, 200)
	}
	testenv.Send(t, operator, "GET", s.AdminURL()+"/operator/merchants", "").WantStatus(t, 200)
	testenv.Send(t, operator, "GET", s.AdminURL()+"/openapi/operator.yaml", "").WantText(t, 200, admin)
}
