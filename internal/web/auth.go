package web

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/netip"
	"strings"

	"merchantorders/internal/token"
	"merchantorders/internal/web/ratelimit"
)

// Authenticator returns what the text of a token grants, or token.ErrUnknown if
// the token is not valid. from is the address of the client, the zero one if it is not
// known.
type Authenticator interface {
	Authenticate(ctx context.Context, text string, from netip.Addr) (token.Grant, error)
}

// authenticator authenticates requests and applies the rate limits.
type authenticator struct {
	tokens Authenticator
	limits *ratelimit.Limiter // nil: none
	// basicChallenge is that of the RouteGroup.
	basicChallenge bool
}

// authenticate returns the grant of a request's token and counts the request
// against the limits of that token until leave is called. A failure counts against
// the address of the request instead, so failures of others never slow down a valid
// token.
func (a authenticator) authenticate(h http.Header, r *http.Request, upload bool) (grant token.Grant, leave func(), err error) {
	if grant, err = a.readGrant(h, r); err != nil {
		return token.Grant{}, nil, err
	}
	logEntryOf(r).grant = grant
	leave, err = a.limits.Enter(r.Context(), h, ratelimit.Token{ID: grant.ID, Limit: grant.RateLimit}, upload)
	return grant, leave, err
}

// readGrant returns the grant of a request's token, or the error of unauthorized if
// the token is not valid.
func (a authenticator) readGrant(h http.Header, r *http.Request) (token.Grant, error) {
	text, _, ok := credential(r)
	if !ok {
		return token.Grant{}, a.unauthorized(h, r)
	}
	grant, err := a.tokens.Authenticate(r.Context(), text, ClientAddress(r))
	if invalid, ok := errors.AsType[*token.InvalidError](err); ok {
		logEntryOf(r).deadToken = invalid.ID
	}
	if errors.Is(err, token.ErrUnknown) {
		err = a.unauthorized(h, r)
	}
	return grant, err
}

// unauthorized returns ErrUnauthorized, or a *ratelimit.Error if authentication
// fails too often at the address of the request. It sets the challenges (RFC 9110,
// 11.6.1).
func (a authenticator) unauthorized(h http.Header, r *http.Request) error {
	if err := a.limits.AllowFailure(ClientAddress(r)); err != nil {
		return err
	}
	h.Set("WWW-Authenticate", `Bearer realm="merchant-orders"`)
	if a.basicChallenge {
		h.Add("WWW-Authenticate", `Basic realm="merchant-orders", charset="UTF-8"`)
	}
	return ErrUnauthorized
}

// merchant returns a handler that lets requests with a merchant's token and the
// route's scope pass.
func (a authenticator) merchant(route Route, handle merchantHandler) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		grant, leave, err := a.authenticate(w.Header(), r, route.upload)
		if err != nil {
			return err
		}
		request := &Request{
			Request: r, MerchantID: grant.MerchantID, DataVersion: grant.DataVersion,
			nameNonce: grant.NameNonce, auth: a, leave: leave,
		}
		defer request.Leave()
		if grant.Suspended {
			return ErrSuspended
		}
		if grant.Operator() || !grant.Scopes.Has(route.scope) {
			return ErrForbidden
		}
		if err := CheckQuery(r); err != nil {
			return err
		}
		return handle(w, request)
	}
}

// operator returns a handler that lets requests with an operator's token and the
// route's scope pass. It must be a Bearer token: a browser remembers Basic
// credentials (decision 1).
func (a authenticator) operator(route Route, handle Handler) Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if _, basic, _ := credential(r); basic {
			return a.unauthorized(w.Header(), r)
		}
		grant, leave, err := a.authenticate(w.Header(), r, route.upload)
		if err != nil {
			return err
		}
		defer leave()
		if !grant.Operator() || !grant.Scopes.Has(route.scope) {
			return ErrForbidden
		}
		if err := CheckQuery(r); err != nil {
			return err
		}
		return handle(w, r)
	}
}

// credential returns the text of the token that a request carries: as a Bearer
// token, or as the password of Basic with any user name, as legacy clients send
// it (decision 1). Several Authorization headers count as none.
func credential(r *http.Request) (text string, basic, ok bool) {
	headers := r.Header.Values("Authorization")
	if len(headers) != 1 {
		return "", false, false
	}
	scheme, rest, _ := strings.Cut(headers[0], " ")
	rest = strings.TrimSpace(rest)
	switch {
	case strings.EqualFold(scheme, "Bearer"):
		return rest, false, rest != ""
	case strings.EqualFold(scheme, "Basic"):
		pair, err := base64.StdEncoding.DecodeString(rest)
		if err != nil {
			return "", true, false
		}
		_, password, ok := strings.Cut(string(pair), ":")
		return password, true, ok && password != ""
	}
	return "", false, false
}
