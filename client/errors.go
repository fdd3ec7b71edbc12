package client

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// The kinds of errors, to be told apart with errors.Is. Every error of a call
// is an *Error, and of one of them, except when the call's own context ended or
// the reader or writer that the caller gave failed: errors.Is finds those
// errors themselves then.
var (
	ErrUnauthorized    = errors.New("the token is missing or not valid")           // 401
	ErrForbidden       = errors.New("the token does not allow this")               // 403
	ErrInvalidParams   = errors.New("a parameter is not valid")                    // 400; also found before anything was sent
	ErrInvalidPayload  = errors.New("the body is not valid")                       // 400
	ErrUnsupported     = errors.New("the service does not serve this")             // 404 or 405 of the path: older than the client, or not the address of a service
	ErrNotFound        = errors.New("no such order")                               // 404, also for another merchant's
	ErrCannotAccept    = errors.New("the order's state does not allow accepting")  // 400
	ErrCannotReject    = errors.New("the order's state does not allow rejecting")  // 400
	ErrInvalidReason   = errors.New("the reason is not an allowed one")            // 400
	ErrInvalidAction   = errors.New("the action is not an allowed one")            // 400
	ErrTooManyFiles    = errors.New("the order has three invoice files already")   // 400
	ErrFileType        = errors.New("the file is not a pdf, png, jpeg or jpg")     // 400
	ErrFileTooBig      = errors.New("the file is larger than 4,000,000 bytes")     // 400; also found before anything was sent
	ErrInvoiceNotFound = errors.New("no such invoice file")                        // 404, also of an order that is not there
	ErrPrecondition    = errors.New("the order has changed since it was read")     // 412, after IfMatch
	ErrKeyReused       = errors.New("the key belongs to another write")            // 422, after IdempotencyKey
	ErrInProgress      = errors.New("the same write is still under way")           // 409
	ErrRateLimited     = errors.New("too many requests")                           // 429
	ErrUnavailable     = errors.New("the service cannot answer for now")           // 502, 503, 504
	ErrInternal        = errors.New("the service failed")                          // 500 and every other 5xx
	ErrTransport       = errors.New("no answer came")                              // no connection, a cut one, a time-out
	ErrResponse        = errors.New("the answer is not one of the interface")      // broken JSON, another content type, too large, a redirect
	ErrRefused         = errors.New("the service refused for a reason of its own") // a 4xx of no other kind
)

// Error is how a call failed. It never holds the token.
type Error struct {
	Op         string        // what was asked, such as "accept order SF-1"
	Kind       error         // one of the kinds; nil: the caller's context, reader or writer failed
	Status     int           // of the answer; 0: none came, or nothing was sent
	Code       string        // of the service, such as "10304"; empty: it gave none
	Message    string        // the service's words, or ours where there are none; one line
	RequestID  string        // under which the service knows the request, or would
	RetryAfter time.Duration // that the service asked for; 0: none
	Tries      int           // how often it was sent; 0: not at all

	err error // what happened below; nil: nothing to tell
}

// Error implements error: one line, for people.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op + ": " + e.Message)
	var about []string
	if e.Status != 0 {
		about = append(about, fmt.Sprintf("status %d", e.Status))
	}
	if e.Code != "" {
		about = append(about, "code "+e.Code)
	}
	if e.RetryAfter > 0 {
		about = append(about, fmt.Sprintf("retry after %s", e.RetryAfter))
	}
	if e.Tries > 1 {
		about = append(about, fmt.Sprintf("tried %d times", e.Tries))
	}
	if e.RequestID != "" {
		about = append(about, "request "+e.RequestID)
	}
	if len(about) > 0 {
		b.WriteString(" (" + strings.Join(about, ", ") + ")")
	}
	return b.String()
}

// Unwrap lets errors.Is and errors.As see the kind and what happened below.
func (e *Error) Unwrap() []error {
	var below []error
	for _, err := range []error{e.Kind, e.err} {
		if err != nil {
			below = append(below, err)
		}
	}
	return below
}

// Timeout reports whether a time-out was the cause.
func (e *Error) Timeout() bool {
	var late interface{ Timeout() bool }
	return e.err != nil && errors.As(e.err, &late) && late.Timeout()
}

// refuse is the error of a call that is not sent.
func (c *Client) refuse(op string, kind error, message string) *Error {
	return &Error{Op: c.clean(op), Kind: kind, Message: c.clean(message)}
}

// malformed is the error of an answer that the interface does not have.
func (c *Client) malformed(call *call, a answer, err error) *Error {
	return &Error{
		Op: c.clean(call.op), Kind: ErrResponse, Status: a.status, Tries: a.tries, RequestID: a.requestID,
		Message: c.clean(ErrResponse.Error() + ": " + err.Error()), err: c.cause(err),
	}
}

// cause returns an error fit to be looked into: itself, or its text alone in
// the odd case that somebody put the token into it.
func (c *Client) cause(err error) error {
	if err == nil {
		return nil
	}
	if text := err.Error(); c.redact(text) != text {
		return errors.New(c.clean(text))
	}
	return err
}

const maxMessage = 500 // runes

// clean makes a text from outside fit for an error: one line without control
// characters, of bounded length, without the token.
func (c *Client) clean(text string) string {
	runes := []rune(strings.ToValidUTF8(c.redact(text), "\ufffd"))
	if len(runes) > maxMessage {
		runes = append(runes[:maxMessage:maxMessage], '…')
	}
	return strings.TrimSpace(strings.Map(harmless, string(runes)))
}
