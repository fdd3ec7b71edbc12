// Package tokenapi has the parts of the endpoints for tokens that version 2 and the
// operator interface share: the JSON form of a token, the fields of requests, and the
// changes. It holds no business rule: package token decides who may do what.
package tokenapi

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// Fields are the fields of a token in both interfaces: everything but its text.
type Fields struct {
	Scopes       []string `json:"scopes"`
	Label        *string  `json:"label"`
	Hint         string   `json:"hint"`
	CreatedAt    string   `json:"createdAt"`
	CreatedBy    *int64   `json:"createdBy"` // id of a token; nil: a command
	ExpiresAt    *string  `json:"expiresAt"`
	RevokedAt    *string  `json:"revokedAt"`
	LastUsedAt   *string  `json:"lastUsedAt"`
	LastUsedFrom *string  `json:"lastUsedFrom"`
}

// NewFields returns the fields of a token.
func NewFields(t token.Token) Fields {
	return Fields{
		Scopes: t.Scopes.Names(), Label: web.NonZero(t.Label), Hint: t.Hint,
		CreatedAt: web.TimeText(t.CreatedAt), CreatedBy: web.NonZero(t.CreatedBy),
		ExpiresAt: web.TimeOrNull(t.ExpiresAt), RevokedAt: web.TimeOrNull(t.RevokedAt), LastUsedAt: web.TimeOrNull(t.LastUsedAt), LastUsedFrom: web.NonZero(t.LastUsedFrom),
	}
}

// createdView is the response to a new token. Only here its text is shown, and only
// once: a repetition of the request gets null. V is the view of a token.
type createdView[V any] struct {
	Text     *string `json:"text"`
	Token    V       `json:"token"`
	Replaced *V      `json:"replaced,omitempty"` // of a rotation
}

// Create makes a token with apply and returns the response. view returns the view of a
// token.
func Create[V any](r *web.Request, log *slog.Logger, view func(token.Token) V, apply func(order.Options[token.Created]) (token.Created, error)) (web.Response, error) {
	respond := func(text *string, created token.Created) web.Response {
		body := createdView[V]{Text: text, Token: view(created.Token)}
		if created.Replaced.ID != 0 {
			body.Replaced = new(view(created.Replaced))
		}
		return web.Response{Status: http.StatusCreated, Body: body}
	}
	created, err := apply(web.Options(r, func(created token.Created) web.Response { return respond(nil, created) }))
	if err != nil {
		return web.Response{}, err
	}
	by := r.LogAttrs()
	if old := created.Replaced; old.ID != 0 {
		by = append(by, slog.Int64("replaces", old.ID), slog.Time("old_expires", old.ExpiresAt))
	}
	token.LogCreated(log, created.Token, by...)
	return respond(&created.Text, created), nil
}

// revokedView is the response to a revocation.
type revokedView struct {
	Success bool    `json:"success"`
	Revoked []int64 `json:"revoked,omitzero"` // of several tokens: those that were not revoked before
}

func respondRevoked(int64) web.Response {
	return web.Response{Status: http.StatusOK, Body: revokedView{Success: true}}
}

func respondSeveral(revoked []int64) web.Response {
	return web.Response{Status: http.StatusOK, Body: revokedView{Success: true, Revoked: append([]int64{}, revoked...)}}
}

// Revoke revokes the token of the path and returns the response, and with children=true
// what it made. The path identifies a token by its id, never by its text: paths are logged
// by proxies.
func Revoke(r *web.Request, tokens *token.Registry, log *slog.Logger) (web.Response, error) {
	query := web.ParseQuery(r)
	children := query.OneOf("children", "true") != ""
	if err := query.Err(); err != nil {
		return web.Response{}, err
	}
	id, err := tokenID(r)
	if err != nil {
		return web.Response{}, err
	}
	if children {
		return RevokeSeveral(r, log, id, tokens.RevokeFamily)
	}
	if id, err = tokens.RevokeID(r.Context(), r.Caller, id, web.Options(r, respondRevoked)); err != nil {
		return web.Response{}, err
	}
	token.LogRevoked(log, id, r.LogAttrs()...)
	return respondRevoked(id), nil
}

// RevokeSeveral revokes tokens with revoke, those that are of an id, and returns the response.
func RevokeSeveral(r *web.Request, log *slog.Logger, of int64, revoke func(context.Context, order.Caller, int64, order.Options[[]int64]) ([]int64, error)) (web.Response, error) {
	revoked, err := revoke(r.Context(), r.Caller, of, web.Options(r, respondSeveral))
	for _, id := range revoked {
		token.LogRevoked(log, id, r.LogAttrs()...)
	}
	return respondSeveral(revoked), err
}

// tokenID returns the id of the path, or token.ErrUnknown.
func tokenID(r *web.Request) (int64, error) {
	id, ok := order.ParseID(r.PathValue("tokenId"))
	if !ok || id == 0 {
		return 0, token.ErrUnknown
	}
	return id, nil
}

