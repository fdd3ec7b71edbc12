package web

import (
	"net/http"
	"net/http/pprof"
)

// ProfileRoutes returns the profiles of net/http/pprof, below /debug/pprof. They are
// for a port that only operators reach. The command line, which may have a password,
// is not among them.
func ProfileRoutes() RouteGroup {
	profile := func(path string, handler http.HandlerFunc) Route {
		return PublicRoute(http.MethodGet, path, func(w http.ResponseWriter, r *http.Request) error {
			handler(w, r)
			return nil
		})
	}
	return RouteGroup{
		Prefix: "/debug/pprof", Errors: EncodeMessage,
		Routes: []Route{
			profile("", pprof.Index),
			profile("/{profile}", pprof.Index),
			profile("/profile", pprof.Profile),
			profile("/symbol", pprof.Symbol),
			profile("/trace", pprof.Trace),
		},
	}
}
