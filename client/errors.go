package client

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
)

// The kinds of errors, for errors.Is. Every error of a call is an *Error of one of
// these kinds, unless the call's context ended or a reader of the caller failed.
// Then errors.Is finds the context's or the reader's error.
var (
	ErrUnauthorized    = errors.New("the token is missing or not valid")                // 401
	ErrForbidden       = errors.New("the token does not allow this")                    // 403
	ErrInvalidParams   = errors.New("a parameter is not valid")                         // 400; also found before anything was sent
	ErrInvalidPayload  = errors.New("the body is not valid")                            // 400
	ErrUnsupported     = errors.New("the service does not support this")                // 404 or 405 of the path: an older service, or not the address of a service
	ErrNotFound        = errors.New("no such order")                                    // 404, also for an order of another merchant
	ErrCannotAccept    = errors.New("the order's state does not allow accepting")       // 400
	ErrCannotReject    = errors.New("the order's state does not allow rejecting")       // 400
	ErrInvalidReason   = errors.New("the reason is not an allowed one")                 // 400
	ErrInvalidAction   = errors.New("the action is not an allowed one")                 // 400
	ErrTooManyFiles    = errors.New("the order has three invoice files already")        // 400
	ErrFileType        = errors.New("the file is not a pdf, png, jpeg or jpg")          // 400
	ErrFileTooBig      = fmt.Errorf("the file is larger than %d bytes", MaxInvoiceSize) // 400; also found before anything was sent
	ErrInvoiceNotFound = errors.New("no such invoice file")                             // 404, also if the order does not exist
	ErrTokenNotFound   = errors.New("no such token")                                    // 404, also for a token of another merchant
	ErrPrecondition    = errors.New("the order has changed since it was read")          // 412, after IfMatch
	ErrHistoryChanged  = errors.New("event numbers have started again")                 // another history, or after beyond the newest; found in a success
	ErrKeyReused       = errors.New("the key belongs to another write")                 // 422, after IdempotencyKey
	ErrInProgress      = errors.New("the same write is still in progress")              // 409
	ErrRateLimited     = errors.New("too many requests")                                // 429
	ErrUnavailable     = errors.New("the service is temporarily unavailable")           // 502, 503, 504
	ErrInternal        = errors.New("the service failed")                               // 500 and every other 5xx
	ErrTransport       = errors.New("no response")                                      // no connection, a broken one, a time-out
	ErrResponse        = errors.New("unexpected response")                              // broken JSON, another content type, too large, a redirect
	ErrRefused         = errors.New("the service refused the request")                  // any other 4xx
)

// Error is the error of a call. It never contains the token.
type Error struct {
	Op         string        // the operation, such as "accept order SF-1"
	Kind       error         // one of the kinds; nil: the caller's context ended or reader failed
	Status     int           // of the response; 0: no response
	Code       string        // of the service, such as "10304"; may be empty
	Message    string        // of the service, or of the client if there is none; one line
	Detail     string        // of the service: what is wrong and what is right; empty: an older service, or no 4xx
	RequestID  string        // of the last attempt, as in the log of the service
	RetryAfter time.Duration // from the service; 0: none
	Tries      int           // number of attempts; 0: nothing was sent

	err error // the cause; may be nil
}

// Error implements error. The text is one line.
func (e *Error) Error() string {
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
	text := e.Op + ": " + e.Message
	if e.Detail != "" && strings.TrimSuffix(e.Detail, ".") != e.Message {
		text = strings.TrimSuffix(text, ".") + ": " + e.Detail
	}
	if len(about) > 0 {
		text += " (" + strings.Join(about, ", ") + ")"
	}
	return text
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	return slices.DeleteFunc([]error{e.Kind, e.err}, func(err error) bool { return err == nil })
}

// Timeout reports whether the cause is a time-out.
func (e *Error) Timeout() bool {
	var late interface{ Timeout() bool }
	return e.err != nil && errors.As(e.err, &late) && late.Timeout()
}

// Temporary reports whether a later attempt may succeed.
func (e *Error) Temporary() bool {
	switch {
	case errors.Is(e.Kind, ErrTransport):
		// Time does not make a certificate valid.
		var certificate *tls.CertificateVerificationError
		return !errors.As(e.err, &certificate)
	case slices.Contains(retryableKinds, e.Kind):
		return true
	}
	return e.Status == http.StatusRequestTimeout
}

// notSent returns the error of a call that is not sent.
func (c *Client) notSent(op string, kind error, message string) *Error {
	return &Error{Op: c.clean(op), Kind: kind, Message: c.clean(message)}
}

// malformed returns the error of a response that v2 does not define.
func (c *Client) malformed(call *call, r response, err error) *Error {
	return &Error{
		Op: c.clean(call.op), Kind: ErrResponse, Status: r.status, Tries: r.tries, RequestID: r.requestID,
		Message: c.clean(ErrResponse.Error() + ": " + err.Error()), err: c.cause(err),
	}
}

// cause returns err, or only its text without the token if it contains the token.
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

// clean makes untrusted text safe for an error: one line of bounded length, without
// control characters and without the token.
func (c *Client) clean(text string) string {
	runes := []rune(strings.ToValidUTF8(c.redact(text), "\ufffd"))
	if len(runes) > maxMessage {
		runes = append(runes[:maxMessage:maxMessage], '…')
	}
	return strings.TrimSpace(strings.Map(printable, string(runes)))
}

// printable replaces control characters, line ends and direction marks by spaces,
// since they can disguise text on a terminal or in a log.
func printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return ' '
}
