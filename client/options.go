package client

import (
	"errors"
	"net/http"
	"strings"
	"time"
)

// Option changes how a Client works.
type Option func(*Client, *settings)

// settings is what options say beside what stands in the Client.
type settings struct {
	http   *http.Client
	faults []error
}

// WithHTTPClient sends requests through the Transport of h, as for a proxy or
// certificates of one's own. Its other fields are not used: time-outs, redirects
// and cookies stay the business of the Client.
func WithHTTPClient(h *http.Client) Option {
	return func(_ *Client, set *settings) { set.http = h }
}

// WithTimeout bounds one try of a call, from the connection to the last byte
// of the answer. Uploads and downloads get four times as much, and a call that
// waits for events the time of its wait on top. Default: DefaultTimeout.
func WithTimeout(d time.Duration) Option {
	return func(c *Client, set *settings) {
		if d <= 0 {
			set.faults = append(set.faults, errors.New("the time-out must be above zero"))
		}
		c.timeout = d
	}
}

// WithTries sets how often a call is tried at most, 1 for never again. Default:
// DefaultTries.
func WithTries(n int) Option {
	return func(c *Client, set *settings) {
		if n < 1 {
			set.faults = append(set.faults, errors.New("a call is tried once at least"))
		}
		c.tries = n
	}
}

// WithMaxWait sets the longest wait between two tries. A service that asks for
// a longer one with Retry-After gets no further try: the error says how long it
// asked for. Default: DefaultMaxWait.
func WithMaxWait(d time.Duration) Option {
	return func(c *Client, set *settings) {
		if d < 0 {
			set.faults = append(set.faults, errors.New("the longest wait must not be below zero"))
		}
		c.maxWait = d
	}
}

// WithoutWriteRetries sends every write once and without a key of the client's
// own: for a service that does not honour Idempotency-Key, where the second try
// of an accept that had worked would be answered with a refusal.
func WithoutWriteRetries() Option {
	return func(c *Client, _ *settings) { c.writeTries = false }
}

// WithUserAgent puts a program's name, such as "erp-sync/3.1", before the
// client's own in User-Agent.
func WithUserAgent(name string) Option {
	return func(c *Client, set *settings) {
		if !plainHeader(name) {
			set.faults = append(set.faults, errors.New("the user agent must be printable text"))
		}
		c.agent = strings.TrimSpace(name + " " + userAgent)
	}
}

// WithStorage sends the token also to the addresses of invoice files that begin
// with the given one. It is for a service that is reached under another address
// than the one that it shows in those. Without it the token goes to no host but
// the service's.
func WithStorage(address string) Option {
	return func(c *Client, set *settings) {
		storage, err := parseBase(address)
		if err != nil {
			set.faults = append(set.faults, errors.New("the address of the storage must be such as https://files.example.com"))
			return
		}
		c.storage = origin(storage)
	}
}

// WriteOption changes one call that writes.
type WriteOption func(*write)

// write is what is asked of one call that writes.
type write struct {
	key     *string // nil: one of the client's own
	match   *string // nil: whatever the order is like
	receipt *Receipt
}

// IfMatch makes a write depend on the order being as it was read: tag is the
// Tag of an Order or of a Receipt. When the order has changed since, the write
// changes nothing and its error is ErrPrecondition.
func IfMatch(tag string) WriteOption { return func(w *write) { w.match = &tag } }

// IdempotencyKey sets the key of a write, 1 to 255 printable ASCII characters,
// in place of a random one: whoever keeps it can repeat the call after a crash,
// within 24 hours, and gets the first answer. The same key with another write
// is ErrKeyReused.
func IdempotencyKey(key string) WriteOption { return func(w *write) { w.key = &key } }

// ReceiptTo has what the service said beside the answer written to r, when the
// write has succeeded.
func ReceiptTo(r *Receipt) WriteOption { return func(w *write) { w.receipt = r } }

// Receipt is what a service says of a write that succeeded.
type Receipt struct {
	Tag       string // of the order as it is now, for IfMatch; empty: not given
	Key       string // under which the write went; empty: none
	Replayed  bool   // an earlier try had done it, and this is its answer
	RequestID string // under which the service logged it
}

// newWrite reads the options of a write.
func (c *Client) newWrite(op string, options []WriteOption) (*write, error) {
	w := &write{}
	for _, option := range options {
		option(w)
	}
	switch {
	case w.key != nil && (*w.key == "" || len(*w.key) > maxKey || !plainHeader(*w.key)):
		return nil, c.refuse(op, ErrInvalidParams, "the idempotency key must be 1 to 255 printable ASCII characters")
	case w.match != nil && (*w.match == "" || !plainHeader(*w.match)):
		return nil, c.refuse(op, ErrInvalidParams, "the tag to match is empty or none")
	case w.key == nil && c.writeTries:
		key := newID()
		w.key = &key
	}
	return w, nil
}

const maxKey = 255 // characters

// plainHeader reports whether a text can be the value of a header.
func plainHeader(text string) bool {
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
