package console

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

const (
	// tokensPageSize is how many tokens a page shows.
	tokensPageSize = 50
	// maxTokenDays is the longest lifetime that the form takes, in days.
	maxTokenDays = 3650
	// defaultTokenDays is what the form proposes.
	defaultTokenDays = 365
)

// tokensView is the data of the page of tokens, for merchants and for operators.
type tokensView struct {
	Base   string // path of the page below the root
	Filter formView
	Tokens []token.Token
	Next   string // query of the next page; empty: there is none
	Now    time.Time

	Form    formView // that creates a token
	Scopes  []string // that the form offers
	MaxDays int64    // 0: no limit
	Created *token.Created
	Notice  string // key of a message; empty: none
}

// tokenRoutes are the pages of the tokens, of a merchant or of operators.
func (s *site) tokenRoutes(
	get func(path string, scope order.Scope, handle web.Handler) web.Route,
	post func(path string, scope order.Scope, handle web.FormHandler) web.Route,
) []web.Route {
	return []web.Route{
		get("/tokens", order.ScopeTokens, s.tokens),
		post("/tokens", order.ScopeTokens, s.createToken),
		get("/tokens/{token}/rotate", order.ScopeTokens, s.askToken(true)),
		post("/tokens/{token}/rotate", order.ScopeTokens, s.rotateToken),
		get("/tokens/{token}/revoke", order.ScopeTokens, s.askToken(false)),
		post("/tokens/{token}/revoke", order.ScopeTokens, s.revokeToken),
	}
}

// tokens serves GET /tokens and GET /operator/tokens.
func (s *site) tokens(w http.ResponseWriter, r *web.Request) error {
	return s.showTokens(w, r, http.StatusOK, tokensView{Notice: noticeOf(r, "tokens")})
}

// showTokens sends the page of tokens. The view says what happened. Without a form it has one
// with what it proposes.
func (s *site) showTokens(w http.ResponseWriter, r *web.Request, status int, view tokensView) error {
	query := r.URL.Query()
	view.Filter = newForm(query)
	filter := token.Filter{MerchantID: r.Caller.MerchantID, Validity: token.Active, Limit: tokensPageSize + 1}
	if text := query.Get("state"); text != "" {
		filter.Validity, _ = token.ParseValidity(text) // any, for another text
	}
	var err error
	if r.Caller.Operator() {
		if filter.MerchantID, err = s.readStore(r, view.Filter); err != nil {
			return err
		}
		if view.Filter.Refused() {
			filter.MerchantID = -1 // no merchant has it
			status = max(status, http.StatusBadRequest)
		}
	}
	filter.After, _ = order.ParseID(query.Get("after"))
	if view.Tokens, err = s.Tokens.List(r.Context(), filter); err != nil {
		return err
	}
	view.Tokens, view.Next = cutPage(query, view.Tokens, tokensPageSize, func(t token.Token) int64 { return t.ID })
	view.Form = view.Form.or(url.Values{"days": {strconv.Itoa(defaultTokenDays)}, "merchant": {query.Get("merchant")}})
	view.Base, view.Now = base(r)+"/tokens", s.Orders.Now()
	view.Scopes = offeredScopes(r.Caller)
	view.MaxDays = int64(s.Tokens.MaxLifetime / (24 * time.Hour))
	return s.show(w, r, status, "tokens", view)
}

// offeredScopes returns the names of the scopes that a person may give to a token.
func offeredScopes(caller order.Caller) []string {
	if caller.Operator() {
		return (order.MerchantScopes | order.OperatorScopes).Names()
	}
	return (caller.Scopes & order.MerchantScopes).Names()
}

// createToken serves POST /tokens and POST /operator/tokens. The page that follows shows
// the text of the token, once.
func (s *site) createToken(w http.ResponseWriter, r *web.Request, values url.Values) error {
	form := newForm(values)
	wanted, err := s.readTokenRequest(r, form)
	if err != nil {
		return err
	}
	options := web.FormOptions[token.Created](r)
	if !form.valid() {
		return s.showTokens(w, r, http.StatusUnprocessableEntity, tokensView{Form: form})
	}
	created, err := s.Tokens.Add(r.Context(), r.Caller, wanted, options)
	return s.showCreated(w, r, form, created, err)
}

// showCreated shows the text of a new token, or what was wrong in the form.
func (s *site) showCreated(w http.ResponseWriter, r *web.Request, form formView, created token.Created, err error) error {
	switch {
	case errors.As(err, new(*order.ReplayError)):
		return s.showTokens(w, r, http.StatusOK, tokensView{Notice: "tokens.shown"})
	case errors.As(err, new(*token.LifetimeError)):
		form.refuse("days", "tokens.toolong")
	case errors.Is(err, order.ErrMerchantNotFound):
		form.refuse("merchant", "tokens.nomerchant")
	case errors.Is(err, token.ErrScopes):
		form.refuse("scope", "tokens.scopes.toomany")
	case errors.Is(err, token.ErrTooMany):
		form.refuse("label", "tokens.toomany")
	case err != nil:
		return err
	default:
		token.LogCreated(s.Log, created.Token, r.LogAttrs()...)
		return s.showTokens(w, r, http.StatusOK, tokensView{Created: &created})
	}
	return s.showTokens(w, r, http.StatusUnprocessableEntity, tokensView{Form: form})
}

