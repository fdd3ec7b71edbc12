package operator

import (
	"net/http"

	"merchantorders/internal/api/tokenapi"
	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// loginLinkView is the response to a new login link. Only here its address is shown,
// and only once: a repetition of the request gets null.
type loginLinkView struct {
	URL       *string  `json:"url"`
	Scopes    []string `json:"scopes"`
	ExpiresAt string   `json:"expiresAt"`
}

// createLoginLink serves POST /merchants/{merchantId}/login-link.
func (a API) createLoginLink(r *web.Request) (web.Response, error) {
	body := web.ReadObject(r, "scopes")
	scopes := order.DefaultScopes
	if body.Has("scopes") {
		scopes = tokenapi.ParseScopes(body, order.MerchantScopes)
	}
	if err := body.Err(); err != nil {
		return web.Response{}, err
	}
	respond := func(url *string, link token.LoginLink) web.Response {
		return web.Response{Status: http.StatusCreated, Body: loginLinkView{
			URL: url, Scopes: link.Scopes.Names(), ExpiresAt: web.TimeText(link.ExpiresAt),
		}}
	}
	options := web.Options(r, func(created token.CreatedLink) web.Response { return respond(nil, created.LoginLink) })
	created, err := a.Sessions.NewLoginLink(r.Context(), r.Caller, merchantID(r), scopes, options)
	if err != nil {
		return web.Response{}, err
	}
	token.LogLoginLink(a.Log, created.LoginLink, r.LogAttrs()...)
	url := created.URL(a.BaseURL)
	return respond(&url, created.LoginLink), nil
}
