package client

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"time"
)

// firstWait is the wait after the first try, doubled after each further one.
const firstWait = 250 * time.Millisecond

// do sends a call, again where that is safe and of use, and returns the answer
// of status 200. Every error is an *Error: the one of the last try.
func (c *Client) do(ctx context.Context, call *call) (answer, error) {
	if err := ctx.Err(); err != nil {
		return answer{}, c.lost(ctx, call, "", err)
	}
	id := newID()
	for try := 1; ; try++ {
		a, err := c.once(ctx, call, id)
		if err == nil {
			a.tries = try
			call.write.received(a)
			return a, nil
		}
		var e *Error
		if !errors.As(err, &e) {
			return answer{}, err
		}
		e.Tries = try
		wait := c.wait(try, e.RetryAfter)
		if try >= c.tries || !c.again(call, e) || e.RetryAfter > c.maxWait || beyond(ctx, c.now().Add(wait)) {
			return answer{}, e
		}
		if err := c.sleep(ctx, wait); err != nil {
			return answer{}, c.ended(ctx, e)
		}
	}
}

// ended is an error of a call whose context ended while it waited for its next
// try: the kind of the last one, and the context's end besides.
func (c *Client) ended(ctx context.Context, e *Error) *Error {
	e.err = errors.Join(ctx.Err(), e.err)
	return e
}

// again reports whether it is safe and of use to try a call once more.
func (c *Client) again(call *call, e *Error) bool {
	if call.write != nil && (call.write.key == nil || !c.writeTries) {
		return false
	}
	switch e.Kind {
	case ErrTransport:
		// A certificate does not become a good one by asking again.
		var certificate *tls.CertificateVerificationError
		return !errors.As(e.err, &certificate)
	case ErrRateLimited, ErrUnavailable, ErrInternal, ErrInProgress:
		return true
	}
	return e.Status == http.StatusRequestTimeout
}

// wait returns how long to wait after a try: what the service asks for, else
// twice as long as the time before; with a random part, so that clients that
// failed together do not come back together.
func (c *Client) wait(try int, asked time.Duration) time.Duration {
	if asked > 0 {
		return asked + c.spread(firstWait)
	}
	d := firstWait << min(try-1, 20)
	d = min(d, max(c.maxWait, time.Millisecond))
	return d/2 + c.spread(d/2)
}

// beyond reports whether a context ends before a time.
func beyond(ctx context.Context, at time.Time) bool {
	deadline, ok := ctx.Deadline()
	return ok && deadline.Before(at)
}

// received fills the receipt that the caller of a write asked for.
func (w *write) received(a answer) {
	if w == nil || w.receipt == nil {
		return
	}
	*w.receipt = Receipt{
		Tag:       a.header.Get("ETag"),
		Replayed:  a.header.Get("Idempotent-Replayed") == "true",
		RequestID: a.requestID,
	}
	if w.key != nil {
		w.receipt.Key = *w.key
	}
}
