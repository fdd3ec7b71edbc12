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
// keeps connections open for the next call.
type Client struct {
	base    *url.URL // without a slash at its end
	storage string   // what addresses begin with that get the token besides; empty: none
	http    *http.Client
	agent   string

	// authorize puts the token into a header, and redact takes it out of a
	// text. It stands in functions so that no way of printing a Client shows it.
	authorize func(http.Header)
	redact    func(string) string

	timeout     time.Duration // of one try
	tries       int           // of one call, at most
	maxWait     time.Duration // between two tries
	writeTries  bool          // whether writes are tried again
	now         func() time.Time
	sleep       func(context.Context, time.Duration) error
	spread      func(time.Duration) time.Duration // a random part of a length of time
	connections *http.Transport                   // made here; nil: the caller's own
}

// The defaults of a Client.
const (
	DefaultTimeout = 60 * time.Second // of one try
	DefaultTries   = 5                // of one call
	DefaultMaxWait = 60 * time.Second // between two tries
)

// idleConnections is how many connections are kept for calls to come: as many
// as a program is likely to make calls at once.
const idleConnections = 32

const userAgent = "merchant-orders-client/2"

// New returns a client of the service at an address, such as
// https://orders.example.com, with a merchant's token. It connects to nothing
// yet. Errors, which never show the token: an address that is none or that
// holds a user name, a query or a fragment, and a token that is empty or
// cannot stand in a header.
func New(baseURL, token string, options ...Option) (*Client, error) {
	base, err := parseBase(baseURL)
	if err != nil {
		return nil, err
	}
	if !plainToken(token) {
		return nil, errors.New("the token is empty or has characters that no token has")
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
		now:        time.Now,
		sleep:      sleep,
		spread:     func(d time.Duration) time.Duration { return rand.N(max(d, 1)) },
	}
	var set settings
	for _, option := range options {
		option(c, &set)
	}
	if err := errors.Join(set.faults...); err != nil {
		return nil, err
	}
	c.http = c.newHTTP(set.http)
	return c, nil
}

// newHTTP returns what sends the requests: the caller's with our rule for
// redirects, or one with connections of its own.
func (c *Client) newHTTP(given *http.Client) *http.Client {
	h := &http.Client{CheckRedirect: c.checkRedirect}
	if given != nil {
		h.Transport = given.Transport
		return h
	}
	if standard, ok := http.DefaultTransport.(*http.Transport); ok {
		c.connections = standard.Clone()
		c.connections.MaxIdleConnsPerHost = idleConnections
		h.Transport = c.connections
	}
	return h
}

// String names the client by its address. The token is in no form of it.
func (c *Client) String() string { return "client of " + c.base.String() }

// Close closes the connections that no call uses. The client can be used on.
// Connections of WithHTTPClient are left alone.
func (c *Client) Close() {
	if c.connections != nil {
		c.connections.CloseIdleConnections()
	}
}

// parseBase reads the address of a service. Its text is not repeated in errors,
// since people put passwords into addresses.
func parseBase(text string) (*url.URL, error) {
	base, err := url.Parse(strings.TrimRight(text, "/"))
	switch {
	case err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Hostname() == "":
		return nil, errors.New("the address of the service must be such as https://orders.example.com")
	case base.User != nil || base.RawQuery != "" || base.ForceQuery || base.Fragment != "":
		return nil, errors.New("the address of the service must have no user name, query or fragment")
	}
	return base, nil
}

// plainToken reports whether a text can be sent as a token.
func plainToken(text string) bool {
	for _, c := range []byte(text) {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return text != ""
}

// sleep waits, or returns the context's error when that ends first.
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
