package webhook

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"html"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"code.dny.dev/ssrf"

	"merchantorders/internal/delivery"
	"merchantorders/internal/testenv"
)

// hostile are hosts of URLs that must never be connected to. Names are resolved to the
// address after the space.
var hostile = []string{
	// Loopback and "this" host, in all notations.
	"127.0.0.1", "127.0.0.2", "127.1.2.3", "127.255.255.254", "0.0.0.0", "0.1.2.3", "[::1]", "[::]",
	"localhost 127.0.0.1", "LOCALHOST 127.0.0.1", "localhost. 127.0.0.1", "a.localhost 127.0.0.1",
	"2130706433 127.0.0.1", "0x7f000001 127.0.0.1", "0x7f.0.0.1 127.0.0.1", "0177.0.0.1 127.0.0.1", "017700000001 127.0.0.1",
	"127.1 127.0.0.1", "127.0.1 127.0.0.1", "127.0.0.1. 127.0.0.1", "0 127.0.0.1", "00000127.0.0.1 127.0.0.1",
	// Link-local, metadata services.
	"169.254.169.254", "169.254.0.1", "2852039166 169.254.169.254", "[fe80::1]", "[fe80::1%25lo]", "[fd00:ec2::254]",
	"metadata.google.internal 169.254.169.254", "metadata 169.254.169.254", "100.100.100.200",
	// Private, shared, reserved, multicast, documentation, benchmarking.
	"10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.254", "192.168.0.1", "192.168.255.255", "100.64.0.1", "100.127.255.254",
	"192.0.0.8", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "192.88.99.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
	"[fc00::1]", "[fdff::1]", "[ff02::1]", "[2001:db8::1]", "[3fff::1]", "[fec0::1]",
	// IPv4 inside of IPv6: mapped, compatible, NAT64, 6to4, Teredo.
	"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:10.0.0.1]", "[::ffff:169.254.169.254]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::a00:1]",
	"[2002:7f00:1::]", "[2001:0:7f00:1::]",
	// Names that lead inside, as after a rebinding.
	"rebind.example.com 127.0.0.1", "mapped.example.com ::ffff:127.0.0.1", "six.example.com ::1", "private.example.com 10.0.0.1",
	"wildcard.10.0.0.1.nip.io 10.0.0.1", "xn--nxasmq6b.example 192.168.0.1",
}

// listener counts the connections to a port of this machine, on all its addresses.
func listener(t *testing.T) (port string, connections *atomic.Int64) {
	t.Helper()
	l := testenv.Of(net.Listen("tcp", ":0")).Must(t)
	t.Cleanup(func() { _ = l.Close() })
	connections = new(atomic.Int64)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connections.Add(1)
			_ = c.Close()
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port, connections
}

// TestHostileAddresses posts to hosts that are not public: the rules for URLs refuse
// those that they can, and no connection is made to any, whatever its name leads to.
// Proves decision 5 (webhooks: addresses).
func TestHostileAddresses(t *testing.T) {
	t.Parallel()
	if len(hostile) < 60 {
		t.Errorf("only %d addresses", len(hostile))
	}
	port, connections := listener(t)
	// Any port, so that the address alone decides.
	guard := ssrf.New(ssrf.WithAnyPort())
	for _, row := range hostile {
		host, leads, named := strings.Cut(row, " ")
		url := "https://" + host + ":" + port + "/hook"
		if problem := URLProblem("https://"+host+"/hook", false); problem == "" && !strings.Contains(host, "example") && !strings.Contains(host, "nip.io") {
			t.Errorf("%s is accepted", host)
		}
		// attempts counts the connections that the guard was asked for.
		var attempts atomic.Int64
		dialer := &net.Dialer{Timeout: 10 * time.Second, Control: func(network, address string, c syscall.RawConn) error {
			attempts.Add(1)
			return guard.Safe(network, address, c)
		}}
		if named {
			dialer.Resolver = resolverOf(t, leads)
		}
		client := newClient(dialer, nil)
		result := client.Post(t.Context(), Message{URL: url, At: time.Now()})
		client.http.CloseIdleConnections()
		if result.Error != delivery.ErrorAddress && attempts.Load() > 0 {
			t.Errorf("%s: %+v after %d attempts to connect", host, result, attempts.Load())
		}
		if named && attempts.Load() == 0 && strings.HasSuffix(host, ".example.com") {
			t.Errorf("%s was not resolved: %+v", host, result)
		}
		if result.Error == "" || result.Status != 0 {
			t.Errorf("%s: %+v", host, result)
		}
	}
	testenv.Equal(t, "connections", 0, connections.Load())
	// The listener does count.
	NewClient(true).Post(t.Context(), Message{URL: "https://127.0.0.1:" + port, At: time.Now()})
	if connections.Load() == 0 {
		t.Error("the listener did not notice a connection")
	}
}

