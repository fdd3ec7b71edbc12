package operator

import (
	"log/slog"
	"net/http"
	"strconv"
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

// createdTokenView is the response to a new token. Only here its text is shown.
type createdTokenView struct {
	Text  string    `json:"text"`
	Token tokenView `json:"token"`
}

// createToken serves POST /tokens.
func (a API) createToken(w http.ResponseWriter, r *http.Request) error {
	body, err := readObject(r, "merchantId", "operator", "scopes", "expires")
	if err != nil {
		return err
	}
	request, err := parseTokenRequest(body)
	if err != nil {
		return err
	}
	var text string
	var created token.Token
	if request.operator {
		text, created, err = a.Tokens.CreateOperator(r.Context(), request.scopes, request.lifetime)
	} else {
		text, created, err = a.Tokens.Create(r.Context(), request.merchantID, request.scopes, request.lifetime)
	}
	if err != nil {
		return err
	}
	token.LogCreated(a.Log, created, by(r)...)
	return web.WriteJSON(w, http.StatusCreated, createdTokenView{Text: text, Token: newTokenView(created)})
}

// tokenRequest is the token that an operator requests.
type tokenRequest struct {
	operator   bool
	merchantID int64 // of a merchant's token
	scopes     token.Scope
	lifetime   time.Duration // 0: the token does not expire
}

// parseTokenRequest parses the body of POST /tokens. It has either "merchantId" or
// "operator": true. Without "scopes" the token gets the default ones. "expires" is a
// duration such as "2160h". Every error is a *web.ParamError.
func parseTokenRequest(body web.Object) (tokenRequest, error) {
	request := tokenRequest{scopes: token.DefaultScopes}
	if body.Has("operator") {
		request.operator, request.scopes = string(body["operator"]) == "true", token.OperatorScopes
		if !request.operator || body.Has("merchantId") {
			return tokenRequest{}, &web.ParamError{Name: "operator", Problem: "must be true, without merchantId"}
		}
	} else if request.merchantID, _ = order.ParseID(string(body["merchantId"])); request.merchantID == 0 {
		return tokenRequest{}, &web.ParamError{Name: "merchantId", Problem: "must be a whole number from 1"}
	}
	if body.Has("scopes") {
		var ok bool
		allowed := token.ScopesOf(request.operator)
		if request.scopes, ok = parseScopes(body["scopes"], allowed); !ok {
			return tokenRequest{}, &web.ParamError{Name: "scopes", Problem: "must be a list of " + strings.Join(allowed.Names(), ", ")}
		}
	}
	if body.Has("expires") {
		text, _ := body.Text("expires")
		lifetime, err := time.ParseDuration(text)
		if err != nil || lifetime < time.Second {
			return tokenRequest{}, &web.ParamError{Name: "expires", Problem: `must be a duration such as "2160h"`}
		}
		request.lifetime = lifetime
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
func (a API) revokeToken(w http.ResponseWriter, r *http.Request) error {
	id, ok := order.ParseID(r.PathValue("tokenId"))
	if !ok || id == 0 {
		return token.ErrUnknown
	}
	if _, err := a.Tokens.Revoke(r.Context(), strconv.FormatInt(id, 10)); err != nil {
		return err
	}
	token.LogRevoked(a.Log, id, by(r)...)
	return web.WriteJSON(w, http.StatusOK, revokedView{Success: true})
}

// by returns who sent a request, for the log.
func by(r *http.Request) []slog.Attr {
	source := web.Source(r)
	return []slog.Attr{slog.String("by", "operator"), slog.Int64("token", source.TokenID), slog.String("request", source.RequestID)}
}