// ParseRequest sets the fields scopes, expires and label of a request from a body, if the
// body has them.
func ParseRequest(body *strict.Body, request *token.Request) {
	if body.Has("scopes") {
		request.Scopes = ParseScopes(body, order.ScopesOf(request.Operator))
	}
	request.Expiry = expiry(body)
	request.Label = parseLabel(body, "label")
}

// parseLabel parses a member that is a label; empty if it is absent or null.
func parseLabel(body *strict.Body, name string) string {
	if !body.Has(name) || body.Null(name) {
		return ""
	}
	label, ok := body.Object.Text(name)
	problem := token.LabelProblem(label)
	if !ok {
		problem = "must be text or null"
	}
	body.Refuse(name, problem)
	return label
}

// ParseScopes parses the member scopes: a list, not empty, of scopes that are each one of allowed.
func ParseScopes(body *strict.Body, allowed order.Scope) order.Scope {
	var names []string
	err := json.Unmarshal(body.Object["scopes"], &names)
	var scopes order.Scope
	if err == nil {
		scopes, err = order.ParseScopes(names, allowed)
	}
	if err != nil {
		body.Refuse("scopes", "must be a list of "+strings.Join(allowed.Names(), ", "))
	}
	return scopes
}

// expiry parses the member expires, if there is one.
func expiry(body *strict.Body) (e token.Expiry) {
	if !body.Has("expires") {
		return e
	}
	text, _ := body.Object.Text("expires")
	e, ok := token.ParseExpiry(text)
	if !ok {
		body.Refuse("expires", token.ExpiryForm)
	}
	return e
}

// overlap parses the member overlap, if there is one.
func overlap(body *strict.Body) time.Duration {
	if !body.Has("overlap") {
		return token.DefaultOverlap
	}
	text, _ := body.Object.Text("overlap")
	d, ok := order.ParseDuration(text)
	if !ok {
		body.Refuse("overlap", "must be a duration such as 48h or 2d")
	}
	return d
}

// Rotate replaces the token of the path and returns the response, as Create does. The body may be
// absent.
func Rotate[V any](r *web.Request, tokens *token.Registry, log *slog.Logger, view func(token.Token) V) (web.Response, error) {
	body := web.ReadOptionalObject(r, "overlap", "expires")
	rotation := token.Rotation{Overlap: overlap(body), Expiry: expiry(body)}
	err := body.Err()
	if err == nil {
		rotation.ID, err = tokenID(r)
	}
	if err != nil {
		return web.Response{}, err
	}
	return Create(r, log, view, func(options order.Options[token.Created]) (token.Created, error) {
		return tokens.Rotate(r.Context(), r.Caller, rotation, options)
	})
}

// Refusals are the errors of changes of tokens.
var Refusals = web.CodedRefusals{
	{Err: token.ErrUnknown, Status: http.StatusNotFound, Code: "not_found", Message: "The token was not found."},
	{Err: token.ErrScopes, Status: http.StatusForbidden, Code: "forbidden", Message: "A token cannot grant scopes that it does not have."},
	{Err: token.ErrTooMany, Status: http.StatusConflict, Code: "too_many_tokens", Message: "The merchant has 100 valid tokens, or has created 100 tokens within a day."},
}

// ErrorEncoder returns the encoder of changes of tokens, whose body is web.CodedBody for
// Refusals and for a lifetime that is too long. next encodes all other errors.
func ErrorEncoder(next web.ErrorEncoder) web.ErrorEncoder {
	return func(r *http.Request, err error) (int, any) {
		if status, body, ok := Refusals.Encode(err); ok {
			return status, body
		}
		if errors.Is(err, token.ErrLifetime) {
			err = &strict.ParamError{Name: "expires", Problem: "must be later than now"}
		}
		if lifetime, ok := errors.AsType[*token.LifetimeError](err); ok {
			problem := "must be at most " + lifetime.Max.String()
			if lifetime.TokenID != 0 {
				problem += fmt.Sprintf(": the token of the request, %d, ends at %s, and no token that it makes ends later", lifetime.TokenID, web.TimeText(lifetime.Ends))
			}
			err = &strict.ParamError{Name: "expires", Problem: problem}
		}
		return next(r, err)
	}
}

// listView is a page of tokens. V is the view of a token.
type listView[V any] struct {
	Tokens []V    `json:"tokens"`
	Next   *int64 `json:"next"` // the value of after for the next page; nil: the last one
}

// List returns the response with the tokens that a filter selects. Filter.Limit 0 means all.
func List[V any](r *web.Request, tokens *token.Registry, filter token.Filter, view func(token.Token) V) (any, error) {
	limit := filter.Limit
	if limit > 0 {
		filter.Limit++ // tells whether there is another page
	}
	list, err := tokens.List(r.Context(), filter)
	list, next := web.CutPage(list, limit, func(t token.Token) int64 { return t.ID })
	return listView[V]{web.Collect(list, view), next}, err
}
