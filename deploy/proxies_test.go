// Package deploy_test runs the example configurations of proxies in front of the
// service.
package deploy_test

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/certtest"
	"merchantorders/internal/testenv"
)

const (
	// clientAddress is not the address of the proxy.
	clientAddress = "127.0.0.2"
	// patience is how long a proxy may take to start, and a request.
	patience = 2 * time.Minute
)

// order is the document of an order.
const order = `{"merchantId":355,"reference":"T-1","createdAt":"2026-11-20T09:30:00Z","total":2780,"customer":{"firstName":"Maria","lastName":"Pappa"},` +
	`"shippingAddress":{"city":"Athens","countryCode":"GR"},"lineItems":[{"id":1,"productName":"Cable","unitPrice":2780,"quantity":1}]}`

// proxy is a proxy in front of a service.
type proxy struct {
	service *apptest.Server
	url     string
	client  *http.Client
}

// serveFlags returns the flags of the service that the comment of an example gives, with
// a free port.
func serveFlags(t *testing.T, example string) []string {
	t.Helper()
	content := testenv.Of(os.ReadFile(example)).Must(t)
	_, rest, found := strings.Cut(string(content), "merchant-orders serve ")
	flags, _, _ := strings.Cut(rest, "\n")
	if !found || !strings.Contains(flags, "--admin-listen 127.0.0.1:8081") {
		t.Fatalf("%s does not say how to start the service with an admin listener: %q", example, flags)
	}
	return strings.Fields(strings.NewReplacer("127.0.0.1:8081", "127.0.0.1:0", "127.0.0.1:9090", "127.0.0.1:0").Replace(flags))
}

// start starts a service with the flags of an example, and a proxy in front of it.
// configure writes the files of the proxy, which listens on an address and sends requests
// to the upstream, into a folder. It returns the arguments that check the files, and
// those that run the proxy.
func start(t *testing.T, program, example string, configure func(dir, listen, upstream string, pair certtest.Pair) (check, run []string)) *proxy {
	t.Helper()
	service := apptest.Folder{Data: filepath.Join(t.TempDir(), "data")}.ServeUnchecked(t, serveFlags(t, example)...)
	service.Token = service.Merchant(t, apptest.MerchantID)
	service.Import(t, []byte(order))
	dir := t.TempDir()
	pair, listen := certtest.WriteTo(t, dir, time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)), testenv.FreeAddress(t)
	upstream := service.BaseURL
	if strings.Contains(example, "operators") {
		upstream = service.AdminURL()
	}
	check, run := configure(dir, listen, strings.TrimPrefix(upstream, "http://"), pair)
	if output, err := exec.CommandContext(t.Context(), program, check...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", program, check, err, output)
	}
	var output bytes.Buffer
	process := exec.Command(program, run...)
	process.Stdout, process.Stderr = &output, &output
	process.Env = append(os.Environ(), "HOME="+dir)
	testenv.NoError(t, process.Start())
	t.Cleanup(func() {
		_ = process.Process.Signal(os.Interrupt) // it may have ended
		_ = process.Wait()
		if t.Failed() {
			t.Logf("%s:\n%s", program, output.String())
		}
	})
	waitFor(t, listen)
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(clientAddress)}}
	transport := &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: pair.Pool},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &proxy{service: service, url: "https://" + listen, client: &http.Client{Transport: transport, Timeout: patience}}
}

// waitFor waits until something listens on an address.
func waitFor(t *testing.T, address string) {
	t.Helper()
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
			return
		}
		if time.Since(start) > patience {
			t.Fatal(err)
		}
	}
}

// rewrite writes a configuration with other values into a file. The test fails unless it
// has all of the old ones.
func rewrite(t *testing.T, from, to, prefix string, oldNew ...string) {
	t.Helper()
	content := testenv.Of(os.ReadFile(from)).Must(t)
	for i := 0; i < len(oldNew); i += 2 {
		if !strings.Contains(string(content), oldNew[i]) {
			t.Fatalf("%s has no %q", from, oldNew[i])
		}
	}
	text := prefix + strings.NewReplacer(oldNew...).Replace(string(content))
	testenv.NoError(t, os.WriteFile(to, []byte(text), 0o600))
}

