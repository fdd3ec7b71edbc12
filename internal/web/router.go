package web

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"merchantorders/internal/token"
)

// Handler answers a request, or returns an error before it has written
// anything; the section's ErrorForm then decides what the client reads.
type Handler func(w http.ResponseWriter, r *http.Request) error

// ErrorForm turns an error into the status and the JSON body of an answer.
// What it does not know is a 500 that tells nothing.
type ErrorEncoder func(r *http.Request, err error) (status int, body any)

// Access says whose token a route takes.
type Access uint8

// The accesses of a route.
const (
	ForMerchants Access = iota // a merchant's token with the route's scope
	ForOperators               // an operator's token
	Public                     // none is looked at
)

// Route is one method of one path.
type Route struct {
	Method string
	Path   string // below the section's prefix, empty for the prefix itself; {name} stands for one segment
	Access Access
	Scope  token.Scope // of a route for merchants
	Handle Handler
}

// changes reports whether a merchant changes something by the route.
func (route Route) changes() bool {
	return route.Access == ForMerchants && route.Method != http.MethodGet
}

// Section is a part of the service with one prefix and one form of errors.
type RouteGroup struct {
	Prefix string // "/api"; empty for the rest of the service
	Routes []Route
	Errors ErrorEncoder
	// Attempts keeps the answers to requests of merchants that change something
	// and have an Idempotency-Key. nil: neither that header nor If-Match is looked
	// at.
	Attempts Refuser
}

// Router sends each request to its route. Every path that is served answers
// other methods with 405 and Allow, every other path with 404, each in the
// form of the section that the path belongs to. HEAD is served as GET. One
// slash at the end of a path makes no difference (decision 3).
type Router struct {
	mux      *http.ServeMux
	sections []RouteGroup // the longest prefix first
}

// NewRouter returns a router over sections, one of which has an empty prefix.
// verifier tells whose a token is.
func NewRouter(verifier Authenticator, sections ...RouteGroup) *Router {
	return NewLimitedRouter(verifier, nil, sections...)
}

// NewLimitedRouter is NewRouter with limits; nil for none.
func NewLimitedRouter(verifier Authenticator, limits *Limits, sections ...RouteGroup) *Router {
	rt := &Router{mux: http.NewServeMux(), sections: slices.Clone(sections)}
	slices.SortFunc(rt.sections, func(a, b RouteGroup) int { return len(b.Prefix) - len(a.Prefix) })
	for _, section := range rt.sections {
		byPath := make(map[string]map[string]Handler)
		for _, route := range section.Routes {
			if byPath[route.Path] == nil {
				byPath[route.Path] = make(map[string]Handler)
			}
			if section.Attempts != nil && route.changes() {
				route.Handle = attempted(section.Attempts, section.Errors, route.Handle)
			}
			byPath[route.Path][route.Method] = authorize(verifier, limits, route)
		}
		for pathPattern, methods := range byPath {
			pattern := section.Prefix + pathPattern
			rt.mux.Handle(pattern, serveMethods(pattern, methods, section.Errors))
		}
		nothing := serveNothing(section.Errors)
		rt.mux.Handle(section.Prefix+"/", nothing)
		if _, served := byPath[""]; section.Prefix != "" && !served {
			rt.mux.Handle(section.Prefix, nothing)
		}
	}
	return rt
}

// Sections returns what is served, the longest prefix first.
func (rt *Router) Groups() []RouteGroup { return slices.Clone(rt.sections) }

// ServeHTTP implements http.Handler.
func (rt *Router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r, body := withBody(w, withoutTrailingSlash(withLogEntry(r)))
	// ServeMux would redirect an unclean path, also a PUT, and refuse `*`, with
	// a body of text.
	if escaped := r.URL.EscapedPath(); !strings.HasPrefix(escaped, "/") || path.Clean(escaped) != escaped {
		writeError(w, r, rt.section(escaped).Errors, ErrRouteNotFound)
	} else {
		rt.mux.ServeHTTP(w, r)
	}
	// Not deferred: after a panic the answer is not this one's to send.
	body.drain()
}

// ErrorForm is the ErrorForm of the section that a request's path belongs to.
func (rt *Router) EncodeError(r *http.Request, err error) (int, any) {
	return rt.section(r.URL.EscapedPath()).Errors(r, err)
}

// section returns the section that a path belongs to.
func (rt *Router) section(escapedPath string) RouteGroup {
	for _, section := range rt.sections {
		if section.Prefix == "" || escapedPath == section.Prefix || strings.HasPrefix(escapedPath, section.Prefix+"/") {
			return section
		}
	}
	return rt.sections[len(rt.sections)-1]
}

// serveMethods answers one path.
func serveMethods(pattern string, methods map[string]Handler, form ErrorEncoder) http.Handler {
	allowed := make([]string, 0, len(methods)+1)
	for method := range methods {
		allowed = append(allowed, method)
	}
	if get, ok := methods[http.MethodGet]; ok {
		methods[http.MethodHead] = get
		allowed = append(allowed, http.MethodHead)
	}
	slices.Sort(allowed)
	refusal := &MethodError{Allow: strings.Join(allowed, ", ")}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setRoute(r, pattern)
		handle, ok := methods[r.Method]
		if !ok {
			writeError(w, r, form, refusal)
			return
		}
		if err := handle(w, r); err != nil {
			writeError(w, r, form, err)
		}
	})
}

// serveNothing answers the paths of a section that no route serves.
func serveNothing(form ErrorEncoder) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writeError(w, r, form, ErrRouteNotFound)
	})
}

// withoutTrailingSlash returns the request with one slash less at the end of
// its path, where there is one.
func withoutTrailingSlash(r *http.Request) *http.Request {
	if len(r.URL.Path) < 2 || !strings.HasSuffix(r.URL.EscapedPath(), "/") {
		return r
	}
	shorter, target := *r, *r.URL
	target.Path = strings.TrimSuffix(target.Path, "/")
	target.RawPath = strings.TrimSuffix(target.RawPath, "/")
	shorter.URL = &target
	return &shorter
}

// writeError answers with an error in a section's form. A fault of the service
// goes to the log as it is; the client reads what the form makes of it.
func writeError(w http.ResponseWriter, r *http.Request, form ErrorEncoder, err error) {
	requestBodyOf(r).shortenDeadline()
	status, body := form(r, err)
	if status >= http.StatusInternalServerError {
		setRequestError(r, err)
	}
	setErrorHeaders(w.Header(), err, status)
	if writeErr := WriteJSON(w, status, body); writeErr != nil {
		setRequestError(r, writeErr)
		w.WriteHeader(http.StatusInternalServerError)
	}
}
