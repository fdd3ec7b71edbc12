package console

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"

	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
	"merchantorders/internal/web/ratelimit"
)

// request is a request of a person who is signed in.
type request struct {
	*http.Request
	session token.Session
	grant   token.Grant
	leave   func() // stops counting the request among those of its token; for a handler that waits
}

// can reports whether the session has a scope.
func (r *request) can(scope order.Scope) bool { return r.grant.Scopes.Has(scope) }

// handler serves a request of a person who is signed in, or returns an error before
// it has written anything.
type handler func(w http.ResponseWriter, r *request) error

// access says who may send a request, and how large it is.
type access struct {
	// scope has all scopes that the session needs: also those of the page that comes
	// back when the request is refused.
	scope    order.Scope
	operator bool // operators, else merchants
	upload   bool // the request is large
}

// get and post return routes for a merchant's staff who are signed in with a scope.
func (s *site) get(path string, scope order.Scope, handle handler) web.Route {
	return web.PublicRoute(http.MethodGet, path, s.signedIn(access{scope: scope}, handle))
}

func (s *site) post(path string, scope order.Scope, handle handler) web.Route {
	return web.PublicRoute(http.MethodPost, path, s.signedIn(access{scope: scope}, handle))
}

// upload returns a route like post whose requests are large.
func (s *site) upload(path string, scope order.Scope, handle handler) web.Route {
	return web.PublicRoute(http.MethodPost, path, s.signedIn(access{scope: scope, upload: true}, handle))
}

// signedIn returns a handler that lets requests with a valid session pass, within the
// limits of its token. It sends others to the sign-in.
func (s *site) signedIn(access access, handle handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		session, grant, err := s.find(r)
		if errors.Is(err, token.ErrNoSession) {
			http.Redirect(w, r, s.signInURL(r), http.StatusSeeOther)
			return nil
		}
		if err != nil {
			return err
		}
		web.RecordGrant(r, grant)
		leave, err := s.Limits.Enter(r.Context(), w.Header(), ratelimit.Token{ID: grant.ID, Limit: grant.RateLimit}, access.upload)
		if err != nil {
			return err
		}
		leave = sync.OnceFunc(leave)
		defer leave()
		if grant.Suspended {
			return web.ErrSuspended
		}
		if home := s.home(grant); home != "" && r.Method == http.MethodGet && r.URL.Path == Prefix {
			http.Redirect(w, r, s.root+home, http.StatusSeeOther)
			return nil
		}
		if grant.Operator() != access.operator || !grant.Scopes.Has(access.scope) {
			return web.ErrForbidden
		}
		if err := web.CheckQuery(r); err != nil {
			return err
		}
		return handle(w, &request{Request: r, session: session, grant: grant, leave: leave})
	}
}

// find returns the session of a request and its grant, or token.ErrNoSession.
func (s *site) find(r *http.Request) (token.Session, token.Grant, error) {
	cookie, err := r.Cookie(s.cookieName(r))
	if err != nil {
		return token.Session{}, token.Grant{}, token.ErrNoSession
	}
	if r.Header.Get(backgroundHeader) != "" {
		return s.Sessions.Look(r.Context(), cookie.Value, web.ClientAddress(r))
	}
	return s.Sessions.Find(r.Context(), cookie.Value, web.ClientAddress(r))
}

const (
	sessionCookie = "session"
	// hostPrefix makes browsers refuse the cookie unless it is Secure and of this
	// host alone (RFC 6265bis). They refuse it with http.
	hostPrefix = "__Host-"
)

// secure reports whether the browser sent a request with https.
func (s *site) secure(r *http.Request) bool { return s.https || r.TLS != nil }

func (s *site) cookieName(r *http.Request) string {
	if s.secure(r) {
		return hostPrefix + sessionCookie
	}
	return sessionCookie
}

// setSession gives the secret of a session to the browser, or takes it back if it is
// empty. The browser forgets the cookie at its end; the server ends the session.
func (s *site) setSession(w http.ResponseWriter, r *http.Request, secret string) {
	cookie := http.Cookie{
		Name: s.cookieName(r), Value: secret, Path: "/", Secure: s.secure(r), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
	if secret == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, &cookie)
}

// signInURL returns the address of the sign-in that leads back to the page of a
// request. After a POST that is the page that the form was on.
func (s *site) signInURL(r *http.Request) string {
	back := r.URL.RequestURI()
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		back = r.URL.EscapedPath() // see formPages
		if form, err := url.Parse(r.Referer()); err == nil && form.Host == r.Host {
			back = strings.TrimPrefix(form.RequestURI(), s.root)
		}
	}
	return s.root + "/?next=" + url.QueryEscape(back)
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
