package web

import (
	"mime"
	"net/http"
	"strings"
)

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
