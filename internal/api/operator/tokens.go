package operator

import (
	"net/http"

	"merchantorders/internal/api/tokenapi"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// tokenView is a token as operators see it.
type tokenView struct {
	ID         int64  `json:"id"`
	MerchantID *int64 `json:"merchantId"` // nil: an operator's token
	tokenapi.Fields
}

type tokensView struct {
	Tokens []tokenView `json:"tokens"`
	Next   *int64      `json:"next"` // the value of after for the next page; nil: the last one
}

func newTokenView(t token.Token) tokenView {
	view := tokenView{ID: t.ID, Fields: tokenapi.NewFields(t)}
	if !t.Operator() {
		view.MerchantID = &t.MerchantID
	}
	return view
}

// listTokens serves GET /tokens.
func (a API) listTokens(w http.ResponseWriter, r *web.Request) error {
	filter, err := parseTokenFilter(r)
	if err != nil {
		return err
	}
	tokens, next, err := tokenapi.ListPage(r.Context(), a.Tokens, filter, newTokenView)
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, tokensView{Tokens: tokens, Next: next})
}

// parseTokenFilter parses the query of a list of tokens. Without limit the list is
// complete. Every error is a *strict.ParamError.
func parseTokenFilter(r *web.Request) (token.Filter, error) {
	query, after, limit := parsePage(r)
	filter := token.Filter{
		After: after, Limit: limit, MerchantID: query.Int("merchantId", 0, 1, strict.MaxInt), Operator: query.OneOf("operator", "true") != "",
	}
	if filter.Operator && filter.MerchantID != 0 {
		query.Refuse("operator", "must not be given together with merchantId")
	}
	filter.Validity, _ = token.ParseValidity(query.OneOf("state", token.ValidityNames...))
	filter.Label = query.Text("label")
	query.Refuse("label", token.LabelProblem(filter.Label))
	all := order.MerchantScopes | order.OperatorScopes
	if scope := query.OneOf("scope", all.Names()...); scope != "" {
		filter.Scopes, _ = order.ParseScopes([]string{scope}, all)
	}
	return filter, query.Err()
}

// createToken serves POST /tokens.
func (a API) createToken(r *web.Request) (web.Response, error) {
	body := web.ReadObject(r, TokenFields...)
	request := ParseTokenRequest(body)
	if err := body.Err(); err != nil {
		return web.Response{}, err
	}
	return tokenapi.Create(r, a.Log, newTokenView, func(options order.Options[token.Created]) (token.Created, error) {
		return a.Tokens.Add(r.Context(), r.Caller, request, options)
	})
}

// TokenFields are the names of the members that ParseTokenRequest parses.
var TokenFields = []string{"merchantId", "operator", "scopes", "expires", "label"}

// ParseTokenRequest parses the body of POST /tokens, or a line of a command. It has
// either "merchantId" or "operator": true. Without "scopes" the token gets the default
// ones.
func ParseTokenRequest(body *strict.Body) token.Request {
	request := token.Request{Scopes: order.DefaultScopes}
	if body.Has("operator") {
		request.Operator, request.Scopes = string(body.Object["operator"]) == "true", order.OperatorScopes
		if !request.Operator || body.Has("merchantId") {
			body.Refuse("operator", "must be true, without merchantId")
		}
	} else {
		request.MerchantID = body.Int("merchantId", 1, strict.MaxInt)
	}
	tokenapi.ParseRequest(body, &request)
	return request
}

// rotateToken serves POST /tokens/{tokenId}/rotate.
func (a API) rotateToken(r *web.Request) (web.Response, error) {
	rotation, err := tokenapi.ParseRotation(r)
	if err != nil {
		return web.Response{}, err
	}
	return tokenapi.Create(r, a.Log, newTokenView, func(options order.Options[token.Created]) (token.Created, error) {
		return a.Tokens.Rotate(r.Context(), r.Caller, rotation, options)
	})
}

// revokeToken serves DELETE /tokens/{tokenId}.
func (a API) revokeToken(r *web.Request) (web.Response, error) {
	return tokenapi.Revoke(r, a.Tokens, a.Log)
}

// revokedAllView is the response to the revocation of all tokens of a merchant.
type revokedAllView struct {
	Success bool    `json:"success"`
	Revoked []int64 `json:"revoked"` // ids of the tokens that were not revoked before
}

func respondRevoked(revoked []int64) web.Response {
	if revoked == nil {
		revoked = []int64{}
	}
	return web.Response{Status: http.StatusOK, Body: revokedAllView{Success: true, Revoked: revoked}}
}

// revokeTokens serves DELETE /merchants/{merchantId}/tokens.
func (a API) revokeTokens(r *web.Request) (web.Response, error) {
	revoked, err := a.Tokens.RevokeAll(r.Context(), r.Caller, merchantID(r), web.Options(r, respondRevoked))
	for _, id := range revoked {
		token.LogRevoked(a.Log, id, r.LogAttrs()...)
	}
	return respondRevoked(revoked), err
}

// createLoginLink serves POST /merchants/{merchantId}/login-link.
func (a API) createLoginLink(r *web.Request) (web.Response, error) {
	return tokenapi.CreateLoginLink(r, a.Sessions, a.Log, a.BaseURL, merchantID(r))
}