// TestRebinding resolves a name to a public address first and to this machine then:
// the address of the connection counts.
// Proves decision 5 (webhooks: addresses).
func TestRebinding(t *testing.T) {
	t.Parallel()
	port, connections := listener(t)
	guard := ssrf.New(ssrf.WithAnyPort())
	dialer := &net.Dialer{Control: guard.Safe, Resolver: resolverOf(t, "127.0.0.1")}
	if addresses, err := resolverOf(t, "8.8.8.8").LookupNetIP(t.Context(), "ip4", "rebind.example.com"); err != nil ||
		guard.SafeAddr(addresses[0]) != nil {
		t.Fatalf("the first lookup: %v, %v", addresses, err)
	}
	result := newClient(dialer, nil).Post(t.Context(), Message{URL: "https://rebind.example.com:" + port, At: time.Now()})
	if result.Error != delivery.ErrorAddress || connections.Load() != 0 {
		t.Errorf("%+v, %d connections", result, connections.Load())
	}
}

// TestRedirects checks that a redirect is a failure and is not followed.
// Proves decision 5 (webhooks: addresses).
func TestRedirects(t *testing.T) {
	t.Parallel()
	port, connections := listener(t)
	for _, status := range []int{301, 302, 303, 307, 308} {
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://127.0.0.1:"+port+"/inside", status)
		}))
		t.Cleanup(server.Close)
		roots := x509.NewCertPool()
		roots.AddCert(server.Certificate())
		result := newClient(&net.Dialer{}, roots).Post(t.Context(), Message{URL: server.URL, At: time.Now()})
		if result.Status != status || result.Error != delivery.ErrorStatus {
			t.Errorf("%d: %+v", status, result)
		}
	}
	testenv.Equal(t, "redirects followed", 0, connections.Load())
}

// TestConnectionIsReused posts one message after the other, which get short and long
// responses: one connection is enough, however many merchants they are of.
func TestConnectionIsReused(t *testing.T) {
	t.Parallel()
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.Header.Get("Webhook-Id"))
		w.WriteHeader(200 + n/8*300) // the last ones fail
		_, _ = w.Write(make([]byte, 1000*n))
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	client := NewClient(true)
	for n := range 10 {
		if result := client.Post(t.Context(), Message{ID: strconv.Itoa(n), URL: server.URL, At: time.Now()}); result.Status == 0 {
			t.Errorf("%+v", result)
		}
	}
	testenv.Equal(t, "connections", 1, connections.Load())
}

// TestRetryAfter reads how long a receiver asks to wait, from responses that say that they
// are for now only.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		status int
		header string
		want   time.Duration
	}{
		{429, "120", 2 * time.Minute}, {503, "120", 2 * time.Minute}, {500, "120", 0}, {200, "120", 0},
		{503, "Fri, 20 Nov 2026 12:05:00 GMT", 5 * time.Minute}, {503, "Fri, 20 Nov 2026 11:05:00 GMT", 0},
		{503, "", 0}, {503, "-1", 0}, {503, "1.5", 0}, {503, "99999999999999999999", math.MaxInt32 * time.Second}, {503, "soon", 0},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", test.header)
			w.WriteHeader(test.status)
		}))
		result := NewClient(true).Post(t.Context(), Message{URL: server.URL, At: at})
		server.Close()
		if result.Status != test.status || result.RetryAfter != test.want {
			t.Errorf("%d %q: %+v", test.status, test.header, result)
		}
	}
}