// send sends a request, with headers given as name and value in turn.
func (p *proxy) send(method, path, body string, headers ...string) (status int, text string, err error) {
	request, err := http.NewRequest(method, p.url+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := p.client.Do(request)
	if err != nil {
		return 0, "", err
	}
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), errors.Join(err, response.Body.Close())
}

// check sends the requests that a proxy could spoil: an upload of the largest file, a
// request that waits for events, and requests without a valid token.
func (p *proxy) check(t *testing.T) {
	t.Helper()
	token := []string{"Authorization", "Bearer " + p.service.Token}
	file := base64.StdEncoding.EncodeToString(append([]byte("%PDF-1.7\n"), make([]byte, 4_000_000-9)...))
	padding := strings.Repeat(" ", 5<<20)
	status, text, err := p.send("POST", "/v2/orders/T-1/invoices", `{"filename":"a.pdf",`+padding+`"contentBase64":"`+file+`"}`, token...)
	if status != 200 || err != nil {
		t.Errorf("upload: %d %.200s, error %v", status, text, err)
	}
	events := make(chan string, 1)
	go func() {
		status, text, err := p.send("GET", "/v2/events?after=2&wait=30", "", token...)
		events <- fmt.Sprintf("%d %s, error %v", status, text, err)
	}()
	p.checkStrict(t)
	if status, text, err := p.send("PATCH", "/v2/orders/T-1/accept", "", token...); status != 200 || err != nil {
		t.Errorf("accept: %d %s, error %v", status, text, err)
	}
	testenv.Contains(t, "events", <-events, "in-processing")
	for header, value := range map[string]string{"X-Forwarded-For": "198.51.100.7", "Forwarded": "for=198.51.100.7"} {
		if status, text, err := p.send("GET", "/v2/orders", "", header, value); status != 401 || err != nil {
			t.Errorf("without a token: %d %s, error %v", status, text, err)
		}
	}
	p.checkOperators(t)
	p.service.Stop(t)
	refused := 0
	for line := range strings.Lines(p.service.Log()) {
		var entry struct {
			Status int
			Client string
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			t.Errorf("log line %q: %v", line, err)
		}
		if entry.Status == 401 {
			refused++
			testenv.Equal(t, "the client", clientAddress, entry.Client)
		}
	}
	testenv.Equal(t, "requests were refused", 3, refused)
}

// checkStrict checks that browsers are told, once, to use https only.
func (p *proxy) checkStrict(t *testing.T) {
	t.Helper()
	for _, path := range []string{"/", "/v2/orders", "/none"} {
		response, err := p.client.Get(p.url + path)
		testenv.NoError(t, err)
		testenv.NoError(t, response.Body.Close())
		if got := response.Header["Strict-Transport-Security"]; len(got) != 1 || got[0] != "max-age=31536000" {
			t.Errorf("GET %s: Strict-Transport-Security %q", path, got)
		}
	}
}

// checkOperators checks that what is for operators cannot be reached through the proxy.
func (p *proxy) checkOperators(t *testing.T) {
	t.Helper()
	operator := []string{"Authorization", "Bearer " + p.service.Folder.Token(t, "--operator")}
	for _, path := range []string{"/metrics", "/operator/merchants", "/console/operator", "/console/operator/merchants", "/debug/pprof/"} {
		if status, _, err := p.send("GET", path, "", operator...); status != 404 || err != nil {
			t.Errorf("GET %s from outside: %d, error %v", path, status, err)
		}
		if got := testenv.Send(t, operator[1][len("Bearer "):], "GET", p.service.AdminURL()+path, ""); got.Status == 404 {
			t.Errorf("GET %s of the admin listener: %d", path, got.Status)
		}
	}
}

