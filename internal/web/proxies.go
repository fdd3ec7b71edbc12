package web

import (
	"mime"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// TrustedProxies are the networks of the proxies whose headers Forwarded, X-Forwarded-For
// and X-Forwarded-Proto are believed.
type TrustedProxies []netip.Prefix

// Client returns the address of the client of a request, the zero address if the
// connection has none. It is the address of the connection, unless that is a trusted proxy. Then
// it is the rightmost address in the header of the proxies that is not trusted: what
// is left of it comes from the client. Where an entry is not an address, the client
// is the proxy that wrote the entry.
//
// A proxy sets one of the two headers and may pass on the other one as the client
// sent it. If both are present and disagree, neither is believed and the client is
// the proxy.
func (p TrustedProxies) Client(r *http.Request) netip.Addr {
	connection := parseNode(r.RemoteAddr)
	if !p.trusts(connection) {
		return connection
	}
	forwarded := p.rightmost(connection, r.Header["Forwarded"], forwardedFor)
	listed := p.rightmost(connection, r.Header["X-Forwarded-For"], func(entry string) string { return entry })
	switch {
	case r.Header["X-Forwarded-For"] == nil:
		return forwarded
	case r.Header["Forwarded"] == nil || forwarded == listed:
		return listed
	}
	return connection
}

// trusts reports whether an address is that of a trusted proxy.
func (p TrustedProxies) trusts(address netip.Addr) bool {
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(address) })
}

// rightmost returns the rightmost address in the lines of a header that is not
// trusted. node returns the node that an entry names. connection is the address of
// the proxy that sent the header.
func (p TrustedProxies) rightmost(connection netip.Addr, lines []string, node func(entry string) string) netip.Addr {
	client := connection
	for _, line := range slices.Backward(lines) {
		for rest, more := line, true; more; {
			var entry string
			rest, entry, more = cutLast(rest)
			address := parseNode(node(entry))
			if !address.IsValid() {
				return client
			}
			client = address
			if !p.trusts(client) {
				return client
			}
		}
	}
	return client
}

// cutLast cuts the last entry from a list with commas. A comma in a quoted string
// belongs to its entry. The list is read from its end, because its beginning comes
// from the client and may have a quote that is never closed.
func cutLast(list string) (before, entry string, found bool) {
	quoted := false
	for i := len(list) - 1; i >= 0; i-- {
		switch list[i] {
		case '"':
			escapes := i - len(strings.TrimRight(list[:i], `\`))
			if escapes%2 == 0 {
				quoted = !quoted
			}
		case ',':
			if !quoted {
				return list[:i], list[i+1:], true
			}
		}
	}
	return "", list, false
}

// forwardedFor returns the node of the parameter for of an entry of Forwarded (RFC
// 7239, 4), empty if the entry has none or is not valid.
func forwardedFor(entry string) string {
	// The parameters of a media type have the same form.
	_, params, err := mime.ParseMediaType("forwarded;" + entry)
	if err != nil {
		return ""
	}
	return params["for"]
}

// parseNode returns the address of a node (RFC 7239, 6): an IPv4 address, or an IPv6
// address with or without brackets, with or without a port and quotes. It returns the
// zero address for other nodes, such as unknown and unix:. Zones are left out, and
// IPv4 addresses have their IPv4 form.
func parseNode(text string) netip.Addr {
	text = strings.Trim(strings.TrimSpace(text), `"`)
	host, _, err := net.SplitHostPort(text)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Addr{}
	}
	return address.WithZone("").Unmap()
}

// HTTPS reports whether a client sent a request with https: to the service itself, or to
// a trusted proxy whose header Forwarded or X-Forwarded-Proto says so.
func (p TrustedProxies) HTTPS(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	if !p.trusts(parseNode(r.RemoteAddr)) {
		return false
	}
	// The first entry is that of the proxy next to the client. A client that writes it
	// itself deceives nobody but itself.
	entry, _, _ := strings.Cut(r.Header.Get("Forwarded"), ",")
	if _, params, err := mime.ParseMediaType("forwarded;" + entry); err == nil && params["proto"] != "" {
		return strings.EqualFold(params["proto"], "https")
	}
	proto, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",")
	return strings.EqualFold(strings.TrimSpace(proto), "https")
}

// strictTransport is a year, for the host of the request alone.
var strictTransport = []string{"max-age=31536000"}

// StrictTransport returns a handler whose responses tell browsers to use https only (RFC
// 6797), if https reports that the request was sent with it.
func StrictTransport(next http.Handler, https func(*http.Request) bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if https(r) {
			w.Header()["Strict-Transport-Security"] = strictTransport
		}
		next.ServeHTTP(w, r)
	})
}