// TestAccess posts with headers and a password, which cannot replace the headers of the
// service, and keeps no response that repeats them.
func TestAccess(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		testenv.Equal(t, "received", []string{"key-1", "user", "pass:word", "id"}, []string{r.Header.Get("X-Api-Key"), user, password, r.Header.Get("Webhook-Id")})
		_, _ = fmt.Fprint(w, "got ", r.Header.Get("X-Api-Key"), r.Header.Get("X-Tenant"), r.Header.Get("Authorization"), password)
	}))
	t.Cleanup(server.Close)
	e := Endpoint{URL: server.URL, Secret: NewSecret(), Access: Access{
		Headers:  map[string]delivery.Secret{"X-Api-Key": "key-1", "X-Tenant": "key", "Authorization": "Bearer other", "Webhook-Id": "forged"},
		Username: "user", Password: "pass:word",
	}}
	d, err := (&Service{Options: Options{Poster: NewClient(true), Now: time.Now, Attempt: time.Minute}}).post(t.Context(), e, outgoing{Attempt: delivery.Attempt{MessageID: "id"}})
	if err != nil || d.Error != "" || d.Response != notKept {
		t.Errorf("%+v, %v", d, err)
	}
	for name, valid := range map[string]bool{
		"X-Api-Key": true, "x-functions-key": true, "authorization": true, "apikey": true, "CF-Access-Client-Id": true, "X-Client-Id": true,
		"": false, "X-": false, "Host": false, "Webhook-Id": false, "webhook-signature": false, "Content-Type": false, "User-Agent": false,
		"Traceparent": false, "Cookie": false, "Transfer-Encoding": false, "X-Forwarded-For": false, "X-Client-IP": false, "X-Client-Verify": false, "x-http-method-override": false,
		"X-Original-URL": false, "X-Key\r\nHost": false, "X-Kéy": false, "X Key": false, "X-" + strings.Repeat("a", 63): false,
	} {
		if problem := HeaderNameProblem(name); (problem == "") != valid {
			t.Errorf("%q: %q", name, problem)
		}
	}
	for text, valid := range map[string]bool{"a": true, "Bearer a b": true, "": false, " a": false, "a\n": false, "é": false, strings.Repeat("a", 1001): false} {
		if problem := CredentialProblem(text); (problem == "") != valid {
			t.Errorf("%q: %q", text, problem)
		}
	}
	if UsernameProblem("a:b") == "" {
		t.Error("a user name has a colon")
	}
}

// TestHide has responses of a receiver that gets credentials, and repeats them in ways that
// nobody thought of.
func TestHide(t *testing.T) {
	t.Parallel()
	access := Access{Headers: map[string]delivery.Secret{"X-Api-Key": "k3y-7f2a", "X-Pin": "42"}, Username: "gate", Password: "pass:wörd/1"}
	for _, secret := range []string{"k3y-7f2a", "pass:wörd/1", base64.StdEncoding.EncodeToString([]byte("gate:pass:wörd/1"))} {
		for name, response := range map[string]string{
			"as it is": secret, "in capitals": strings.ToUpper(secret), "cut": "key " + secret[:5], "percent-encoded": url.QueryEscape(secret), "every byte": strings.ReplaceAll(fmt.Sprintf(" % x", secret), " ", "%"),
			"JSON": strconv.QuoteToASCII(secret), "HTML": html.EscapeString("<" + secret + ">"), "hex": fmt.Sprintf("%x", secret+secret), "base64": base64.StdEncoding.EncodeToString([]byte("key " + secret + " of the gate")),
			"escaped": `\u006b\u0033y`, "entities": "&#107;&#51;y", "the end of a long text": strings.Repeat("x ", 500) + secret[:3],
		} {
			testenv.Equal(t, name, notKept, access.hide(response))
		}
	}
	testenv.Equal(t, "a short credential", notKept, access.hide("the pin is 42"))
	for _, response := range []string{"", "ok", `{"error": "no such order", "code": 17}`, "Bad Request"} {
		if got := access.hide(response); got != response {
			t.Errorf("%q is %q", response, got)
		}
	}
	testenv.Equal(t, "without credentials", "50% & more", (Access{}).hide("50% & more"))
}

