package web

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"

	"merchantorders/internal/token"
)

// Authenticator tells what a token's text stands for; token.ErrUnknown when it is
// not good.
type Authenticator interface {
	Authenticate(ctx context.Context, text string) (token.Grant, error)
}

// MerchantID returns the merchant whose token the request carries. Only in
// handlers of routes for merchants.
func MerchantID(r *http.Request) int64 { return logEntryOf(r).grant.MerchantID }

// MerchantEvent returns the number of the newest event of the merchant whose
// token the request carries, as it was after the request had come in.
func MerchantEvent(r *http.Request) int64 { return logEntryOf(r).grant.DataVersion.Event }

// authorize lets a request pass to a route's handler if its token may. The
// token is looked at first: failures of others never hold up a good one.
func authorize(verifier Authenticator, limits *Limits, route Route) Handler {
	if route.Access == Public {
		return route.Handle
	}
	return func(w http.ResponseWriter, r *http.Request) error {
		text, ok := credential(r)
		if !ok {
			return limits.unauthorized(r)
		}
		grant, err := verifier.Authenticate(r.Context(), text)
		if errors.Is(err, token.ErrUnknown) {
			return limits.unauthorized(r)
		}
		if err != nil {
			return err
		}
		setGrant(r, grant)
		if err := limits.take(w.Header(), grant.ID); err != nil {
			return err
		}
		if grant.Operator() != (route.Access == ForOperators) || !grant.Scopes.Has(route.Scope) {
			return ErrForbidden
		}
		return route.Handle(w, r)
	}
}

// credential returns the token's text of a request: of a Bearer header, or the
// password of a Basic one with any user name, as legacy clients send it
// (decision 1). Several Authorization headers are none.
func credential(r *http.Request) (string, bool) {
	headers := r.Header.Values("Authorization")
	if len(headers) != 1 {
		return "", false
	}
	scheme, rest, _ := strings.Cut(headers[0], " ")
	rest = strings.TrimSpace(rest)
	switch {
	case strings.EqualFold(scheme, "Bearer"):
		return rest, rest != ""
	case strings.EqualFold(scheme, "Basic"):
		pair, err := base64.StdEncoding.DecodeString(rest)
		if err != nil {
			return "", false
		}
		_, password, ok := strings.Cut(string(pair), ":")
		return password, ok && password != ""
	}
	return "", false
}