// readTokenRequest reads the form of a new token and refuses what is wrong in it.
func (s *site) readTokenRequest(r *web.Request, form formView) (wanted token.Request, err error) {
	wanted = token.Request{MerchantID: r.Caller.MerchantID, Label: strings.TrimSpace(form.Value("label"))}
	if r.Caller.Operator() {
		wanted.MerchantID, err = s.readStore(r, form)
	}
	wanted.Operator = wanted.MerchantID == 0
	wanted.Scopes = readScopes(form, order.ScopesOf(wanted.Operator))
	wanted.Expiry.After = readDays(form)
	if token.LabelProblem(wanted.Label) != "" {
		form.refuse("label", "problem.line")
	}
	return wanted, err
}

// readScopes reads the scopes that are chosen in a form, each one of allowed.
func readScopes(form formView, allowed order.Scope) order.Scope {
	if len(form.values["scope"]) == 0 {
		form.refuse("scope", "tokens.scopes.none")
		return 0
	}
	scopes, err := order.ParseScopes(form.values["scope"], allowed)
	if err != nil {
		form.refuse("scope", "tokens.scopes.wrong")
	}
	return scopes
}

// readDays reads the lifetime of a token; 0 if none is given.
func readDays(form formView) time.Duration {
	text := strings.TrimSpace(form.Value("days"))
	if text == "" {
		return 0
	}
	days, ok := order.ParseID(text)
	if !ok || days == 0 || days > maxTokenDays {
		form.refuse("days", "tokens.days")
		return 0
	}
	return time.Duration(days) * 24 * time.Hour
}

// tokenView is the data of the question before a change of a token.
type tokenView struct {
	Base   string
	Token  token.Token
	Rotate bool // else: revoke
	Form   formView
}

// overlaps are how long the old token may be valid after a rotation, in hours.
var overlaps = []string{"24", "1", "168", "0"}

// askToken serves GET /tokens/{token}/rotate or GET /tokens/{token}/revoke, a question.
func (s *site) askToken(rotate bool) web.Handler {
	return func(w http.ResponseWriter, r *web.Request) error {
		view, err := s.tokenOf(r, rotate, nil)
		if err != nil {
			return err
		}
		return s.show(w, r, http.StatusOK, "token", view)
	}
}

// tokenOf returns the question about the token of the path, or token.ErrUnknown.
func (s *site) tokenOf(r *web.Request, rotate bool, values url.Values) (tokenView, error) {
	id, _ := order.ParseID(r.PathValue("token"))
	tokens, err := s.Tokens.List(r.Context(), token.Filter{MerchantID: r.Caller.MerchantID, After: id - 1, Limit: 1})
	if err == nil && (id == 0 || len(tokens) == 0 || tokens[0].ID != id) {
		err = token.ErrUnknown
	}
	if err != nil {
		return tokenView{}, err
	}
	return tokenView{Base: base(r) + "/tokens", Token: tokens[0], Rotate: rotate, Form: newForm(values)}, nil
}

// rotateToken serves POST /tokens/{token}/rotate.
func (s *site) rotateToken(w http.ResponseWriter, r *web.Request, values url.Values) error {
	view, err := s.tokenOf(r, true, values)
	if err != nil {
		return err
	}
	overlap := values.Get("overlap")
	if !slices.Contains(overlaps, overlap) {
		view.Form.refuse("overlap", "tokens.overlap.choose")
		return s.show(w, r, http.StatusUnprocessableEntity, "token", view)
	}
	options := web.FormOptions[token.Created](r)
	hours, err := strconv.Atoi(overlap)
	if err != nil {
		return err
	}
	created, err := s.Tokens.Rotate(r.Context(), r.Caller, token.Rotation{ID: view.Token.ID, Overlap: time.Duration(hours) * time.Hour}, options)
	switch {
	case errors.As(err, new(*token.LifetimeError)):
		view.Form.refuse("overlap", "tokens.toolong")
	case errors.Is(err, token.ErrTooMany):
		view.Form.refuse("overlap", "tokens.toomany")
	case errors.Is(err, token.ErrScopes):
		view.Form.refuse("overlap", "tokens.scopes.toomany")
	default:
		return s.showCreated(w, r, newForm(nil), created, err)
	}
	return s.show(w, r, http.StatusUnprocessableEntity, "token", view)
}

// revokeToken serves POST /tokens/{token}/revoke.
func (s *site) revokeToken(w http.ResponseWriter, r *web.Request, values url.Values) error {
	id, _ := order.ParseID(r.PathValue("token"))
	revoked := []int64{id}
	var err error
	if values.Get("children") == "" {
		_, err = s.Tokens.RevokeID(r.Context(), r.Caller, id, web.FormOptions[int64](r))
	} else {
		revoked, err = s.Tokens.RevokeFamily(r.Context(), r.Caller, id, web.FormOptions[[]int64](r))
	}
	if replayed(err) != nil {
		return err
	}
	for _, id := range revoked {
		token.LogRevoked(s.Log, id, r.LogAttrs()...)
	}
	return s.redirect(w, r, base(r)+"/tokens?done=revoked")
}
