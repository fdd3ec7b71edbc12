package v2

import (
	"merchantorders/internal/api/tokenapi"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
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

// newTokenView returns the function that makes views for a request.
func newTokenView(r *web.Request) func(token.Token) tokenView {
	current := r.Caller.TokenID
	return func(t token.Token) tokenView {
		return tokenView{ID: t.ID, Fields: tokenapi.NewFields(t), Current: t.ID == current}
	}
}

// listTokens serves GET /tokens.
func (a API) listTokens(r *web.Request) (any, error) {
	filter, err := parseTokenFilter(r)
	if err != nil {
		return nil, err
	}
	return tokenapi.List(r, a.Tokens, filter, newTokenView(r))
}

// getCurrentToken serves GET /tokens/current.
func (a API) getCurrentToken(r *web.Request) (any, error) {
	tokens, err := a.Tokens.List(r.Context(), token.Filter{MerchantID: r.Caller.MerchantID, IDs: []int64{r.Caller.TokenID}})
	if err != nil {
		return nil, err
	}
	if len(tokens) == 0 {
		return nil, token.ErrUnknown // removed since the request was authenticated
	}
	return newTokenView(r)(tokens[0]), nil
}

// parseTokenFilter parses the query of a list of tokens. Every error is a
// *strict.ParamError.
func parseTokenFilter(r *web.Request) (token.Filter, error) {
	query := web.ParseQuery(r)
	filter := token.Filter{
		MerchantID: r.Caller.MerchantID, After: query.Int("after", 0, 0, strict.MaxInt), Limit: query.Limit(defaultTokens, token.MaxPage),
	}
	filter.Validity, _ = token.ParseValidity(query.OneOf("state", token.ValidityNames...))
	return filter, query.Err()
}

// createToken serves POST /tokens.
func (a API) createToken(r *web.Request) (web.Response, error) {
	body := web.ReadOptionalObject(r, "scopes", "expires", "label")
	request := token.Request{MerchantID: r.Caller.MerchantID, Scopes: order.DefaultScopes & r.Caller.Scopes}
	tokenapi.ParseRequest(body, &request)
	if request.Scopes == 0 {
		body.Refuse("scopes", "is required: the token of the request has none of the default scopes")
	}
	if err := body.Err(); err != nil {
		return web.Response{}, err
	}
	return tokenapi.Create(r, a.Log, newTokenView(r), func(options order.Options[token.Created]) (token.Created, error) {
		return a.Tokens.Add(r.Context(), r.Caller, request, options)
	})
}

// rotateToken serves POST /tokens/{tokenId}/rotate.
func (a API) rotateToken(r *web.Request) (web.Response, error) {
	return tokenapi.Rotate(r, a.Tokens, a.Log, newTokenView(r))
}

// revokeToken serves DELETE /tokens/{tokenId}.
func (a API) revokeToken(r *web.Request) (web.Response, error) {
	return tokenapi.Revoke(r, a.Tokens, a.Log)
}

// createLoginLink serves POST /login-link.
func (a API) createLoginLink(r *web.Request) (web.Response, error) {
	return tokenapi.CreateLoginLink(r, a.Sessions, a.Log, a.BaseURL, r.Caller.MerchantID)
}
