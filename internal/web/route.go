package web

import (
	"net/http"
	"strconv"

	"merchantorders/internal/order"
)

// Request is a request that a merchant's token authenticated.
type Request struct {
	*http.Request
	MerchantID int64
	// DataVersion is that of the merchant's data, read after the request arrived.
	DataVersion order.DataVersion

	nameNonce int64 // see token.Grant
	auth      authenticator
	leave     func() // nil after Leave
}

// viewVersion returns the version of what bodies for the merchant show beside its data:
// that of the service, and the name of the merchant, if that was ever changed.
func (r *Request) viewVersion(service string) string {
	if r.nameNonce == 0 {
		return service
	}
	return service + "-" + strconv.FormatInt(r.nameNonce, 36)
}

// Leave stops counting the request among those of its token in flight. A handler
// that waits calls it, if there is a limit of its own on how many wait.
func (r *Request) Leave() {
	if r.leave != nil {
		r.leave()
		r.leave = nil
	}
}

// Reauthenticate returns the error of a request without a valid token if the token
// is not valid any more, and ErrSuspended if the merchant is suspended. A handler that has waited calls it before it responds. h
// is the header of the response.
func (r *Request) Reauthenticate(h http.Header) error {
	grant, err := r.auth.readGrant(h, r.Request)
	if err == nil && grant.Suspended {
		err = ErrSuspended
	}
	return err
}

// Handler serves a request of an operator or of the public, or returns an error
// before it has written anything; the group's ErrorEncoder then makes the
// response.
type Handler func(w http.ResponseWriter, r *http.Request) error

// merchantHandler is Handler for requests of merchants.
type merchantHandler func(w http.ResponseWriter, r *Request) error

// ErrorEncoder returns the status and the JSON body of the response to an error, or a
// Page.
// For an error that it does not know it returns 500 and a body without details.
type ErrorEncoder func(r *http.Request, err error) (status int, body any)

// access says whose token a route accepts.
type access uint8

const (
	forMerchants access = iota // a merchant's token with the route's scope
	forOperators               // an operator's token with the route's scope
	public                     // no token is checked
)

// Route is one method of one path. The functions below are the only way to make
// one. A merchant's route that changes something can only be made by WriteRoute,
// UploadRoute or ChangeRoute, so it cannot ignore If-Match and Idempotency-Key.
//
// A path is relative to the group's prefix, and empty for the prefix itself;
// {name} matches one segment.
type Route struct {
	method, path string
	access       access
	scope        order.Scope
	upload       bool // its requests are large, so fewer are handled at once
	errors       ErrorEncoder

	// One of these is set.
	read   ReadHandler
	write  WriteHandler
	change ChangeHandler
	get    merchantHandler // also of an UnrecordedRoute
	plain  Handler
}

// ReadRoute returns a GET route for merchants. Its responses are cached, and
// answered with 304 Not Modified if the client has them.
func ReadRoute(path string, scope order.Scope, handle ReadHandler) Route {
	return Route{method: http.MethodGet, path: path, scope: scope, read: handle}
}

// WriteRoute returns a route by which merchants change an order.
func WriteRoute(method, path string, scope order.Scope, handle WriteHandler) Route {
	return Route{method: method, path: path, scope: scope, write: handle}
}

// UploadRoute returns a POST route by which merchants upload a file to an order.
func UploadRoute(path string, scope order.Scope, handle WriteHandler) Route {
	return Route{method: http.MethodPost, path: path, scope: scope, write: handle, upload: true}
}

// ChangeRoute returns a route by which merchants change something other than an order.
func ChangeRoute(method, path string, scope order.Scope, handle ChangeHandler) Route {
	return Route{method: method, path: path, scope: scope, change: handle}
}

// GetRoute returns a GET route for merchants whose handler writes the response
// itself: a file, or a response that is not to be cached.
func GetRoute(path string, scope order.Scope, handle func(http.ResponseWriter, *Request) error) Route {
	return Route{method: http.MethodGet, path: path, scope: scope, get: handle}
}

// UnrecordedRoute returns a POST route for merchants that changes no data that a client
// can read. A client may repeat a request freely, so there is no Idempotency-Key.
func UnrecordedRoute(path string, scope order.Scope, handle func(http.ResponseWriter, *Request) error) Route {
	return Route{method: http.MethodPost, path: path, scope: scope, get: handle}
}

// OperatorWriteRoute returns a route by which operators change an order. Its requests
// have the MerchantID order.OperatorKeys.
func OperatorWriteRoute(method, path string, scope order.Scope, handle WriteHandler) Route {
	return Route{method: method, path: path, access: forOperators, scope: scope, write: handle}
}

// OperatorChangeRoute returns a route by which operators change something else.
func OperatorChangeRoute(method, path string, scope order.Scope, handle ChangeHandler) Route {
	return Route{method: method, path: path, access: forOperators, scope: scope, change: handle}
}

// OperatorRoute returns a route for operators whose handler writes the response
// itself. One that changes something is made by OperatorChangeRoute if it can be.
func OperatorRoute(method, path string, scope order.Scope, handle Handler) Route {
	return Route{method: method, path: path, access: forOperators, scope: scope, plain: handle}
}

// PublicRoute returns a route for everybody.
func PublicRoute(method, path string, handle Handler) Route {
	return Route{method: method, path: path, access: public, plain: handle}
}

// WithErrors returns the route with another encoder than the group's, for errors that
// have a different meaning on this route.
func (route Route) WithErrors(encode ErrorEncoder) Route {
	route.errors = encode
	return route
}

// Method returns the HTTP method of the route.
func (route Route) Method() string { return route.method }

// Path returns the path of the route below its group's prefix.
func (route Route) Path() string { return route.path }

// RouteGroup is the routes below one prefix. They share an ErrorEncoder, which
// also encodes 404 and 405 for the other paths and methods below the prefix.
type RouteGroup struct {
	Prefix string // "/api"; empty for every path outside the other groups
	Routes []Route
	Errors ErrorEncoder
	// MergeSlashes: a run of slashes in a path counts as one. Clients join a base URL
	// that ends with a slash and a path that begins with one (decision 3).
	MergeSlashes bool
	// BasicChallenge: a 401 also asks for Basic. A browser then asks for a password,
	// and remembers it (decision 1).
	BasicChallenge bool
}
