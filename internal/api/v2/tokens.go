package v2

import (
	"context"
	"log/slog"
	"net/http"

	"merchantorders/internal/api/tokenapi"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// defaultTokens is the number of tokens on a page if the request names none.
const defaultTokens = 100

// tokenView is a token as its merchant sees it.
type tokenView struct {
	ID int64 `json:"id"`
	tokenapi.Fields
	Current bool `json:"current"` // it is the token of the request
}

type tokensView struct {
	Tokens []tokenView `json:"tokens"`
	Next   *int64      `json:"next"` // the value of after for the next page; nil: the last one
}

// newTokenView returns the function that makes views for a request.
func newTokenView(r *web.Request) func(token.Token) tokenView {
	current := web.ActingToken(r.Request).ID
	return func(t token.Token) tokenView {
		return tokenView{ID: t.ID, Fields: tokenapi.NewFields(t), Current: t.ID == current}
	}
}

// listTokens serves GET /tokens.
func (a API) listTokens(w http.ResponseWriter, r *web.Request) error {
	filter, err := parseTokenFilter(r)
	if err != nil {
		return err
	}
	limit := filter.Limit
	filter.Limit++ // tells whether there is another page
	tokens, err := a.Tokens.List(r.Context(), filter)
	if err != nil {
		return err
	}
	var view tokensView
	if len(tokens) > limit {
		tokens = tokens[:limit]
		view.Next = &tokens[limit-1].ID
	}
	view.Tokens = make([]tokenView, 0, len(tokens))
	for _, t := range tokens {
		view.Tokens = append(view.Tokens, newTokenView(r)(t))
	}
	return web.WriteJSON(w, http.StatusOK, view)
}

// parseTokenFilter parses the query of a list of tokens. Every error is a
// *web.ParamError.
func parseTokenFilter(r *web.Request) (token.Filter, error) {
	query, err := web.ParseQuery(r.Request)
	if err != nil {
		return token.Filter{}, err
	}
	filter := token.Filter{MerchantID: r.MerchantID}
	if filter.After, err = query.Int("after", 0, 0, web.MaxInt); err != nil {
		return token.Filter{}, err
	}
	limit, err := query.Int("limit", defaultTokens, 1, token.MaxPage)
	if err != nil {
		return token.Filter{}, err
	}
	filter.Limit = int(limit)
	name, err := query.Text("state")
	if err != nil {
		return token.Filter{}, err
	}
	var ok bool
	if filter.State, ok = token.ParseState(name); !ok {
		return token.Filter{}, &web.ParamError{Name: "state", Problem: "must be one of active, expired, revoked"}
	}
	return filter, nil
}

// createToken serves POST /tokens.
func (a API) createToken(r *web.Request) (web.Change, error) {
	body, err := tokenapi.ReadObject(r.Request, true, "scopes", "expires", "label")
	if err != nil {
		return web.Change{}, err
	}
	acting := web.ActingToken(r.Request)
	request := token.Request{MerchantID: r.MerchantID, Scopes: token.DefaultScopes & acting.Scopes, By: &acting}
	if err := tokenapi.ParseRequest(body, &request); err != nil {
		return web.Change{}, err
	}
	if request.Scopes == 0 {
		return web.Change{}, &web.ParamError{Name: "scopes", Problem: "is required: the token of the request has none of the default scopes"}
	}
	return tokenapi.NewCreation(a.Log, by(r), newTokenView(r), func(ctx context.Context, options token.CreateOptions) (token.Created, error) {
		return a.Tokens.Add(ctx, request, options)
	}), nil
}

// rotateToken serves POST /tokens/{tokenId}/rotate.
func (a API) rotateToken(r *web.Request) (web.Change, error) {
	rotation, err := tokenapi.ParseRotation(r)
	return tokenapi.NewCreation(a.Log, by(r), newTokenView(r), func(ctx context.Context, options token.CreateOptions) (token.Created, error) {
		return a.Tokens.Rotate(ctx, rotation, options)
	}), err
}

// revokeToken serves DELETE /tokens/{tokenId}.
func (a API) revokeToken(r *web.Request) (web.Change, error) {
	return tokenapi.NewRevocation(r, a.Tokens, a.Log, by(r))
}

// by returns who sent a request, for the log.
func by(r *web.Request) []slog.Attr {
	source := web.Source(r.Request)
	return []slog.Attr{slog.String("by", "merchant"), slog.Int64("token", source.TokenID), slog.String("request", source.RequestID)}
}
