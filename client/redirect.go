package client

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

const maxRedirects = 5

// checkRedirect follows redirects of downloads only: v2 itself has none. After a
// redirect to an origin that is not trusted it removes the token.
func (c *Client) checkRedirect(next *http.Request, via []*http.Request) error {
	if _, download := next.Context().Value(downloadKey{}).(bool); !download {
		return http.ErrUseLastResponse
	}
	if len(via) > maxRedirects {
		return errors.New("too many redirects")
	}
	for _, request := range append(via[:len(via):len(via)], next) {
		if !c.trusts(request.URL) {
			next.Header.Del("Authorization")
		}
	}
	return nil
}

// downloadKey is the context key that marks a download.
type downloadKey struct{}

// trusts reports whether the client may send the token to an address.
func (c *Client) trusts(address *url.URL) bool {
	at := origin(address)
	return at == origin(c.base) || c.storage != "" && at == c.storage
}

// origin returns scheme, host and port of a URL.
func origin(address *url.URL) string {
	scheme, port := strings.ToLower(address.Scheme), address.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	return scheme + "://" + strings.ToLower(address.Hostname()) + ":" + port
}
