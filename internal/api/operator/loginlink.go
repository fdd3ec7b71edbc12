package operator

import (
	"context"
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
func (a API) createLoginLink(r *web.Request) (web.Change, error) {
	body := web.ReadObject(r.Request, "scopes")
	merchantID := merchantID(r.Request)
	scopes := order.DefaultScopes
	if body.Has("scopes") {
		scopes = tokenapi.ParseScopes(body, order.MerchantScopes)
	}
	respond := func(url *string, link token.LoginLink) web.Response {
		return web.Response{Status: http.StatusCreated, Body: loginLinkView{
			URL: url, Scopes: link.Scopes.Names(), ExpiresAt: web.TimeText(link.ExpiresAt),
		}}
	}
	return web.NewSecretChange(func(ctx context.Context, options token.LoginLinkOptions) (token.CreatedLink, error) {
		created, err := a.Sessions.NewLoginLink(ctx, merchantID, scopes, options)
		if err == nil {
			token.LogLoginLink(a.Log, created.LoginLink, web.LoggedSource(r.Request, "operator")...)
		}
		return created, err
	}, func(created token.CreatedLink) web.Response {
		url := created.URL(a.BaseURL)
		return respond(&url, created.LoginLink)
	}, func(created token.CreatedLink) web.Response {
		return respond(nil, created.LoginLink)
	}), body.Err()
}
