package storageapi

import (
	"errors"
	"html"
	"net/http"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// LinkRoutes returns the route of signed links. People open them in a browser, so
// errors are sentences, as HTML or plain text.
func (a API) LinkRoutes() web.RouteGroup {
	return web.RouteGroup{
		Prefix: "/files",
		Errors: encodePage,
		Routes: []web.Route{web.PublicRoute(http.MethodGet, "/{link}", a.openLink).AsStream()},
	}
}

// openLink serves GET /{link}. The link in the path is as secret as a token: nothing
// may log it or pass it on.
func (a API) openLink(w http.ResponseWriter, r *web.Request) error {
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Content-Security-Policy", pagePolicy)
	text := r.PathValue("link")
	invoice, file, err := a.Links.Open(r.Context(), text, func(merchantID int64) error { return r.EnterLink(text, merchantID) })
	return a.send(w, r, invoice, file, err)
}

// pagePolicy is the Content-Security-Policy of an error page.
const pagePolicy = "sandbox; default-src 'none'"

// pages are the errors of links with their sentences. The first match counts.
var pages = []struct {
	err    error
	status int
	text   string
}{
	{order.ErrLinkExpired, http.StatusGone, "This link has expired. A link to an invoice file is valid for 15 minutes: ask for a new one."},
	{order.ErrMerchantSuspended, http.StatusForbidden, "This invoice file cannot be opened now: the merchant is suspended."},
	{order.ErrInvoiceNotFound, http.StatusNotFound, "This invoice file was deleted."},
	{order.ErrLinkInvalid, http.StatusNotFound, "This link is not valid. Check that the whole address was copied, or ask for a new link."},
	{order.ErrUnavailable, http.StatusServiceUnavailable, "The service is not available now. Try again in a moment."},
}

// encodePage is the ErrorEncoder of links. No person causes errors of the path's form or of the
// method: they are JSON, as everywhere below /storage.
func encodePage(r *http.Request, err error) (int, any) {
	status, text := web.Status(err), ""
	if errors.Is(err, web.ErrRouteNotFound) || status == http.StatusMethodNotAllowed {
		return web.EncodeMessage(r, err)
	}
	if refused, ok := errors.AsType[*contentError](err); ok {
		status = refused.status
	}
	for _, page := range pages {
		if errors.Is(err, page.err) {
			status, text = page.status, page.text
			break
		}
	}
	switch {
	case text != "":
	case status == http.StatusTooManyRequests:
		text = "Too many files of this store are opened now. Try again in a moment."
	case status >= http.StatusInternalServerError:
		text = "The service failed to send the file. Try again later."
	default:
		text = http.StatusText(status) + "."
	}
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		return status, web.Page{ContentType: "text/plain; charset=utf-8", Body: []byte(text + "\n")}
	}
	return status, web.Page{
		ContentType: "text/html; charset=utf-8",
		Body:        []byte("<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Invoice file</title>\n<p>" + html.EscapeString(text) + "</p>\n</html>\n"),
	}
}
