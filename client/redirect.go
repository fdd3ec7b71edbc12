package client

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

const maxRedirects = 5

// checkRedirect keeps the token in its place. The interface has no redirects,
// so that none is followed but those of a download; and once one leads to
// another origin, the token goes no further.
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

// downloadKey marks the context of a download.
type downloadKey struct{}

// trusts reports whether the token may go to an address.
func (c *Client) trusts(address *url.URL) bool {
	at := origin(address)
	return at == origin(c.base) || c.storage != "" && at == c.storage
}

// origin returns scheme, host and port of an address.
func origin(address *url.URL) string {
	scheme, port := strings.ToLower(address.Scheme), address.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	return scheme + "://" + strings.ToLower(address.Hostname()) + ":" + port
}
