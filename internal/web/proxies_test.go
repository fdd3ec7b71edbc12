package web

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// proxies are the trusted proxies of these tests.
var proxies = TrustedProxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:1::/48"), netip.MustParsePrefix("127.0.0.1/32")}

const aProxy, aClient, victim = "10.0.0.1", "203.0.113.9", "198.51.100.7"

// clientOf returns the client of a request from an address with headers, given as
// name and value in turn.
func clientOf(from string, headers ...string) string {
	r := &http.Request{RemoteAddr: from, Header: make(http.Header)}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return proxies.Client(r).String()
}

func TestClientAddress(t *testing.T) {
	t.Parallel()
	const list, forwarded = "X-Forwarded-For", "Forwarded"
	for _, test := range []struct {
		name, from string
		headers    []string
		want       string
	}{
		{"no proxy", aClient + ":4711", nil, aClient},
		{"a client that says it is another", aClient + ":4711", []string{list, victim, forwarded, "for=" + victim}, aClient},
		{"IPv6", "[2001:db8:2::1%eth0]:4711", nil, "2001:db8:2::1"},
		{"IPv4 in IPv6", "[::ffff:203.0.113.9]:4711", nil, aClient},
		{"no address", "@", nil, "invalid IP"},
		{"a proxy itself", "10.0.0.1:4711", nil, aProxy},
		{"a proxy in IPv6 form", "[::ffff:10.0.0.1]:4711", []string{list, aClient}, aClient},

		{"a list", "10.0.0.1:4711", []string{list, aClient}, aClient},
		{"what the client sent is left of it", "10.0.0.1:4711", []string{list, victim + ", " + aClient}, aClient},
		{"two proxies", "10.0.0.1:4711", []string{list, victim + "," + aClient + " , 10.2.3.4"}, aClient},
		{"two lines", "10.0.0.1:4711", []string{list, victim, list, aClient + ", 10.2.3.4", list, "10.2.3.5"}, aClient},
		{"proxies only", "10.0.0.1:4711", []string{list, "10.0.0.3, 10.0.0.2"}, "10.0.0.3"},
		{"a port", "10.0.0.1:4711", []string{list, aClient + ":80"}, aClient},
		{"IPv6 in a list", "[2001:db8:1::1]:4711", []string{list, "2001:db8:2::1"}, "2001:db8:2::1"},
		{"IPv6 with a port", "10.0.0.1:4711", []string{list, "[2001:db8:2::1]:80"}, "2001:db8:2::1"},
		{"IPv6 in brackets", "10.0.0.1:4711", []string{list, `"[2001:db8:2::1]"`}, "2001:db8:2::1"},
		{"unknown", "10.0.0.1:4711", []string{list, victim + ", unknown"}, aProxy},
		{"a socket", "10.0.0.1:4711", []string{list, victim + ", unix:"}, aProxy},
		{"a socket behind a proxy", "10.0.0.1:4711", []string{list, "unix:, 10.0.0.2"}, "10.0.0.2"},
		{"nothing", "10.0.0.1:4711", []string{list, ""}, aProxy},
		{"an empty entry", "10.0.0.1:4711", []string{list, victim + ","}, aProxy},
		{"no address in a list", "10.0.0.1:4711", []string{list, victim + ", example.com"}, aProxy},

		{"Forwarded", "10.0.0.1:4711", []string{forwarded, "for=" + aClient}, aClient},
		{"more parameters", "10.0.0.1:4711", []string{forwarded, `For="[2001:db8:2::1]:4711" ;proto=https; by=10.0.0.1;host="a,b;for=x"`}, "2001:db8:2::1"},
		{"Forwarded through two proxies", "10.0.0.1:4711", []string{forwarded, "for=" + victim + `, for="` + aClient + `:80", for=10.0.0.2`}, aClient},
		{"a quote that is not closed", "10.0.0.1:4711", []string{forwarded, `for="` + victim + ", for=" + aClient}, aClient},
		{"an escaped quote", "10.0.0.1:4711", []string{forwarded, `for=` + victim + `, host="\",for=` + victim + `";for=` + aClient}, aClient},
		{"for is missing", "10.0.0.1:4711", []string{forwarded, "for=" + victim + ", proto=https"}, aProxy},
		{"for twice", "10.0.0.1:4711", []string{forwarded, "for=" + aClient + ";for=" + victim}, aProxy},
		{"a hidden node", "10.0.0.1:4711", []string{forwarded, "for=_hidden"}, aProxy},
		{"an unknown node", "10.0.0.1:4711", []string{forwarded, "for=unknown"}, aProxy},

		{"both agree", "10.0.0.1:4711", []string{list, victim + ", " + aClient, forwarded, "for=" + aClient}, aClient},
		{"both disagree", "10.0.0.1:4711", []string{list, aClient, forwarded, "for=" + victim}, aProxy},
	} {
		testenv.Equal(t, test.name, test.want, clientOf(test.from, test.headers...))
	}
}

// FuzzClientAddress has a client send any header, to which the proxy appends the
// address of the connection: the client cannot be another one.
func FuzzClientAddress(f *testing.F) {
	for _, hostile := range []string{
		"", ",", `"`, `\`, `\"`, `for="`, victim, "for=" + victim + ",", `for=` + victim + `;host="a,`, "10.0.0.2, 10.0.0.3", "unix:/,[", "\x00\xff",
	} {
		f.Add(hostile)
	}
	f.Fuzz(func(t *testing.T, hostile string) {
		const from = "10.0.0.1:4711"
		for name, value := range map[string]string{
			"X-Forwarded-For": aClient, "Forwarded": `host="a\",b";for="` + aClient + `:80"`,
		} {
			testenv.Equal(t, fmt.Sprintf("%s %q in one line", name, hostile), aClient, clientOf(from, name, hostile+", "+value))
			testenv.Equal(t, fmt.Sprintf("%s %q in two lines", name, hostile), aClient, clientOf(from, name, hostile, name, value))
			if got := clientOf(from, name, hostile); strings.ContainsAny(got, "%,\" ") {
				t.Errorf("%s %q alone: %s", name, hostile, got)
			}
			testenv.Equal(t, fmt.Sprintf("%s %q without a proxy", name, hostile), aClient, clientOf(aClient+":4711", name, hostile))
		}
	})
}

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
