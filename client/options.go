package client

import (
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"time"
)

// Option configures a Client.
type Option func(*Client) error

// WithHTTPClient sends requests through the Transport of h, for example for a proxy
// or private certificates. The Client ignores the other fields of h.
func WithHTTPClient(h *http.Client) Option {
	return func(c *Client) error {
		c.http.Transport = h.Transport
		return nil
	}
}

// WithTimeout bounds one attempt of a call, from the connection to the last byte of
// the response. Uploads and downloads have four times as long. Calls that wait for
// events have the time of the wait in addition. Default: DefaultTimeout.
func WithTimeout(d time.Duration) Option {
	return func(c *Client) error {
		c.timeout = d
		return require(d > 0, "the time-out must be positive")
	}
}

// WithTries sets the maximum number of attempts of a call. 1 means no retries.
// Default: DefaultTries.
func WithTries(n int) Option {
	return func(c *Client) error {
		c.tries = n
		return require(n > 0, "the number of tries must be at least 1")
	}
}

// WithMaxWait sets the maximum wait between two attempts. If the service asks for
// a longer one with Retry-After, the call fails without a retry, and
// Error.RetryAfter has that time. Default: DefaultMaxWait.
func WithMaxWait(d time.Duration) Option {
	return func(c *Client) error {
		c.maxWait = d
		return require(d >= 0, "the maximum wait must not be negative")
	}
}

// WithoutWriteRetries sends every write only once, without a generated
// Idempotency-Key. It is for a service that ignores Idempotency-Key: there the
// retry of an accept that succeeded would fail.
func WithoutWriteRetries() Option {
	return func(c *Client) error {
		c.writeTries = false
		return nil
	}
}

// WithUserAgent adds the name of a program, such as "erp-sync/3.1", to the header
// User-Agent.
func WithUserAgent(name string) Option {
	return func(c *Client) error {
		c.agent = strings.TrimSpace(name + " " + userAgent)
		return require(validHeaderValue(name), "the user agent must be printable ASCII")
	}
}

// WithStorage sends the token also with downloads from this address (scheme, host
// and port). It is for a service whose file URLs differ from the base URL of the
// client. By default the client sends the token to the base URL's host only.
func WithStorage(address string) Option {
	return func(c *Client) error {
		storage, err := parseBase(address)
		if err != nil {
			return errors.New("the address of the storage must be a URL such as https://files.example.com")
		}
		c.storage = origin(storage)
		return nil
	}
}

// require returns an error with a message unless ok.
func require(ok bool, message string) error {
	if ok {
		return nil
	}
	return errors.New(message)
}

// WriteOption configures one write.
type WriteOption func(*write)

// write has the options of one write.
type write struct {
	key     *string // nil: generate one
	match   *string // nil: unconditional
	receipt *Receipt

	document InvoiceDocument // of an upload
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

// OfDocument says in an upload which document the file is. Other writes ignore it.
func OfDocument(d InvoiceDocument) WriteOption { return func(w *write) { w.document = d } }

// ReceiptTo stores the receipt of a successful write in r.
func ReceiptTo(r *Receipt) WriteOption { return func(w *write) { w.receipt = r } }

// Receipt has details of a successful write.
type Receipt struct {
	Tag       string // of the changed order, for IfMatch; empty: none
	Key       string // the idempotency key; empty: none
	Replayed  bool   // an earlier attempt made the change; this is its response
	RequestID string // for the log of the service
}

// setOptions makes a call a write with options.
func (c *Client) setOptions(call *call, options []WriteOption) {
	w := &write{}
	for _, option := range options {
		option(w)
	}
	switch {
	case w.key != nil && (*w.key == "" || len(*w.key) > maxKey || !validHeaderValue(*w.key)):
		call.invalid = "the idempotency key must be 1 to 255 printable ASCII characters"
	case w.match != nil && (*w.match == "" || !validHeaderValue(*w.match)):
		call.invalid = "the tag to match is empty or not valid"
	case w.key == nil && c.writeTries:
		key := rand.Text()
		w.key = &key
	}
	call.write = w
}

const maxKey = 255 // characters

// validHeaderValue reports whether a text can be the value of a header.
func validHeaderValue(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}
