package console

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"

	"merchantorders/internal/identity"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

const (
	// identityPath is the path below Prefix that sends people to the identity provider.
	identityPath = "/oidc"
	// attemptCookie and the state are the name of the cookie that keeps an identity.Attempt:
	// those of two tabs stand alone.
	attemptCookie = "oidc-"
)

// callbackURL returns the address to which the provider sends a browser back. The provider
// knows which addresses are right.
func (s *site) callbackURL(r *http.Request) string {
	return s.address(r) + Prefix + identityPath + "/callback"
}

// address returns the URL of the service for links: a proxy may send another Host. Without a known
// one it is that which the browser of a request names.
func (s *site) address(r *http.Request) string {
	switch {
	case s.KnowsURL:
		return s.BaseURL
	case s.secure(r):
		return "https://" + r.Host + s.root
	}
	return "http://" + r.Host + s.root
}

// attemptKey returns the key of the attempts in cookies, which also a service without a secret
// at the provider has.
func (s *site) attemptKey(r *web.Request) ([]byte, error) {
	return s.Links.KeyFor(r.Context(), "sign-in attempt")
}

// toProvider serves GET /oidc: it sends the browser to the identity provider.
func (s *site) toProvider(w http.ResponseWriter, r *web.Request) error {
	address, attempt, err := s.Identity.Begin(r.Context(), s.callbackURL(r.Request), localPath(r.URL.Query().Get("next")))
	if err != nil {
		return s.notIdentified(w, r, err)
	}
	key, err := s.attemptKey(r)
	if err != nil {
		return err
	}
	kept, err := s.Identity.Seal(key, attempt)
	if err != nil {
		return err
	}
	s.setCookie(w, r.Request, s.cookieName(r.Request, attemptCookie+attempt.State), kept, identity.AttemptLifetime)
	http.Redirect(w, r.Request, address, http.StatusSeeOther)
	return nil
}

// states are the states that attempts have.
var states = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// fromProvider serves GET /oidc/callback: it signs in the person whom the provider names.
// Every callback counts as a sign-in that failed until it succeeds: it makes the service
// send requests. One that is loaded again leads a person who is signed in to the console.
func (s *site) fromProvider(w http.ResponseWriter, r *web.Request) error {
	attempt, err := identity.Attempt{}, identity.ErrRefused
	if state := r.URL.Query().Get("state"); states.MatchString(state) {
		name := s.cookieName(r.Request, attemptCookie+state)
		if cookie, noCookie := r.Cookie(name); noCookie == nil {
			key, failed := s.attemptKey(r)
			if failed != nil {
				return failed
			}
			attempt, err = s.Identity.Unseal(key, cookie.Value)
			s.setCookie(w, r.Request, name, "", 0) // an answer counts once
		}
	}
	if err != nil {
		if _, _, noSession := s.find(r); noSession == nil {
			return s.redirect(w, r, Prefix)
		}
	}
	if limited := s.Limits.AllowFailure(r.Address()); limited != nil {
		return limited
	}
	if err != nil {
		return s.notIdentified(w, r, err)
	}
	person, err := s.Identity.Finish(r.Context(), s.callbackURL(r.Request), attempt, r.URL.Query())
	if err != nil {
		return s.notIdentified(w, r, err)
	}
	if s.notServed(person.Operator) != "" {
		return s.notIdentified(w, r, fmt.Errorf("%w: operators and stores have different addresses", identity.ErrNoAccess))
	}
	if err := s.Limits.AllowSignIn(person.MerchantID); err != nil {
		return err
	}
	secret, err := s.Sessions.BeginAs(r.Context(), r.Caller, person)
	if errors.Is(err, order.ErrMerchantNotFound) {
		err = fmt.Errorf("%w: there is no merchant %d", identity.ErrNoAccess, person.MerchantID)
	}
	if err != nil {
		return s.notIdentified(w, r, err)
	}
	return s.signedIn(w, r, secret, localPath(attempt.Next))
}

// notIdentified shows why the identity provider signed nobody in. The log has the cause.
func (s *site) notIdentified(w http.ResponseWriter, r *web.Request, err error) error {
	status, problem, reason := http.StatusForbidden, "", ""
	switch {
	case errors.Is(err, identity.ErrUnavailable):
		status, problem, reason = http.StatusServiceUnavailable, "oidc.unavailable", "unavailable"
	case errors.Is(err, identity.ErrSettings):
		status, problem, reason = http.StatusServiceUnavailable, "oidc.settings", "settings"
	case errors.Is(err, identity.ErrNoAccess):
		problem, reason = "oidc.noaccess", "no_access"
	case errors.Is(err, identity.ErrTooManyGroups):
		problem, reason = "oidc.toomanygroups", "no_access"
	case errors.Is(err, identity.ErrRefused):
		problem, reason = "oidc.refused", "refused"
	default:
		return err
	}
	s.Metrics.IdentityFailure(reason)
	s.Log.Warn("the identity provider signed nobody in", "request", r.Caller.RequestID, "error", err)
	return s.render(w, r, status, "signin", signInView{Next: Prefix, Problem: problem})
}