// Proves decision 5 (webhooks: addresses).
func TestURLProblem(t *testing.T) {
	t.Parallel()
	for url, valid := range map[string]bool{
		"https://hooks.example.com":                              true,
		"https://hooks.example.com/a?b=c":                        true,
		"https://HOOKS.example.com:8443/":                        true,
		"https://8.8.8.8/":                                       true,
		"https://[2606:4700:4700::1111]/":                        true,
		"https://xn--nxasmq6b.gr/":                               true,
		"":                                                       false,
		"http://hooks.example.com":                               false,
		"ftp://hooks.example.com":                                false,
		"HTTPS//hooks.example.com":                               false,
		"https:///path":                                          false,
		"https:hooks.example.com":                                false,
		"https://user@hooks.example.com":                         false,
		"https://user:pass@hooks.example.com":                    false,
		"https://hooks.example.com@127.0.0.1/":                   false,
		"https://hooks.example.com#@127.0.0.1":                   false,
		"https://hooks.example.com#":                             false,
		"https://hooks.example.com:22":                           false,
		"https://hooks.example.com:80":                           false,
		"https://hooks.example.com:0443":                         false,
		"https://hooks.example.com\\@127.0.0.1":                  false,
		"https://hooks.example.com/\r\nX: y":                     false,
		"https://παράδειγμα.gr/":                                 false,
		"https://127.0.0.1。example.com":                          false,
		"https://hooks..example.com":                             false,
		"https://hooks.example.com.":                             false,
		"https://hooks%2eexample.com":                            false,
		"https://hook s.example.com":                             false,
		"https://hooks.example.com/" + strings.Repeat("a", 1000): false,
	} {
		if problem := URLProblem(url, false); (problem == "") != valid {
			t.Errorf("%q: %q", url, problem)
		}
	}
	for url, valid := range map[string]bool{
		"http://127.0.0.1:8080/hook": true, "http://127.0.0.1:99999/": false, "http://127.0.0.1:0/": false, "https://localhost/": true, "ftp://127.0.0.1/": false, "http://user@127.0.0.1": false,
	} {
		if problem := URLProblem(url, true); (problem == "") != valid {
			t.Errorf("with private addresses, %q: %q", url, problem)
		}
	}
}

// resolverOf returns a resolver for which every name has one address.
func resolverOf(t *testing.T, address string) *net.Resolver {
	t.Helper()
	ip := netip.MustParseAddr(address)
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go serveDNS(server, ip)
		return client, nil
	}}
}

// serveDNS responds to the queries of a connection, each after two bytes of its length
// (RFC 1035).
func serveDNS(conn net.Conn, ip netip.Addr) {
	defer func() { _ = conn.Close() }()
	buffer := make([]byte, 2+512)
	for {
		n, err := conn.Read(buffer)
		if err != nil || n < 2+12 {
			return
		}
		query := buffer[2:n]
		end := 12
		for query[end] != 0 {
			end += 1 + int(query[end])
		}
		end += 5 // the last label, type and class
		response := append([]byte(nil), query[:end]...)
		response[2], response[3] = 0x81, 0x80
		response[8], response[9], response[10], response[11] = 0, 0, 0, 0
		kind := byte(1)
		if ip.Is6() {
			kind = 28
		}
		if query[end-3] == kind {
			response[7] = 1
			raw := ip.AsSlice()
			response = append(response, 0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 0, 0, byte(len(raw)))
			response = append(response, raw...)
		} else {
			response[7] = 0
		}
		if _, err := conn.Write(append([]byte{0, byte(len(response))}, response...)); err != nil {
			return
		}
	}
}
