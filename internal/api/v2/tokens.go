package v2

import (
	"context"
	"net/http"

	"merchantorders/internal/api/tokenapi"
	"merchantorders/internal/order"
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
	tokens, next, err := tokenapi.ListPage(r.Context(), a.Tokens, filter, newTokenView(r))
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, tokensView{Tokens: tokens, Next: next})
}

// parseTokenFilter parses the query of a list of tokens. Every error is a
// *web.ParamError.
func parseTokenFilter(r *web.Request) (token.Filter, error) {
	query := web.ParseQuery(r.Request)
	filter := token.Filter{
		MerchantID: r.MerchantID, After: query.Int("after", 0, 0, web.MaxInt), Limit: query.Limit(defaultTokens, token.MaxPage),
	}
	filter.Validity, _ = token.ParseValidity(query.OneOf("state", token.ValidityNames...))
	return filter, query.Err()
}

// createToken serves POST /tokens.
func (a API) createToken(r *web.Request) (web.Change, error) {
	body := web.ReadOptionalObject(r.Request, "scopes", "expires", "label")
	acting := web.ActingToken(r.Request)
	request := token.Request{MerchantID: r.MerchantID, Scopes: order.DefaultScopes & acting.Scopes, By: &acting}
	tokenapi.ParseRequest(body, &request)
	if request.Scopes == 0 {
		body.Refuse("scopes", "is required: the token of the request has none of the default scopes")
	}
	return tokenapi.NewCreation(a.Log, web.LoggedSource(r.Request, "merchant"), newTokenView(r), func(ctx context.Context, options token.CreateOptions) (token.Created, error) {
		return a.Tokens.Add(ctx, request, options)
	}), body.Err()
}

// rotateToken serves POST /tokens/{tokenId}/rotate.
func (a API) rotateToken(r *web.Request) (web.Change, error) {
	rotation, err := tokenapi.ParseRotation(r)
	return tokenapi.NewCreation(a.Log, web.LoggedSource(r.Request, "merchant"), newTokenView(r), func(ctx context.Context, options token.CreateOptions) (token.Created, error) {
		return a.Tokens.Rotate(ctx, rotation, options)
	}), err
}

// revokeToken serves DELETE /tokens/{tokenId}.
func (a API) revokeToken(r *web.Request) (web.Change, error) {
	return tokenapi.NewRevocation(r, a.Tokens, a.Log, web.LoggedSource(r.Request, "merchant"))
}
