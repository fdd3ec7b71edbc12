package web

import (
	"net/http"

	"merchantorders/internal/metrics"
	"merchantorders/internal/web/ratelimit"
)

// Handler serves a request, or returns an error before it has written anything; the
// group's ErrorEncoder then makes the response.
type Handler func(w http.ResponseWriter, r *Request) error

// ErrorEncoder returns the status and the JSON body of the response to an error, or a
// Page. For an error that it does not know it returns 500 and a body without details.
type ErrorEncoder func(r *http.Request, err error) (status int, body any)

// Route is one method of one path. The functions below are the only way to make
// one. A route that changes something is made by WriteRoute, FormRoute or StreamRoute
// if it can be, so that it cannot ignore If-Match and Idempotency-Key.
//
// A path is relative to the group's prefix, and empty for the prefix itself;
// {name} matches one segment.
type Route struct {
	method, path string
	first        bool // see First
	access       Access
	public       bool // nobody is authenticated
	kind         ratelimit.Kind
	class        metrics.Class // empty: by the method, and a stream if it is an upload or an export
	errors       ErrorEncoder
	params       []string // see Takes
	noOthers     bool     // see TakesOnly

	// One of these is set.
	read   ReadHandler
	write  WriteHandler
	handle Handler
}

// ReadRoute returns a GET route for merchants. Its responses are cached, and
// answered with 304 Not Modified if the client has them.
func ReadRoute(path string, access Access, handle ReadHandler) Route {
	return Route{method: http.MethodGet, path: path, access: access, read: handle}
}

// WriteRoute returns a route that changes something.
func WriteRoute(method, path string, access Access, handle WriteHandler) Route {
	return Route{method: method, path: path, access: access, write: handle}
}

// FormRoute returns a route of a form of at most limit bytes, which people send.
func FormRoute(path string, access Access, limit int64, handle FormHandler) Route {
	return Route{method: http.MethodPost, path: path, access: access, handle: serveForm(limit, handle)}
}

// StreamRoute returns a POST route whose body and response are lines. Its requests count
// as uploads in the limits of a token.
func StreamRoute(path string, access Access, handle StreamHandler) Route {
	return Route{method: http.MethodPost, path: path, access: access, kind: ratelimit.Upload, handle: serveStream(streamTimeout, handle)}
}

// ExportRoute returns a GET route whose response is a stream, of which a token has few
// at once.
func ExportRoute(path string, access Access, handle StreamHandler) Route {
	return Route{method: http.MethodGet, path: path, access: access, kind: ratelimit.Export, handle: serveStream(streamTimeout, handle)}
}

// GetRoute returns a GET route whose handler writes the response itself: a file, a page, or
// several kinds of responses.
func GetRoute(path string, access Access, handle Handler) Route {
	return Route{method: http.MethodGet, path: path, access: access, handle: handle}
}

// ValueHandler serves a GET with a value.
type ValueHandler func(r *Request) (any, error)

// ValueRoute returns a GET route whose response is a value as JSON, which is not to be cached.
func ValueRoute(path string, access Access, handle ValueHandler) Route {
	return GetRoute(path, access, func(w http.ResponseWriter, r *Request) error {
		value, err := handle(r)
		if err != nil {
			return err
		}
		return WriteJSON(w, http.StatusOK, value)
	})
}

// PostRoute returns a POST route whose handler reads the body and writes the response
// itself. A client may repeat its requests freely, so there is no Idempotency-Key: it
// changes no data that a client can read, or each part of the body has a key.
func PostRoute(path string, access Access, handle Handler) Route {
	return Route{method: http.MethodPost, path: path, access: access, handle: handle}
}

// PublicRoute returns a route for everybody.
func PublicRoute(method, path string, handle Handler) Route {
	return Route{method: method, path: path, public: true, handle: handle}
}

// First returns the route for a path that another route of the group matches too, without
// being more general: of /orders/by-number/{number} and /orders/{reference}/events.
func (route Route) First() Route {
	route.first = true
	return route
}

// AsUpload returns the route with the limits of uploads.
func (route Route) AsUpload() Route {
	route.kind = ratelimit.Upload
	return route
}

// AsStream returns the route whose requests last as long as the client, a file or
// another server takes, so that their time says nothing about the service.
func (route Route) AsStream() Route {
	route.class = metrics.Stream
	return route
}

// ForMonitoring returns the route of probes, metrics or profiles.
func (route Route) ForMonitoring() Route {
	route.class = metrics.Monitoring
	return route
}

// requestClass returns the class of the route's requests in the metrics.
func (route Route) requestClass() metrics.Class {
	switch {
	case route.class != "":
		return route.class
	case route.kind != ratelimit.Plain:
		return metrics.Stream
	}
	return classOf(route.method)
}

// classOf returns the class of a request whose route is not known.
func classOf(method string) metrics.Class {
	if method == http.MethodGet || method == http.MethodHead {
		return metrics.Read
	}
	return metrics.Write
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
	// Interface is what the group is to programs, such as "Version 1"; empty: nothing that a
	// wrong path could mean.
	Interface string
	Errors    ErrorEncoder
	// Credentials authenticates the requests; nil: the token in their header does.
	Credentials Credentials
	// MergeSlashes: a run of slashes in a path counts as one. Clients join a base URL
	// that ends with a slash and a path that begins with one (decision 3).
	MergeSlashes bool
	// ChecksParams: the response names the query parameters that its route does not take.
	ChecksParams bool
	// BasicChallenge: a 401 also asks for Basic. A browser then asks for a password,
	// and remembers it (decision 1).
	BasicChallenge bool
}
