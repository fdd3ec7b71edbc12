package web

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/netip"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/token"
	"merchantorders/internal/web/ratelimit"
)

// Credentials finds who sends a request.
type Credentials interface {
	// Authenticate returns the grant of a request, and its session if it has one. It may
	// set fields of the header of the response.
	Authenticate(h http.Header, r *Request) (token.Session, token.Grant, error)
}

// Access says who may send a request.
type Access struct {
	merchants, operators bool
	scope                order.Scope // all that the caller needs
}

// Merchants lets merchants with a scope pass.
func Merchants(scope order.Scope) Access { return Access{merchants: true, scope: scope} }

// Operators lets operators with a scope pass.
func Operators(scope order.Scope) Access { return Access{operators: true, scope: scope} }

// Authenticated lets everybody pass who is authenticated.
func Authenticated() Access { return Access{merchants: true, operators: true} }

// check returns an ErrForbidden if a caller may not send a request.
func (a Access) check(c order.Caller) error {
	switch {
	case c.Operator() && !a.operators:
		return errOperatorToken
	case !c.Operator() && !a.merchants:
		return errMerchantToken
	case !c.Can(a.scope):
		return strict.Detail(ErrForbidden, "The token lacks the scope %s: request one that has it.", a.scope&^c.Scopes)
	}
	return nil
}

// authenticated returns a handler that lets requests pass whose credentials allow the
// route, within the limits of their token.
func (rt *Router) authenticated(credentials Credentials, route Route, handle Handler) Handler {
	return func(w http.ResponseWriter, r *Request) error {
		session, grant, err := credentials.Authenticate(w.Header(), r)
		if err != nil {
			return err
		}
		r.credentials = credentials
		if err := r.identify(session, grant); err != nil {
			return err
		}
		r.leave, err = rt.config.Limits.Enter(r.Context(), w.Header(), ratelimit.Token{ID: grant.ID, MerchantID: grant.MerchantID, Limit: grant.RateLimit}, route.kind)
		if err != nil {
			return err
		}
		if grant.Suspended {
			return ErrSuspended
		}
		if err := route.access.check(r.Caller); err != nil {
			return err
		}
		if err := CheckQuery(r); err != nil {
			return err
		}
		return handle(w, r)
	}
}

// Authenticator returns what the text of a token grants, or token.ErrUnknown if
// the token is not valid. from is the address of the client, the zero one if it is not
// known.
type Authenticator interface {
	Authenticate(ctx context.Context, text string, from netip.Addr) (token.Grant, error)
}

// tokenCredentials authenticates requests by the token in their header.
type tokenCredentials struct {
	tokens Authenticator
	limits *ratelimit.Limiter // nil: none
	// basicChallenge is that of the RouteGroup.
	basicChallenge bool
	// bearerOnly refuses Basic: a browser remembers it (decision 1).
	bearerOnly bool
}

// Authenticate implements Credentials. A failure counts against the address of the
// request, so failures of others never slow down a valid token.
func (c tokenCredentials) Authenticate(h http.Header, r *Request) (token.Session, token.Grant, error) {
	text, basic, problem := credential(r.Request)
	if problem == "" && basic && c.bearerOnly {
		problem = "Basic is not possible here: send Authorization: Bearer and the token."
	}
	if problem != "" {
		return token.Session{}, token.Grant{}, c.unauthorized(h, r, "", problem)
	}
	grant, err := c.tokens.Authenticate(r.Context(), text, r.address)
	if invalid, ok := errors.AsType[*token.InvalidError](err); ok {
		r.log.deadToken = invalid.ID
	}
	if errors.Is(err, token.ErrUnknown) {
		err = c.unauthorized(h, r, `, error="invalid_token"`, cmp.Or(token.Problem(text), "The token is unknown, expired or revoked: request a new one."))
	}
	return token.Session{}, grant, err
}

// unauthorized returns ErrUnauthorized, or a *ratelimit.Error if authentication
// fails too often at the address of the request. It sets the challenges (RFC 9110,
// 11.6.1); attribute is that of a request with a token (RFC 6750, 3.1).
func (c tokenCredentials) unauthorized(h http.Header, r *Request, attribute, detail string) error {
	if err := c.limits.AllowFailure(r.address); err != nil {
		return err
	}
	h.Set("WWW-Authenticate", `Bearer realm="merchant-orders"`+attribute)
	if c.basicChallenge {
		h.Add("WWW-Authenticate", `Basic realm="merchant-orders", charset="UTF-8"`)
	}
	return strict.Detail(ErrUnauthorized, "%s", detail)
}

// credential returns the text of the token that a request carries: as a Bearer
// token, or as the password of Basic with any user name, as legacy clients send
// it (decision 1). Several Authorization headers count as none. Without a text it returns what
// is wrong.
func credential(r *http.Request) (text string, basic bool, problem string) {
	headers := r.Header.Values("Authorization")
	switch len(headers) {
	case 0:
		return "", false, "The Authorization header is missing: send Authorization: Bearer and the token."
	case 1:
	default:
		return "", false, "The Authorization header is given twice: send it once."
	}
	scheme, rest, _ := strings.Cut(headers[0], " ")
	rest = strings.TrimSpace(rest)
	switch {
	case strings.EqualFold(scheme, "Bearer") && rest == "":
		return "", false, "The token after Bearer is missing."
	case strings.EqualFold(scheme, "Bearer"):
		return rest, false, ""
	case strings.EqualFold(scheme, "Basic"):
		pair, err := base64.StdEncoding.DecodeString(rest)
		switch name, password, _ := strings.Cut(string(pair), ":"); {
		case err == nil && strings.HasPrefix(name, "mo_") && !strings.HasPrefix(password, "mo_"):
			return "", true, "The token is the password of Basic, not the name: write any name, a colon and the token."
		case err == nil && password != "":
			return password, true, ""
		}
		return "", true, "What follows Basic is not the base64 of a name, a colon and the token."
	}
	return "", false, "The Authorization header has another scheme, or none: write Bearer, a space, and the token."
}
