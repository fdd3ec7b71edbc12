package web

import (
	"errors"
	"fmt"
	"net/http"

	"merchantorders/internal/order"
	"merchantorders/internal/web/ratelimit"
)

// Refusals that any route can return. The ErrorEncoder of each group decides what
// the client reads.
var (
	// ErrUnauthorized: the token is missing, malformed, unknown, expired or revoked.
	ErrUnauthorized = errors.New("unauthorized")
	// ErrForbidden: the token is valid but does not allow the request.
	ErrForbidden = errors.New("forbidden")
	// errOperatorToken and errMerchantToken are an ErrForbidden because of the kind of the token.
	errOperatorToken = fmt.Errorf("%w: an operator's token", ErrForbidden)
	errMerchantToken = fmt.Errorf("%w: a merchant's token", ErrForbidden)
	// ErrSuspended: the token is valid, but its merchant is suspended.
	ErrSuspended = errors.New("the merchant is suspended")
	// ErrRouteNotFound: no route has this path.
	ErrRouteNotFound = errors.New("no route has this path")
	// ErrContentEncoding: the body is compressed in another way than gzip.
	ErrContentEncoding = errors.New("the body has a content encoding other than gzip")
)

// RedirectError sends a browser to another address.
type RedirectError struct {
	To string
}

// Error implements error.
func (e *RedirectError) Error() string { return "redirected to the sign-in" }

// MethodError says that a path has no route for a method.
type MethodError struct {
	Allow string // the methods that it has, as in the Allow header
	Hint  string // what else helps, for Error-Detail; may be empty
}

// Error implements error.
func (e *MethodError) Error() string { return "method not allowed; allowed are " + e.Allow }

// Retry-After values, in seconds.
const (
	retryAfterUnavailable = "5"  // database or storage is out of reach
	retryAfterKeyInUse    = "1"  // the first request with the key is still running
	retryAfterRecords     = "60" // records are deleted after a day, once a minute
)

// errorResponse returns the response to an error.
func errorResponse(r *http.Request, encode ErrorEncoder, err error) Response {
	h := make(http.Header)
	if redirect, ok := errors.AsType[*RedirectError](err); ok {
		h.Set("Location", redirect.To)
		return Response{Status: http.StatusSeeOther, Header: h, Body: Page{ContentType: "text/plain; charset=utf-8"}}
	}
	status, body := encode(r, err)
	if method, ok := errors.AsType[*MethodError](err); ok {
		h.Set("Allow", method.Allow)
	}
	if errors.Is(err, order.ErrIdempotencyKeyInUse) {
		h.Set("Retry-After", retryAfterKeyInUse)
	}
	if errors.Is(err, order.ErrTooManyIdempotencyKeys) {
		h.Set("Retry-After", retryAfterRecords)
	}
	if limit, ok := errors.AsType[*ratelimit.Error](err); ok {
		limit.SetHeaders(h)
	}
	if status == http.StatusServiceUnavailable {
		h.Set("Retry-After", retryAfterUnavailable)
	}
	setDetail(h, r, err, status, body)
	return Response{Status: status, Header: h, Body: body}
}
