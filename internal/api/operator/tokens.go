package operator

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// tokenView is a token as operators see it: everything but its text.
type tokenView struct {
	ID         int64    `json:"id"`
	MerchantID *int64   `json:"merchantId"` // nil: an operator's token
	Scopes     []string `json:"scopes"`
	Hint       string   `json:"hint"`
	CreatedAt  string   `json:"createdAt"`
	ExpiresAt  *string  `json:"expiresAt"`
	RevokedAt  *string  `json:"revokedAt"`
	LastUsedAt *string  `json:"lastUsedAt"`
}

type tokensView struct {
	Tokens []tokenView `json:"tokens"`
}

func newTokenView(t token.Token) tokenView {
	view := tokenView{
		ID:         t.ID,
		Scopes:     t.Scopes.Names(),
		Hint:       t.Hint,
		CreatedAt:  t.CreatedAt.UTC().Format(time.RFC3339),
		ExpiresAt:  timeOf(t.ExpiresAt),
		RevokedAt:  timeOf(t.RevokedAt),
		LastUsedAt: timeOf(t.LastUsedAt),
	}
	if !t.Operator() {
		view.MerchantID = &t.MerchantID
	}
	return view
}

// timeOf returns a time as text, nil if there is none.
func timeOf(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(time.RFC3339)
	return &text
}

// listTokens serves GET /tokens.
func (a API) listTokens(w http.ResponseWriter, r *http.Request) error {
	tokens, err := a.Tokens.List(r.Context())
	if err != nil {
		return err
	}
	view := tokensView{Tokens: make([]tokenView, 0, len(tokens))}
	for _, t := range tokens {
		view.Tokens = append(view.Tokens, newTokenView(t))
	}
	return web.WriteJSON(w, http.StatusOK, view)
}

// createdTokenView is the response to a new token. Only here its text is shown, and
// only once: a repetition of the request gets null.
type createdTokenView struct {
	Text  *string   `json:"text"`
	Token tokenView `json:"token"`
}

// createToken serves POST /tokens.
func (a API) createToken(r *web.Request) (web.Change, error) {
	body, err := readObject(r.Request, "merchantId", "operator", "scopes", "expires")
	if err != nil {
		return web.Change{}, err
	}
	request, err := parseTokenRequest(body)
	if err != nil {
		return web.Change{}, err
	}
	respond := func(text *string, t token.Token) web.Response {
		return web.Response{Status: http.StatusCreated, Body: createdTokenView{Text: text, Token: newTokenView(t)}}
	}
	return web.NewSecretChange(func(ctx context.Context, options token.CreateOptions) (token.Created, error) {
		created, err := a.Tokens.Add(ctx, request, options)
		if err == nil {
			token.LogCreated(a.Log, created.Token, by(r.Request)...)
		}
		return created, err
	}, func(created token.Created) web.Response {
		return respond(&created.Text, created.Token)
	}, func(created token.Created) web.Response {
		return respond(nil, created.Token)
	}), nil
}

// parseTokenRequest parses the body of POST /tokens. It has either "merchantId" or
// "operator": true. Without "scopes" the token gets the default ones. "expires" is a
// duration such as "2160h". Every error is a *web.ParamError.
func parseTokenRequest(body web.Object) (token.Request, error) {
	request := token.Request{Scopes: token.DefaultScopes}
	if body.Has("operator") {
		request.Operator, request.Scopes = string(body["operator"]) == "true", token.OperatorScopes
		if !request.Operator || body.Has("merchantId") {
			return token.Request{}, &web.ParamError{Name: "operator", Problem: "must be true, without merchantId"}
		}
	} else if request.MerchantID, _ = order.ParseID(string(body["merchantId"])); request.MerchantID == 0 {
		return token.Request{}, &web.ParamError{Name: "merchantId", Problem: "must be a whole number from 1"}
	}
	if body.Has("scopes") {
		var ok bool
		allowed := token.ScopesOf(request.Operator)
		if request.Scopes, ok = parseScopes(body["scopes"], allowed); !ok {
			return token.Request{}, &web.ParamError{Name: "scopes", Problem: "must be a list of " + strings.Join(allowed.Names(), ", ")}
		}
	}
	if body.Has("expires") {
		text, _ := body.Text("expires")
		lifetime, err := time.ParseDuration(text)
		if err != nil || lifetime < time.Second {
			return token.Request{}, &web.ParamError{Name: "expires", Problem: `must be a duration such as "2160h"`}
		}
		request.Lifetime = lifetime
	}
	return request, nil
}

// parseScopes parses a list of scopes, not empty, each one of allowed.
func parseScopes(value jsontext.Value, allowed token.Scope) (token.Scope, bool) {
	var names []string
	if json.Unmarshal(value, &names) != nil {
		return 0, false
	}
	scopes, err := token.ParseScopes(names, allowed)
	return scopes, err == nil
}

// revokedView is the response to a revocation.
type revokedView struct {
	Success bool `json:"success"`
}

// revokeToken serves DELETE /tokens/{tokenId}. The path identifies a token by its
// id, never by its text: paths are logged by proxies.
func (a API) revokeToken(r *web.Request) (web.Change, error) {
	id, ok := order.ParseID(r.PathValue("tokenId"))
	if !ok || id == 0 {
		return web.Change{}, token.ErrUnknown
	}
	return web.NewChange(func(ctx context.Context, options token.RevokeOptions) (int64, error) {
		revoked, err := a.Tokens.RevokeID(ctx, id, options)
		if err == nil {
			token.LogRevoked(a.Log, id, by(r.Request)...)
		}
		return revoked, err
	}, func(int64) web.Response {
		return web.Response{Status: http.StatusOK, Body: revokedView{Success: true}}
	}), nil
}

// by returns who sent a request, for the log.
func by(r *http.Request) []slog.Attr {
	source := web.Source(r)
	return []slog.Attr{slog.String("by", "operator"), slog.Int64("token", source.TokenID), slog.String("request", source.RequestID)}
}
