package console

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// get returns a route of a page for a merchant's staff who are signed in with a scope.
func get(path string, scope order.Scope, handle web.Handler) web.Route {
	return web.GetRoute(path, web.Merchants(scope), handle)
}

// post returns a route of a form for a merchant's staff.
func post(path string, scope order.Scope, handle web.FormHandler) web.Route {
	return web.FormRoute(path, web.Merchants(scope), web.MaxBody, handle)
}

// cookies authenticates requests by the cookie of a session. It implements
// web.Credentials.
type cookies struct{ *site }

// Authenticate implements web.Credentials. It leads to the sign-in, and from there back, if the
// session does not exist or has ended. A form that comes then gets the sign-in with what was typed.
func (c cookies) Authenticate(_ http.Header, r *web.Request) (token.Session, token.Grant, error) {
	session, grant, err := c.find(r)
	switch {
	case !errors.Is(err, token.ErrNoSession):
	case r.Method == http.MethodPost:
		err = c.newLateForm(r)
	default:
		err = &web.RedirectError{To: c.root + "/?next=" + url.QueryEscape(r.URL.RequestURI())}
	}
	return session, grant, err
}

// find returns the session of a request and its grant, or token.ErrNoSession.
func (s *site) find(r *web.Request) (token.Session, token.Grant, error) {
	cookie, err := r.Cookie(s.sessionName(r.Request))
	if err != nil {
		return token.Session{}, token.Grant{}, token.ErrNoSession
	}
	find := s.Sessions.Find
	if r.Header.Get(backgroundHeader) != "" {
		find = s.Sessions.Look
	}
	session, grant, err := find(r.Context(), cookie.Value, r.Address())
	if err == nil && s.notServed(grant.Operator()) != "" {
		// A cookie of the other port.
		return token.Session{}, token.Grant{}, token.ErrNoSession
	}
	return session, grant, err
}

const (
	sessionCookie = "session"
	// operatorCookie is that of a site for operators only. Browsers send a cookie to all
	// ports of a host.
	operatorCookie = "operator-session"
	// hostPrefix makes browsers refuse the cookie unless it is Secure and of this
	// host alone (RFC 6265bis). They refuse it with http.
	hostPrefix = "__Host-"
)

// secure reports whether the browser sent a request with https.
func (s *site) secure(r *http.Request) bool { return s.https || s.Proxies.HTTPS(r) }

// sessionName returns the name of the cookie of a session, as the browser of a request
// keeps it.
func (s *site) sessionName(r *http.Request) string {
	if s.Audience == Operators {
		return s.cookieName(r, operatorCookie)
	}
	return s.cookieName(r, sessionCookie)
}

// cookieName returns the name of a cookie as the browser of a request keeps it.
func (s *site) cookieName(r *http.Request, name string) string {
	if s.secure(r) {
		return hostPrefix + name
	}
	return name
}

// setSession gives the secret of a session to the browser, or takes it back if it is
// empty. The browser forgets the cookie at its end; the server ends the session.
func (s *site) setSession(w http.ResponseWriter, r *http.Request, secret string) {
	s.setCookie(w, r, s.sessionName(r), secret, token.SessionLifetime)
}

// setCookie gives the browser a value to keep, which scripts do not see, or takes it back
// if it is empty. Requests that other sites lead to have it, such as those of the identity
// provider.
func (s *site) setCookie(w http.ResponseWriter, r *http.Request, name, value string, life time.Duration) {
	cookie := http.Cookie{
		Name: name, Value: value, Path: "/", MaxAge: int(life.Seconds()), Secure: s.secure(r), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, &cookie)
}

// redirect leads the browser to a path below the root.
func (s *site) redirect(w http.ResponseWriter, r *web.Request, path string) error {
	http.Redirect(w, r.Request, s.root+path, http.StatusSeeOther)
	return nil
}

// pageOfForm returns the local path of the page that the form of a request was on.
func (s *site) pageOfForm(r *http.Request) string {
	if form, err := url.Parse(r.Referer()); err == nil && form.Host == r.Host {
		return localPath(strings.TrimPrefix(form.RequestURI(), s.root))
	}
	return localPath(r.URL.EscapedPath()) // see formPages
}

// localPath returns a path of the console with its query, as a form or an address
// names it. It returns Prefix for everything else: nobody may lead people from the
// sign-in to another site.
func localPath(text string) string {
	target, err := url.Parse(text)
	if err != nil || target.Scheme != "" || target.Host != "" || target.User != nil || strings.ContainsAny(text, "\\\t\r\n") {
		return Prefix
	}
	clean := path.Clean(target.Path)
	if clean != target.Path || clean != Prefix && !strings.HasPrefix(clean, Prefix+"/") || strings.HasPrefix(clean, Prefix+"/login") {
		return Prefix
	}
	return target.RequestURI()
}

// orderPath returns the path of the page of an order, below the root.
func orderPath(reference string) string { return Prefix + "/orders/" + url.PathEscape(reference) }
