package tokenapi

import (
	"log/slog"
	"net/http"

	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// loginLinkView is the response to a new login link. Only here its address is shown,
// and only once: a repetition of the request gets null.
type loginLinkView struct {
	URL       *string  `json:"url"`
	Name      *string  `json:"name"`
	Scopes    []string `json:"scopes"`
	ExpiresAt string   `json:"expiresAt"`
}

// CreateLoginLink makes a login link for a merchant, at the service with a base URL, and
// returns the response.
func CreateLoginLink(r *web.Request, sessions *token.Sessions, log *slog.Logger, baseURL string, merchantID int64) (web.Response, error) {
	body := web.ReadObject(r, "name", "scopes")
	request := token.Person{MerchantID: merchantID, Name: parseLabel(body, "name"), Scopes: order.DefaultScopes}
	if body.Has("scopes") {
		request.Scopes = ParseScopes(body, order.MerchantScopes)
	}
	if err := body.Err(); err != nil {
		return web.Response{}, err
	}
	respond := func(url *string, link token.LoginLink) web.Response {
		return web.Response{Status: http.StatusCreated, Body: loginLinkView{
			URL: url, Name: web.NonZero(link.Name), Scopes: link.Scopes.Names(), ExpiresAt: web.TimeText(link.ExpiresAt),
		}}
	}
	options := web.Options(r, func(created token.CreatedLink) web.Response { return respond(nil, created.LoginLink) })
	created, err := sessions.NewLoginLink(r.Context(), r.Caller, request, options)
	if err != nil {
		return web.Response{}, err
	}
	token.LogLoginLink(log, created.LoginLink, r.LogAttrs()...)
	return respond(new(created.URL(baseURL)), created.LoginLink), nil
}
