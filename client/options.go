package client

import (
	"errors"
	"net/http"
	"strings"
	"time"
)

// Option configures a Client.
type Option func(*Client, *settings)

// settings are the values of options that are not fields of Client.
type settings struct {
	http *http.Client
	errs []error
}

// WithHTTPClient sends requests through the Transport of h, for example for a proxy
// or private certificates. The Client ignores the other fields of h.
func WithHTTPClient(h *http.Client) Option {
	return func(_ *Client, set *settings) { set.http = h }
}

// WithTimeout bounds one attempt of a call, from the connection to the last byte of
// the response. Uploads and downloads have four times as long. Calls that wait for
// events have the time of the wait in addition. Default: DefaultTimeout.
func WithTimeout(d time.Duration) Option {
	return func(c *Client, set *settings) {
		if d <= 0 {
			set.errs = append(set.errs, errors.New("the time-out must be positive"))
		}
		c.timeout = d
	}
}

// WithTries sets the maximum number of attempts of a call. 1 means no retries.
// Default: DefaultTries.
func WithTries(n int) Option {
	return func(c *Client, set *settings) {
		if n < 1 {
			set.errs = append(set.errs, errors.New("the number of tries must be at least 1"))
		}
		c.tries = n
	}
}

// WithMaxWait sets the maximum wait between two attempts. If the service asks for
// a longer one with Retry-After, the call fails without a retry, and
// Error.RetryAfter has that time. Default: DefaultMaxWait.
func WithMaxWait(d time.Duration) Option {
	return func(c *Client, set *settings) {
		if d < 0 {
			set.errs = append(set.errs, errors.New("the maximum wait must not be negative"))
		}
		c.maxWait = d
	}
}

// WithoutWriteRetries sends every write only once, without a generated
// Idempotency-Key. It is for a service that ignores Idempotency-Key: there the
// retry of an accept that succeeded would fail.
func WithoutWriteRetries() Option {
	return func(c *Client, _ *settings) { c.writeTries = false }
}

// WithUserAgent adds the name of a program, such as "erp-sync/3.1", to the header
// User-Agent.
func WithUserAgent(name string) Option {
	return func(c *Client, set *settings) {
		if !validHeaderValue(name) {
			set.errs = append(set.errs, errors.New("the user agent must be printable ASCII"))
		}
		c.agent = strings.TrimSpace(name + " " + userAgent)
	}
}

// WithStorage sends the token also with downloads from this address (scheme, host
// and port). It is for a service whose file URLs differ from the base URL of the
// client. By default the client sends the token to the base URL's host only.
func WithStorage(address string) Option {
	return func(c *Client, set *settings) {
		storage, err := parseBase(address)
		if err != nil {
			set.errs = append(set.errs, errors.New("the address of the storage must be a URL such as https://files.example.com"))
			return
		}
		c.storage = origin(storage)
	}
}

// WriteOption configures one write.
type WriteOption func(*write)

// write has the options of one write.
type write struct {
	key     *string // nil: generate one
	match   *string // nil: unconditional
	receipt *Receipt
}

// IfMatch makes a write conditional: if the order has changed since tag was read,
// the write changes nothing and returns ErrPrecondition. tag is the Tag of an Order
// or a Receipt.
func IfMatch(tag string) WriteOption { return func(w *write) { w.match = &tag } }

// IdempotencyKey sets the key of a write, 1 to 255 printable ASCII characters,
// instead of a random one. With a stored key the call can be repeated after a
// crash, within 24 hours, and returns the first result. The same key with another
// write returns ErrKeyReused.
func IdempotencyKey(key string) WriteOption { return func(w *write) { w.key = &key } }

// ReceiptTo stores the receipt of a successful write in r.
func ReceiptTo(r *Receipt) WriteOption { return func(w *write) { w.receipt = r } }

// Receipt has details of a successful write.
type Receipt struct {
	Tag       string // of the changed order, for IfMatch; empty: none
	Key       string // the idempotency key; empty: none
	Replayed  bool   // an earlier attempt made the change; this is its response
	RequestID string // for the log of the service
}

// newWrite returns the options of a write.
func (c *Client) newWrite(op string, options []WriteOption) (*write, error) {
	w := &write{}
	for _, option := range options {
		option(w)
	}
	switch {
	case w.key != nil && (*w.key == "" || len(*w.key) > maxKey || !validHeaderValue(*w.key)):
		return nil, c.notSent(op, ErrInvalidParams, "the idempotency key must be 1 to 255 printable ASCII characters")
	case w.match != nil && (*w.match == "" || !validHeaderValue(*w.match)):
		return nil, c.notSent(op, ErrInvalidParams, "the tag to match is empty or not valid")
	case w.key == nil && c.writeTries:
		key := newID()
		w.key = &key
	}
	return w, nil
}

const maxKey = 255 // characters

// validHeaderValue reports whether a text can be the value of a header.
func validHeaderValue(text string) bool {
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
