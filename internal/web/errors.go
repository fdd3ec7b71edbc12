package web

import (
	"errors"
	"net/http"
	"strconv"

	"merchantorders/internal/order"
)

// Refusals that any section can meet. Each section's ErrorForm writes them in
// its own words.
var (
	// ErrUnauthorized: token missing, malformed, unknown, expired or revoked.
	ErrUnauthorized = errors.New("unauthorized")
	// ErrForbidden: the token is good but not for this.
	ErrForbidden = errors.New("forbidden")
	// ErrNoRoute: nothing is served at this path.
	ErrRouteNotFound = errors.New("nothing is served at this path")
	// ErrPayload: the body is not what the endpoint takes.
	ErrInvalidPayload = errors.New("invalid payload")
)

// MethodError says that a path is served, but not with this method.
type MethodError struct {
	Allow string // the methods that are, as in the Allow header
}

// Error implements error.
func (e *MethodError) Error() string { return "method not allowed, only " + e.Allow }

// ParamError says what is wrong with a query parameter or a header, in words
// that the client may read.
type ParamError struct {
	Name    string // the parameter, as this version spells it, or the header
	Problem string
}

// Error implements error.
func (e *ParamError) Error() string { return e.Name + " " + e.Problem }

// Status returns the HTTP status of an error that means the same in every
// section; 500 for every other.
func Status(err error) int {
	var method *MethodError
	var param *ParamError
	var limit *LimitError
	switch {
	case errors.As(err, &limit):
		return http.StatusTooManyRequests
	case errors.Is(err, ErrUnauthorized):
		return http.StatusUnauthorized
	case errors.Is(err, ErrForbidden):
		return http.StatusForbidden
	case errors.Is(err, ErrRouteNotFound):
		return http.StatusNotFound
	case errors.As(err, &method):
		return http.StatusMethodNotAllowed
	case errors.As(err, &param), errors.Is(err, ErrInvalidPayload), errors.Is(err, order.ErrInvalidRange):
		return http.StatusBadRequest
	case errors.Is(err, order.ErrPreconditionFailed):
		return http.StatusPreconditionFailed
	case errors.Is(err, order.ErrIdempotencyKeyReused):
		return http.StatusUnprocessableEntity
	case errors.Is(err, order.ErrIdempotencyKeyInUse):
		return http.StatusConflict
	case errors.Is(err, order.ErrUnavailable):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// retryAfter is how long, in seconds, a client is asked to wait when database
// or storage is out of reach.
const retryAfter = "5"

// retryRunning is how long, in seconds, a client is asked to wait while its
// first request is still running.
const retryRunning = "1"

// setErrorHeaders adds the headers that belong to an error in every section.
func setErrorHeaders(h http.Header, err error, status int) {
	var method *MethodError
	if errors.As(err, &method) {
		h.Set("Allow", method.Allow)
	}
	if errors.Is(err, order.ErrIdempotencyKeyInUse) {
		h.Set("Retry-After", retryRunning)
	}
	var limit *LimitError
	if errors.As(err, &limit) {
		h.Set("Retry-After", strconv.Itoa(retrySeconds))
		h.Set(ratePolicyHeader, limit.policy)
		h.Set(rateLimitHeader, limit.state)
	}
	switch status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer realm="merchant-orders"`)
		h.Add("WWW-Authenticate", `Basic realm="merchant-orders", charset="UTF-8"`)
	case http.StatusServiceUnavailable:
		h.Set("Retry-After", retryAfter)
	}
}
