package commands_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/certtest"
	"merchantorders/internal/testenv"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	listen := "--listen=" + strings.TrimPrefix(s.BaseURL, "http://")
	_, port, _ := strings.Cut(strings.TrimPrefix(s.BaseURL, "http://"), ":")
	for _, c := range map[string]struct {
		args []string
		want string
	}{
		"ready":             {[]string{listen}, "ready\n"},
		"live":              {[]string{listen, "--live"}, "ok\n"},
		"every address":     {[]string{"--listen=:" + port}, "ready\n"},
		"every IPv4":        {[]string{"--listen=0.0.0.0:" + port}, "ready\n"},
		"the URL":           {[]string{"--url", s.BaseURL + "/", "--listen=x"}, "ready\n"},
		"no data folder":    {[]string{listen, "--data=/dev/null/x"}, "ready\n"},
		"time for response": {[]string{listen, "--timeout=1m"}, "ready\n"},
	} {
		apptest.Run(t, "", append([]string{"health"}, c.args...)...).WantOut(t, 0, c.want)
	}
	s.Stop(t)
	got := apptest.Run(t, "", "health", listen)
	if want := "merchant-orders: no response from " + s.BaseURL + "/readyz: "; got.Code != 1 || got.Stdout != "" || !strings.HasPrefix(got.Stderr, want) {
		t.Errorf("stopped: %+v, want exit code 1 and %q", got, want)
	}
}

// TestHealthResponses asks a server whose responses are given.
func TestHealthResponses(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch prefix, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); prefix {
		case "storage":
			_, _ = io.WriteString(w, `{"status":"ready","storage":"unavailable"}`)
		case "down":
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"message":"x","storage":"unavailable\n"}`)
		case "other":
			_, _ = io.WriteString(w, "<html>")
		case "moved":
			http.Redirect(w, r, "/storage/readyz", http.StatusFound)
		case "hangs":
			<-release
		}
	})
	plain, encrypted := httptest.NewServer(handler), httptest.NewTLSServer(handler)
	expired := httptest.NewUnstartedServer(handler)
	pair := certtest.New(t, time.Date(2020, 2, 1, 0, 0, 0, 0, time.UTC))
	certificate := testenv.Of(tls.LoadX509KeyPair(pair.Cert, pair.Key)).Must(t)
	expired.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	expired.StartTLS()
	t.Cleanup(func() { close(release); plain.Close(); encrypted.Close(); expired.Close() })
	listen := "--listen=" + strings.TrimPrefix(encrypted.URL, "https://")
	for name, c := range map[string]struct {
		args []string
		code int
		want string // of standard output, or standard error
	}{
		"storage":     {[]string{"--url", plain.URL + "/storage"}, 0, "ready, storage unavailable\n"},
		"self-signed": {[]string{"--url", encrypted.URL + "/storage"}, 0, "ready, storage unavailable\n"},
		"down":        {[]string{"--url", plain.URL + "/down"}, 1, plain.URL + "/down/readyz responds 503 Service Unavailable, storage unavailable\n"},
		"other":       {[]string{"--url", plain.URL + "/other"}, 1, plain.URL + "/other/readyz is not a Merchant Orders service: the response has no status\n"},
		"moved":       {[]string{"--url", plain.URL + "/moved"}, 1, plain.URL + "/moved/readyz responds 302 Found\n"},
		"hangs":       {[]string{"--url", plain.URL + "/hangs", "--timeout=100ms"}, 1, "no response from " + plain.URL + "/hangs/readyz within 100ms\n"},
		"certificate": {[]string{listen, "--tls-cert=x"}, 1, encrypted.URL + "/readyz is not a Merchant Orders service: the response has no status\n"},
		"expired":     {[]string{"--url", expired.URL + "/storage"}, 1, "the TLS certificate of " + expired.URL + "/storage/readyz has expired at 2020-02-01T00:00:00Z: clients refuse it\n"},
		"no port":     {[]string{"--listen=127.0.0.1:0"}, 2, "--listen (MERCHANT_ORDERS_LISTEN): must have the port that the service has chosen; or set --url\n"},
		"no address":  {[]string{"--listen=8080"}, 2, "--listen (MERCHANT_ORDERS_LISTEN): must be host:port with a port from 0 to 65535, such as 127.0.0.1:8080 or [::]:8080\n"},
		"no URL":      {[]string{"--url=orders.example.com"}, 2, "--url (MERCHANT_ORDERS_URL): must be a URL such as https://orders.example.com\n"},
		"too long":    {[]string{"--timeout=61s"}, 2, "--timeout (MERCHANT_ORDERS_TIMEOUT): must be a duration from 100ms to 1m, such as 5s\n"},
	} {
		got := apptest.Run(t, "", append([]string{"health"}, c.args...)...)
		text := got.Stdout + strings.TrimPrefix(got.Stderr, "merchant-orders: ")
		if got.Code != c.code || text != c.want {
			t.Errorf("%s: %+v, want exit code %d and %q", name, got, c.code, c.want)
		}
	}
}
