// Package client is the Go client of version 2 of the merchant interface. It has
// typed calls, iterators over lists of orders and the change feed, uploads from any
// reader, safe retries, and errors with kinds for errors.Is.
//
//	c, err := client.New("https://orders.example.com", token)
//	for order, err := range c.Orders(ctx, client.Filter{State: client.Registered}) { ... }
//
// Amounts are integers in the minor unit of the order's currency (cents for
// EUR). Times are in UTC with whole seconds. The zero time means none.
//
// The context of a call also ends its retries and the waits between them. The
// client retries reads after a broken connection, a time-out and the statuses 408,
// 429, 500, 502, 503 and 504. It retries writes too: each write has an
// Idempotency-Key, so the service recognizes the repetition and replays the first
// response. WithoutWriteRetries is for a service that does not.
//
// The package depends on the standard library only, and on no package of the
// service.
package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Client calls one service with one token. It is safe for concurrent use and
// reuses connections.
type Client struct {
	base    *url.URL // without a slash at its end
	storage string   // another origin that receives the token; empty: none
	http    *http.Client
	agent   string

	// authorize sets the token in a header, and redact removes it from a text. The
	// token is in closures, so that printing a Client never shows it.
	authorize func(http.Header)
	redact    func(string) string

	timeout        time.Duration // of one attempt
	tries          int           // maximum for one call
	maxWait        time.Duration // between two attempts
	writeTries     bool          // whether writes are retried
	maxAnswers     int           // of a request
	now            func() time.Time
	sleep          func(context.Context, time.Duration) error
	jitter         func(time.Duration) time.Duration // a random duration below the given one
	ownConnections bool                              // whether New created the transport
}

// The defaults of a Client.
const (
	DefaultTimeout = 60 * time.Second // of one attempt
	DefaultTries   = 5                // attempts of one call
	DefaultMaxWait = 60 * time.Second // between two attempts
)

// maxIdleConns is the number of idle connections that stay open.
const maxIdleConns = 32

const userAgent = "merchant-orders-client/2"

// New returns a client of the service at baseURL, such as
// https://orders.example.com, with a merchant's token. It does not connect. It
// returns an error, which never contains the token, if baseURL is not a URL or has
// a user name, a query or a fragment, or if the token is empty or not valid in a
// header.
func New(baseURL, token string, options ...Option) (*Client, error) {
	base, err := parseBase(baseURL)
	if err != nil {
		return nil, err
	}
	if token == "" || strings.Contains(token, " ") || !validHeaderValue(token) {
		return nil, errors.New("the token is empty or contains characters that are not allowed in a token")
	}
	c := &Client{
		base:       base,
		agent:      userAgent,
		authorize:  func(h http.Header) { h.Set("Authorization", "Bearer "+token) },
		redact:     func(text string) string { return strings.ReplaceAll(text, token, "[token]") },
		timeout:    DefaultTimeout,
		tries:      DefaultTries,
		maxWait:    DefaultMaxWait,
		writeTries: true,
		maxAnswers: maxAnswers,
		now:        time.Now,
		sleep:      sleep,
		jitter:     func(d time.Duration) time.Duration { return rand.N(max(d, 1)) },
	}
	c.http = &http.Client{CheckRedirect: c.checkRedirect}
	var errs []error
	for _, option := range options {
		errs = append(errs, option(c))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if standard, ok := http.DefaultTransport.(*http.Transport); ok && c.http.Transport == nil {
		connections := standard.Clone()
		connections.MaxIdleConnsPerHost = maxIdleConns
		c.http.Transport, c.ownConnections = connections, true
	}
	return c, nil
}

// String returns the client's base URL, without the token.
func (c *Client) String() string { return "client of " + c.base.String() }

// Close closes idle connections. The client remains usable. Close does not close
// connections of WithHTTPClient.
func (c *Client) Close() {
	if c.ownConnections {
		c.http.CloseIdleConnections()
	}
}

// parseBase parses the base URL of a service. Errors do not contain it, since it
// may contain a password.
func parseBase(text string) (*url.URL, error) {
	base, err := url.Parse(strings.TrimRight(text, "/"))
	switch {
	case err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Hostname() == "":
		return nil, errors.New("the address of the service must be a URL such as https://orders.example.com")
	case base.User != nil || base.RawQuery != "" || base.ForceQuery || base.Fragment != "":
		return nil, errors.New("the address of the service must not contain a user name, query or fragment")
	}
	return base, nil
}

// sleep waits for d, or returns the context's error if that ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

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
