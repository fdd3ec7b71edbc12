package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"merchantorders/internal/metrics"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web/ratelimit"
	"merchantorders/internal/web/respcache"
)

// RouterConfig is what a Router works with.
type RouterConfig struct {
	Authenticator Authenticator
	Limits        *ratelimit.Limiter // nil: no rate limits
	Proxies       TrustedProxies     // those that tell the address of the client
	ResponseCache *respcache.Cache   // needed by read routes
	// Refuse returns the error of a request that is refused because of its form, before any
	// change: an error of the idempotency key comes first. Needed by write routes.
	Refuse  func(ctx context.Context, caller order.Caller, key order.Key, refusal error) error
	Metrics *metrics.Metrics // counts the uploads in progress; nil: not counted
	// Origin is that of the pages of the service, as browsers send it. A proxy may put another
	// Host into requests, and then no other header shows that a page is its own. Empty: unknown.
	Origin string
	// ViewVersion is part of every entity tag. It changes with everything that bodies
	// show beside the data. Empty: entity tags have no such part.
	ViewVersion string
}

// Router sends each request to its route. It answers other methods of a path with
// 405 and Allow, and every other path with 404, in the form of the group that the
// path belongs to. HEAD is served as GET. One slash at the end of a path is
// ignored (decision 3). Requests that change something and that a browser sends
// from another site get 403: the browser may add credentials on its own (decision 1).
type Router struct {
	config    RouterConfig
	mux       *http.ServeMux
	first     *http.ServeMux            // of the routes that are First
	prefixes  []string                  // which their paths have before the first wildcard
	groups    []RouteGroup              // the longest prefix first
	errors    map[string]ErrorEncoder   // by pattern
	methods   map[string]methodHandlers // by pattern, of the interfaces
	known     []knownPath               // of the interfaces
	crossSite http.CrossOriginProtection
}

// NewRouter returns a router over groups, one of which has an empty prefix.
func NewRouter(config RouterConfig, groups ...RouteGroup) *Router {
	rt := &Router{config: config, mux: http.NewServeMux(), first: http.NewServeMux(), groups: slices.Clone(groups), errors: make(map[string]ErrorEncoder), methods: make(map[string]methodHandlers)}
	if config.Origin != "" {
		// Its error is that of a URL with more than an origin.
		_ = rt.crossSite.AddTrustedOrigin(config.Origin)
	}
	slices.SortFunc(rt.groups, func(a, b RouteGroup) int { return len(b.Prefix) - len(a.Prefix) })
	for _, group := range rt.groups {
		byPath, first := make(map[string]methodHandlers), make(map[string]bool)
		for _, route := range group.Routes {
			if byPath[route.path] == nil {
				byPath[route.path] = make(methodHandlers)
			}
			if route.errors == nil {
				route.errors = group.Errors
			}
			pattern := group.Prefix + route.path
			byPath[route.path][route.method] = rt.encodingErrors(rt.handler(group, pattern, route), route)
			rt.errors[pattern] = route.errors
			first[pattern] = route.first
		}
		for pathPattern, methods := range byPath {
			pattern, mux := group.Prefix+pathPattern, rt.mux
			if first[pattern] {
				prefix, _, _ := strings.Cut(pattern, "{")
				mux, rt.prefixes = rt.first, append(rt.prefixes, prefix)
			}
			mux.Handle(pattern, rt.methodsHandler(pattern, methods, rt.errors[pattern]))
			if group.Interface != "" {
				rt.methods[pattern] = methods
				rt.known = append(rt.known, knownPath{group, pattern, segmentsOf(pathPattern)})
			}
		}
		notFound := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			writeError(w, r, group.Errors, rt.unknownPath(r))
		})
		rt.mux.Handle(group.Prefix+"/", notFound)
		if _, served := byPath[""]; group.Prefix != "" && !served {
			rt.mux.Handle(group.Prefix, notFound)
		}
	}
	return rt
}

// handler returns the handler of a route, with everything that its kind demands.
func (rt *Router) handler(group RouteGroup, pattern string, route Route) Handler {
	handle := route.handle
	switch {
	case route.read != nil:
		handle = serveRead(rt.config, pattern, route.read)
	case route.write != nil:
		handle = serveWrite(rt.config, route.write, route.errors)
		if route.kind == ratelimit.Upload {
			handle = rt.countUploads(handle)
		}
	}
	if group.ChecksParams {
		handle = route.checkingParams(handle)
	}
	if route.public {
		return handle
	}
	credentials := group.Credentials
	if credentials == nil {
		credentials = tokenCredentials{
			tokens: rt.config.Authenticator, limits: rt.config.Limits,
			basicChallenge: group.BasicChallenge, bearerOnly: !route.access.merchants,
		}
	}
	return rt.authenticated(credentials, route, handle)
}

// countUploads returns the handler of an upload route that counts its requests in
// progress.
func (rt *Router) countUploads(handle Handler) Handler {
	counts := rt.config.Metrics
	if counts == nil {
		return handle
	}
	return func(w http.ResponseWriter, r *Request) error {
		counts.UploadBegins()
		defer counts.UploadEnds()
		return handle(w, r)
	}
}

// ServeHTTP implements http.Handler.
func (rt *Router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r, body := withRequestBody(w, rt.withPlainPath(r))
	escaped := r.URL.EscapedPath()
	switch {
	case rt.crossSite.Check(r) != nil:
		writeError(w, r, rt.EncodeError, strict.Detail(ErrForbidden, "A browser sent this for a web page of another site: call from your server."))
	case !strings.HasPrefix(escaped, "/") || path.Clean(escaped) != escaped:
		// For an unclean path ServeMux would redirect, also a PUT, and for `*` it would
		// respond with plain text.
		writeError(w, r, rt.group(escaped).Errors, rt.unknownPath(r))
	default:
		rt.muxOf(r).ServeHTTP(w, r)
	}
	// Not deferred: after a panic, Observe sends the response.
	body.drain()
}

