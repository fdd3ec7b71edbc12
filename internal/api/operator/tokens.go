package operator

import (
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

func newTokenView(t token.Token) tokenView {
	view := tokenView{ID: t.ID, Fields: tokenapi.NewFields(t)}
	if !t.Operator() {
		view.MerchantID = &t.MerchantID
	}
	return view
}

// listTokens serves GET /tokens.
func (a API) listTokens(r *web.Request) (any, error) {
	filter, err := parseTokenFilter(r)
	if err != nil {
		return nil, err
	}
	return tokenapi.List(r, a.Tokens, filter, newTokenView)
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
	return tokenapi.Rotate(r, a.Tokens, a.Log, newTokenView)
}

// revokeToken serves DELETE /tokens/{tokenId}.
func (a API) revokeToken(r *web.Request) (web.Response, error) {
	return tokenapi.Revoke(r, a.Tokens, a.Log)
}

// revokeTokens serves DELETE /merchants/{merchantId}/tokens.
func (a API) revokeTokens(r *web.Request) (web.Response, error) {
	return tokenapi.RevokeSeveral(r, a.Log, merchantID(r), a.Tokens.RevokeAll)
}

// createLoginLink serves POST /merchants/{merchantId}/login-link.
func (a API) createLoginLink(r *web.Request) (web.Response, error) {
	return tokenapi.CreateLoginLink(r, a.Sessions, a.Log, a.BaseURL, merchantID(r))
}
