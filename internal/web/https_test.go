package web

import (
	"crypto/tls"
	"net/http"
	"net/netip"
	"testing"

	"merchantorders/internal/testenv"
)

// TestHTTPS reads whether a client uses https from the connection, and from the headers of
// trusted proxies only.
func TestHTTPS(t *testing.T) {
	t.Parallel()
	proxies := TrustedProxies{netip.MustParsePrefix("10.0.0.0/8")}
	for name, test := range map[string]struct {
		from   string
		header http.Header
		tls    bool
		want   bool
	}{
		"TLS":               {from: "192.0.2.1:1", tls: true, want: true},
		"no TLS":            {from: "10.0.0.1:1"},
		"a proxy":           {from: "10.0.0.1:1", header: http.Header{"X-Forwarded-Proto": {"https"}}, want: true},
		"two proxies":       {from: "10.0.0.1:1", header: http.Header{"X-Forwarded-Proto": {"HTTPS, http"}}, want: true},
		"Forwarded":         {from: "10.0.0.1:1", header: http.Header{"Forwarded": {`for="[2001:db8::1]";proto=https, for=10.0.0.2`}}, want: true},
		"Forwarded, http":   {from: "10.0.0.1:1", header: http.Header{"Forwarded": {"proto=http"}, "X-Forwarded-Proto": {"https"}}},
		"Forwarded, none":   {from: "10.0.0.1:1", header: http.Header{"Forwarded": {"for=192.0.2.1"}, "X-Forwarded-Proto": {"https"}}, want: true},
		"http":              {from: "10.0.0.1:1", header: http.Header{"X-Forwarded-Proto": {"http"}}},
		"nonsense":          {from: "10.0.0.1:1", header: http.Header{"Forwarded": {"=;,"}, "X-Forwarded-Proto": {"httpsx"}}},
		"nobody we trust":   {from: "192.0.2.1:1", header: http.Header{"X-Forwarded-Proto": {"https"}}},
		"an unknown socket": {from: "@", header: http.Header{"X-Forwarded-Proto": {"https"}}},
	} {
		r := &http.Request{RemoteAddr: test.from, Header: test.header}
		if test.tls {
			r.TLS = &tls.ConnectionState{}
		}
		testenv.Equal(t, name, test.want, proxies.HTTPS(r))
	}
}