// EncodeError is the ErrorEncoder of the route that has a request's path, or of the
// group that the path belongs to.
func (rt *Router) EncodeError(r *http.Request, err error) (int, any) {
	r = rt.withPlainPath(r)
	_, pattern := rt.muxOf(r).Handler(r)
	if encode := rt.errors[pattern]; encode != nil {
		return encode(r, err)
	}
	return rt.group(r.URL.EscapedPath()).Errors(r, err)
}

// muxOf returns the routes of which one has the path of a request, if any has.
func (rt *Router) muxOf(r *http.Request) *http.ServeMux {
	if slices.ContainsFunc(rt.prefixes, func(prefix string) bool { return strings.HasPrefix(r.URL.Path, prefix) }) {
		if _, pattern := rt.first.Handler(r); pattern != "" {
			return rt.first
		}
	}
	return rt.mux
}

// group returns the group that a path belongs to.
func (rt *Router) group(escapedPath string) RouteGroup {
	for _, group := range rt.groups {
		if group.Prefix == "" || escapedPath == group.Prefix || strings.HasPrefix(escapedPath, group.Prefix+"/") {
			return group
		}
	}
	return rt.groups[len(rt.groups)-1]
}

// methodHandlers are the handlers of one path, by method.
type methodHandlers map[string]http.Handler

// methodsHandler returns the handler of the path with a pattern.
func (rt *Router) methodsHandler(pattern string, m methodHandlers, encode ErrorEncoder) http.Handler {
	if get, ok := m[http.MethodGet]; ok {
		m[http.MethodHead] = get
	}
	allowed := make([]string, 0, len(m))
	for method := range m {
		allowed = append(allowed, method)
	}
	slices.Sort(allowed)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		logEntryOf(r).route = pattern
		if handler, ok := m[r.Method]; ok {
			handler.ServeHTTP(w, r)
			return
		}
		writeError(w, r, encode, &MethodError{Allow: strings.Join(allowed, ", "), Hint: rt.methodHint(pattern, allowed, r)})
	})
}

// methodHint says what a request with another method than those allowed may mean: the same one in
// capitals, or the nearest path above that has it.
func (rt *Router) methodHint(pattern string, allowed []string, r *http.Request) string {
	if r.Header.Get("Access-Control-Request-Method") != "" {
		return " A browser asks for a web page of another site: call from your server."
	}
	if slices.Contains(allowed, strings.ToUpper(r.Method)) {
		return " Methods are in capital letters."
	}
	if word := rt.meantWord(r); word != "" {
		return word
	}
	for above := path.Dir(pattern); len(above) > 1; above = path.Dir(above) {
		if rt.methods[above][r.Method] != nil {
			return " " + r.Method + " is for " + above + "."
		}
	}
	return ""
}

// encodingErrors returns handle, the handler of a route, as an http.Handler that sends
// its errors.
func (rt *Router) encodingErrors(handle Handler, route Route) http.Handler {
	class := route.requestClass()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		logEntryOf(r).class = class
		begun := time.Now()
		request := rt.newRequest(r)
		defer request.Leave()
		err := handle(w, request)
		if errors.Is(err, context.Canceled) && IsStopping(r.Context()) {
			err = errStopped
		}
		if errors.Is(err, order.ErrNotFound) {
			err = strict.Detail(err, "%s", noOrder(r)+rt.meantWord(r))
		}
		if err != nil {
			if _, limited := errors.AsType[*ratelimit.Error](err); limited {
				Wait(r.Context(), refusalTime-time.Since(begun))
			}
			writeError(w, r, route.errors, err)
		}
		requestBodyOf(r).drain() // while the request is in flight
	})
}

// refusalTime is how long the response 429 takes at least: a client that does not wait before
// it sends the next request costs others little.
const refusalTime = time.Second

// Wait waits for a time, or until a context ends.
func Wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// withPlainPath returns the request with one slash less at the end of its path, if
// there is one, and with one slash for each run of them if the group merges slashes.
// A slash that is percent-encoded is part of a segment.
func (rt *Router) withPlainPath(r *http.Request) *http.Request {
	escaped := r.URL.EscapedPath()
	plain := escaped
	if rt.group(escaped).MergeSlashes {
		plain = slashes.ReplaceAllLiteralString(escaped, "/")
	}
	if len(plain) > 1 {
		plain = strings.TrimSuffix(plain, "/")
	}
	if plain == escaped {
		return r
	}
	decoded, err := url.PathUnescape(plain)
	if err != nil {
		return r // not reached: EscapedPath is valid
	}
	shorter, target := *r, *r.URL
	target.Path, target.RawPath = decoded, plain
	shorter.URL = &target
	return &shorter
}

var slashes = regexp.MustCompile(`//+`)

// writeError sends the response to an error. An error of the service goes to the
// log unchanged; the client reads what the encoder makes of it.
func writeError(w http.ResponseWriter, r *http.Request, encode ErrorEncoder, err error) {
	requestBodyOf(r).shortenDeadline()
	response := errorResponse(r, encode, err)
	if response.Status >= http.StatusInternalServerError {
		logEntryOf(r).err = err
	}
	if err := writeResponse(w, response); err != nil {
		logEntryOf(r).err = err
		w.WriteHeader(http.StatusInternalServerError)
	}
}