// nginx writes a configuration that includes an example, and returns the arguments that
// check and run it.
func nginx(t *testing.T, dir, example string) (check, run []string) {
	t.Helper()
	main := filepath.Join(dir, "nginx.conf")
	text := "daemon off; worker_processes 1; pid " + dir + "/nginx.pid; error_log stderr;\nevents {}\nhttp {\n\taccess_log off;\n"
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		text += "\t" + kind + "_temp_path " + filepath.Join(dir, kind) + ";\n"
	}
	if os.Getuid() == 0 {
		text = "user root; " + text // who owns the folder
	}
	testenv.NoError(t, os.WriteFile(main, []byte(text+"\tinclude "+example+";\n}\n"), 0o600))
	return []string{"-t", "-e", "stderr", "-c", main}, []string{"-e", "stderr", "-c", main}
}

func TestNginx(t *testing.T) {
	t.Parallel()
	program := testenv.Program(t, "nginx", "nginx-light")
	p := start(t, program, "nginx/merchant-orders.conf", func(dir, listen, upstream string, pair certtest.Pair) (check, run []string) {
		example := filepath.Join(dir, "example.conf")
		rewrite(t, "nginx/merchant-orders.conf", example, "",
			"listen 443 ssl http2;", "listen "+listen+" ssl http2;", "listen 80;", "listen "+testenv.FreeAddress(t)+";", "127.0.0.1:8080", upstream,
			"/etc/nginx/orders.example.com.pem", pair.Cert, "/etc/nginx/orders.example.com.key", pair.Key)
		return nginx(t, dir, example)
	})
	p.checkHalfClosed(t)
	p.check(t) // stops the service
}

// checkHalfClosed sends a request and closes the connection for writing: the client has
// finished sending, and waits for the response.
func (p *proxy) checkHalfClosed(t *testing.T) {
	t.Helper()
	_, text, err := p.send("GET", "/v2/events?after=latest", "", "Authorization", "Bearer "+p.service.Token)
	testenv.NoError(t, err)
	var feed struct{ Newest int64 }
	testenv.NoError(t, json.Unmarshal([]byte(text), &feed))
	config := p.client.Transport.(*http.Transport).TLSClientConfig.Clone()
	config.NextProtos = []string{"http/1.1"}
	conn := testenv.Of(tls.Dial("tcp", strings.TrimPrefix(p.url, "https://"), config)).Must(t)
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprintf(conn, "GET /v2/events?after=%d&wait=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", feed.Newest, p.service.Token)
	testenv.NoError(t, errors.Join(err, conn.CloseWrite(), conn.NetConn().(*net.TCPConn).CloseWrite()))
	testenv.NoError(t, conn.SetReadDeadline(time.Now().Add(patience)))
	if text, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(text), "HTTP/1.1 200 ") || !strings.HasSuffix(string(text), "}\n") {
		t.Errorf("half closed: %q, error %v", text, err)
	}
}

// checkBackOffice checks what operators reach through a proxy.
func (p *proxy) checkBackOffice(t *testing.T) {
	t.Helper()
	operator := []string{"Authorization", "Bearer " + p.service.Folder.Token(t, "--operator")}
	for path, want := range map[string]int{"/operator/merchants": 200, "/console": 200, "/metrics": 404, "/debug/pprof/": 404, "/v2/orders": 404} {
		if status, _, err := p.send("GET", path, "", operator...); status != want || err != nil {
			t.Errorf("GET %s: %d, error %v, want %d", path, status, err, want)
		}
	}
	status, text, err := p.send("POST", "/operator/orders", strings.Replace(order, "T-1", "T-2", 1)+"\n", append(operator, "Content-Type", "application/json")...)
	if status != 201 || err != nil || !strings.Contains(text, `"created"`) {
		t.Errorf("import: %d %s, error %v", status, text, err)
	}
}

func TestNginxForOperators(t *testing.T) {
	t.Parallel()
	program := testenv.Program(t, "nginx", "nginx-light")
	start(t, program, "nginx/operators.conf", func(dir, listen, upstream string, pair certtest.Pair) (check, run []string) {
		example := filepath.Join(dir, "example.conf")
		rewrite(t, "nginx/operators.conf", example, "", "listen 443 ssl http2;", "listen "+listen+" ssl http2;", "127.0.0.1:8081", upstream,
			"/etc/nginx/orders-admin.example.com.pem", pair.Cert, "/etc/nginx/orders-admin.example.com.key", pair.Key)
		return nginx(t, dir, example)
	}).checkBackOffice(t)
}

