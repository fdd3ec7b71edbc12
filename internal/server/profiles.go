package server

import (
	"net/http"
	"net/http/pprof"

	"merchantorders/internal/web"
)

// ProfileRoutes returns the profiles of net/http/pprof, below /debug/pprof. They are
// for a port that only operators reach. The command line, which may have a password,
// is not among them.
func ProfileRoutes() web.RouteGroup {
	profile := func(path string, handler http.HandlerFunc) web.Route {
		return web.PublicRoute(http.MethodGet, path, func(w http.ResponseWriter, r *web.Request) error {
			handler(w, r.Request)
			return nil
		}).ForMonitoring()
	}
	return web.RouteGroup{
		Prefix: "/debug/pprof", Errors: web.EncodeMessage,
		Routes: []web.Route{
			profile("", pprof.Index),
			profile("/{profile}", pprof.Index),
			profile("/profile", pprof.Profile),
			profile("/symbol", pprof.Symbol),
			profile("/trace", pprof.Trace),
		},
	}
}
