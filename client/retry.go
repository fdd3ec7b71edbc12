package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
)

// minBackoff is the backoff after the first attempt. It doubles after each further
// attempt.
const minBackoff = 250 * time.Millisecond

// fetch sends a call and decodes its response. Every error is an *Error.
func fetch[T any](ctx context.Context, c *Client, call *call, decode func(response) (T, error)) (T, error) {
	var none T
	r, e := c.do(ctx, call)
	if e != nil {
		return none, e
	}
	value, err := decode(r)
	if err != nil {
		return none, c.malformed(call, r, err)
	}
	return value, nil
}

// send sends a write with a body, which is nil for none.
func send[T any](ctx context.Context, c *Client, call *call, body any, options []WriteOption, decode func(response) (T, error)) (T, error) {
	if body != nil {
		call.body, _ = json.Marshal(body) // texts and numbers can always be encoded
	}
	c.setOptions(call, options)
	return fetch(ctx, c, call, decode)
}

// do sends a call, with retries if they are safe, and returns a response with
// the status of success, or the error of the last attempt.
func (c *Client) do(ctx context.Context, call *call) (response, *Error) {
	if call.invalid != "" {
		return response{}, c.notSent(call.op, ErrInvalidParams, call.invalid)
	}
	if err := ctx.Err(); err != nil {
		return response{}, c.transportError(ctx, call, "", err)
	}
	id := rand.Text()
	for try := 1; ; try++ {
		r, e := c.attempt(ctx, call, id)
		if e == nil {
			r.tries = try
			call.write.fillReceipt(r)
			return r, nil
		}
		e.Tries = try
		if !c.retry(ctx, call, e) {
			return response{}, e
		}
	}
}

// retry waits after a failed attempt and reports whether to send the call again.
func (c *Client) retry(ctx context.Context, call *call, e *Error) bool {
	wait := c.backoff(e.Tries, e.RetryAfter)
	deadline, bounded := ctx.Deadline()
	if e.Tries >= c.tries || !c.retryable(call, e) || e.RetryAfter > c.maxWait || bounded && deadline.Before(c.now().Add(wait)) {
		return false
	}
	if c.sleep(ctx, wait) != nil {
		e.err = errors.Join(ctx.Err(), e.err)
		return false
	}
	return true
}

// retryableKinds are the kinds of errors that a retry may overcome, beside
// some of ErrTransport.
var retryableKinds = []error{ErrRateLimited, ErrUnavailable, ErrInternal, ErrInProgress}

// retryable reports whether a retry of a call is safe and may succeed.
func (c *Client) retryable(call *call, e *Error) bool {
	if call.write != nil && (call.write.key == nil || !c.writeTries) {
		return false
	}
	return e.Temporary()
}

// backoff returns the wait after an attempt: Retry-After of the service, else
// exponential. A random part prevents many clients from retrying at the same time.
func (c *Client) backoff(try int, asked time.Duration) time.Duration {
	if asked > 0 {
		return asked + c.jitter(minBackoff)
	}
	d := minBackoff << min(try-1, 20)
	d = min(d, max(c.maxWait, time.Millisecond))
	return d/2 + c.jitter(d/2)
}

// fillReceipt fills the receipt of a write, if the caller requested one.
func (w *write) fillReceipt(r response) {
	if w == nil || w.receipt == nil {
		return
	}
	*w.receipt = Receipt{
		Tag:       tagOf(r.header),
		Replayed:  r.header.Get("Idempotent-Replayed") == "true",
		RequestID: r.requestID,
	}
	if w.key != nil {
		w.receipt.Key = *w.key
	}
}

// tagOf returns the tag of an order. Every one of the service is strong; a proxy that compresses
// makes it weak, and a weak one matches nothing.
func tagOf(header http.Header) string { return strings.TrimPrefix(header.Get("ETag"), "W/") }