// caddy writes an example with other values, as rewrite does, and returns the arguments that
// check and run it.
func caddy(t *testing.T, dir, example string, oldNew ...string) (check, run []string) {
	t.Helper()
	file := filepath.Join(dir, "Caddyfile")
	rewrite(t, example, file, "{\n\tadmin off\n\tauto_https disable_redirects\n\tstorage file_system "+dir+"\n}\n", oldNew...)
	return []string{"validate", "--config", file, "--adapter", "caddyfile"}, []string{"run", "--config", file, "--adapter", "caddyfile"}
}

func TestCaddyForOperators(t *testing.T) {
	t.Parallel()
	testenv.Release(t)
	program := testenv.Program(t, "caddy", "caddy")
	start(t, program, "caddy/operators.caddy", func(dir, listen, upstream string, pair certtest.Pair) (check, run []string) {
		return caddy(t, dir, "caddy/operators.caddy", "\norders-admin.example.com {", "\nhttps://"+listen+" {\n\ttls "+pair.Cert+" "+pair.Key, "127.0.0.1:8081", upstream)
	}).checkBackOffice(t)
}

func TestCaddy(t *testing.T) {
	t.Parallel()
	program := testenv.Program(t, "caddy", "caddy")
	start(t, program, "caddy/Caddyfile", func(dir, listen, upstream string, pair certtest.Pair) (check, run []string) {
		return caddy(t, dir, "caddy/Caddyfile", "\norders.example.com {", "\nhttps://"+listen+" {\n\ttls "+pair.Cert+" "+pair.Key, "127.0.0.1:8080", upstream)
	}).check(t)
}

func TestApache(t *testing.T) {
	t.Parallel()
	testenv.Release(t)
	program := testenv.Program(t, "apache2", "apache2-bin")
	start(t, program, "apache/merchant-orders.conf", func(dir, listen, upstream string, pair certtest.Pair) (check, run []string) {
		main, plain := filepath.Join(dir, "apache.conf"), testenv.FreeAddress(t)
		text := "ServerRoot " + dir + "\nServerName localhost\nPidFile apache.pid\nErrorLog /dev/stderr\nDefine APACHE_LOG_DIR " + dir + "\nListen " + listen + "\nListen " + plain + "\n"
		for _, module := range []string{"mpm_event", "authz_core", "setenvif", "alias", "headers", "proxy", "proxy_http", "socache_shmcb", "ssl"} {
			text += "LoadModule " + module + "_module /usr/lib/apache2/modules/mod_" + module + ".so\n"
		}
		if os.Getuid() == 0 {
			text += "User nobody\nGroup nogroup\n"
		}
		rewrite(t, "apache/merchant-orders.conf", main, text, "*:443", listen, "*:80", plain, "127.0.0.1:8080", upstream,
			"/etc/apache2/orders.example.com.pem", pair.Cert, "/etc/apache2/orders.example.com.key", pair.Key)
		return []string{"-t", "-f", main}, []string{"-D", "FOREGROUND", "-f", main}
	}).check(t)
}

func TestHAProxy(t *testing.T) {
	t.Parallel()
	testenv.Release(t)
	program := testenv.Program(t, "haproxy", "haproxy")
	start(t, program, "haproxy/haproxy.cfg", func(dir, listen, upstream string, pair certtest.Pair) (check, run []string) {
		both, main := filepath.Join(dir, "both.pem"), filepath.Join(dir, "haproxy.cfg")
		var content []byte
		for _, name := range []string{pair.Cert, pair.Key} {
			part := testenv.Of(os.ReadFile(name)).Must(t)
			content = append(content, part...)
		}
		testenv.NoError(t, os.WriteFile(both, content, 0o600))
		rewrite(t, "haproxy/haproxy.cfg", main, "", "bind :443", "bind "+listen, "bind :80", "bind "+testenv.FreeAddress(t), "127.0.0.1:8080", upstream,
			"/etc/haproxy/orders.example.com.pem", both)
		return []string{"-c", "-f", main}, []string{"-db", "-f", main}
	}).check(t)
}
