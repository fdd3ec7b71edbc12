package console

import (
	"net/http"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// formPages returns a GET route for each path that only takes a form. It leads to the
// nearest page above the path, which has the form. A reload brings people there, and the
// sign-in after a session has ended.
func (s *site) formPages(routes []web.Route) []web.Route {
	pages := make(map[string]bool)
	for _, route := range routes {
		if route.Method() == http.MethodGet {
			pages[route.Path()] = true
		}
	}
	var redirects []web.Route
	for _, route := range routes {
		if route.Method() != http.MethodPost || pages[route.Path()] {
			continue
		}
		levels := 0
		for page := route.Path(); !pages[page]; page = above(page) {
			levels++
		}
		redirects = append(redirects, web.PublicRoute(http.MethodGet, route.Path(), func(w http.ResponseWriter, r *web.Request) error {
			page := r.URL.EscapedPath()
			for range levels {
				page = above(page)
			}
			return s.redirect(w, r, page)
		}))
	}
	return redirects
}

// above returns a path without its last segment.
func above(path string) string { return path[:strings.LastIndexByte(path, '/')] }

// home returns the path of the page that a session begins with, other than the
// overview; empty: it begins with the overview, or has no page.
func (s *site) home(caller order.Caller) string {
	switch {
	case caller.Operator() && s.Audience&Operators != 0:
		return operatorPrefix
	case caller.Operator() || caller.Can(order.ScopeOrdersRead):
		return ""
	case caller.Can(order.ScopeTokens):
		return Prefix + "/tokens"
	case caller.Can(order.ScopeWebhooks):
		return Prefix + "/webhooks"
	}
	return ""
}
