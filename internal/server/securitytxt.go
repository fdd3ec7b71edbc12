package server

import (
	"fmt"
	"net/http"
	"time"

	"merchantorders/internal/web"
)

// securityLifetime is how long the text of a response of security.txt is valid. RFC 9116
// recommends less than a year.
const securityLifetime = 180 * 24 * time.Hour

// SecurityRoute returns the route of security.txt, by RFC 9116: where to report
// vulnerabilities. The URI contact may be empty; then the path does not exist.
func SecurityRoute(contact string, now func() time.Time) web.Route {
	return web.PublicRoute(http.MethodGet, "/.well-known/security.txt", func(w http.ResponseWriter, _ *web.Request) error {
		if contact == "" {
			return web.ErrRouteNotFound
		}
		text := fmt.Appendf(nil, "Contact: %s\nExpires: %s\n", contact, web.TimeText(now().Add(securityLifetime)))
		web.Page{ContentType: "text/plain; charset=utf-8", Body: text}.Write(w, http.StatusOK)
		return nil
	})
}
