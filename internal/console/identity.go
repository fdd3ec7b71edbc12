package console

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"merchantorders/internal/identity"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

const (
	// identityPath is the path below Prefix that sends people to the identity provider.
	identityPath = "/oidc"
	// attemptCookie keeps an identity.Attempt.
	attemptCookie = "oidc"
	// attemptLifetime is how long a person may take to sign in at the provider.
	attemptLifetime = 10 * time.Minute
)

// callbackURL returns the address to which the provider sends a browser back: that of the
// port that it uses now. The provider knows which addresses are right.
func (s *site) callbackURL(r *http.Request) string {
	return s.origin(r) + Prefix + identityPath + "/callback"
}

// origin returns the address of the service as the browser of a request names it.
func (s *site) origin(r *http.Request) string {
	scheme := "http://"
	if s.secure(r) {
		scheme = "https://"
	}
	return scheme + r.Host + s.root
}

// toProvider serves GET /oidc: it sends the browser to the identity provider.
func (s *site) toProvider(w http.ResponseWriter, r *web.Request) error {
	address, attempt, err := s.Identity.Begin(r.Context(), s.callbackURL(r.Request), localPath(r.URL.Query().Get("next")))
	if err != nil {
		return s.notIdentified(w, r, err)
	}
	kept, err := json.Marshal(attempt)
	if err != nil {
		return err
	}
	s.setCookie(w, r.Request, s.cookieName(r.Request, attemptCookie), base64.RawURLEncoding.EncodeToString(kept), attemptLifetime)
	http.Redirect(w, r.Request, address, http.StatusSeeOther)
	return nil
}

// fromProvider serves GET /oidc/callback: it signs in the person whom the provider names.
func (s *site) fromProvider(w http.ResponseWriter, r *web.Request) error {
	var attempt identity.Attempt
	name := s.cookieName(r.Request, attemptCookie)
	if cookie, err := r.Cookie(name); err == nil {
		kept, _ := base64.RawURLEncoding.DecodeString(cookie.Value)
		_ = json.Unmarshal(kept, &attempt) // the attempt without a state is refused
	}
	s.setCookie(w, r.Request, name, "", 0) // an answer counts once
	person, err := s.Identity.Finish(r.Context(), s.callbackURL(r.Request), attempt, r.URL.Query())
	if err != nil {
		return s.notIdentified(w, r, err)
	}
	if s.notServed(person.Operator) != "" {
		return s.notIdentified(w, r, identity.ErrNoAccess)
	}
	secret, err := s.Sessions.BeginAs(r.Context(), r.Caller, person)
	if errors.Is(err, order.ErrMerchantNotFound) {
		err = identity.ErrNoAccess
	}
	if err != nil {
		return s.notIdentified(w, r, err)
	}
	s.setSession(w, r.Request, secret)
	http.Redirect(w, r.Request, s.root+localPath(attempt.Next), http.StatusSeeOther)
	return nil
}

// notIdentified shows why the identity provider signed nobody in. The log has the cause.
func (s *site) notIdentified(w http.ResponseWriter, r *web.Request, err error) error {
	status, problem := http.StatusForbidden, ""
	switch {
	case errors.Is(err, identity.ErrUnavailable):
		status, problem = http.StatusServiceUnavailable, "oidc.unavailable"
	case errors.Is(err, identity.ErrNoAccess):
		problem = "oidc.noaccess"
	case errors.Is(err, identity.ErrRefused):
		if err := s.Limits.AllowFailure(r.Address()); err != nil {
			return err
		}
		problem = "oidc.refused"
	default:
		return err
	}
	s.Log.Warn("the identity provider signed nobody in", "request", r.Caller.RequestID, "error", err)
	return s.render(w, r, status, "signin", signInView{Next: Prefix, Problem: problem})
}
