package console

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// peopleView is the data of the page of who is signed in, for merchants and for operators.
type peopleView struct {
	Base     string // path of the page below the root
	Sessions []token.OpenSession
	Next     string // query of the next page; empty: there is none
	Passkeys []token.Token

	Form   formView // that invites somebody
	Scopes []string // that the form offers
	Link   string   // URL of a new login link; empty: none was made
	For    string   // whose link it is; empty: nobody was named
	Until  time.Time
	Notice string // key of a message; empty: none
}

// peopleBase returns the path of the page of people of a session.
func peopleBase(r *web.Request) string {
	if r.Caller.Operator() {
		return base(r) + "/tokens/people"
	}
	return base(r) + "/people"
}

// people serves GET /people and GET /operator/tokens/people.
func (s *site) people(w http.ResponseWriter, r *web.Request) error {
	return s.showPeople(w, r, http.StatusOK, peopleView{Notice: noticeOf(r, "people")})
}

// showPeople sends the page. Without a form it has one with the usual rights.
func (s *site) showPeople(w http.ResponseWriter, r *web.Request, status int, view peopleView) error {
	open, next, err := s.Sessions.Open(r.Context(), r.Caller.MerchantID, readSessionCursor(r.URL.Query().Get("after")))
	if err != nil {
		return err
	}
	if view.Sessions = open; next != nil {
		view.Next = "?after=" + strconv.FormatInt(next.CreatedAt.Unix(), 10) + "." + next.ID
	}
	if s.passkeys != nil {
		if view.Passkeys, err = s.Sessions.Passkeys(r.Context(), r.Caller.MerchantID, nil); err != nil {
			return err
		}
	}
	view.Form = view.Form.or(url.Values{"scope": order.DefaultScopes.Names()})
	view.Base = peopleBase(r)
	view.Scopes = (r.Caller.Scopes & order.ScopesOf(r.Caller.Operator())).Names()
	return s.show(w, r, status, "people", view)
}

// readSessionCursor reads a cursor from the query of a page. Another text is the first page.
func readSessionCursor(text string) *token.SessionCursor {
	at, id, _ := strings.Cut(text, ".")
	seconds, err := strconv.ParseInt(at, 10, 64)
	if _, ok := token.SessionHash(id); err != nil || !ok {
		return nil
	}
	return &token.SessionCursor{CreatedAt: time.Unix(seconds, 0).UTC(), ID: id}
}

// invite serves POST /people and POST /operator/tokens/people. The page that follows shows
// the login link, once.
func (s *site) invite(w http.ResponseWriter, r *web.Request, values url.Values) error {
	form := newForm(values)
	request := readInvitation(form, r.Caller)
	if !form.valid() {
		return s.showPeople(w, r, http.StatusUnprocessableEntity, peopleView{Form: form})
	}
	link, err := s.Sessions.NewLoginLink(r.Context(), r.Caller, request, web.FormOptions[token.CreatedLink](r))
	switch {
	case errors.As(err, new(*order.ReplayError)):
		return s.showPeople(w, r, http.StatusOK, peopleView{Notice: "merchants.linkshown"})
	case errors.Is(err, token.ErrScopes):
		form.refuse("scope", "tokens.scopes.toomany")
	case errors.Is(err, token.ErrTooMany):
		form.refuse("name", "tokens.toomany")
	case err != nil:
		return err
	default:
		token.LogLoginLink(s.Log, link.LoginLink, r.LogAttrs()...)
		base := s.MerchantURL
		if request.Operator {
			base = s.address(r.Request)
		}
		return s.showPeople(w, r, http.StatusOK, peopleView{Link: link.URL(base), For: link.Name, Until: link.ExpiresAt})
	}
	return s.showPeople(w, r, http.StatusUnprocessableEntity, peopleView{Form: form})
}

// readInvitation reads for whom a login link is and what they may do, and refuses what is
// wrong in the form.
func readInvitation(form formView, caller order.Caller) token.Person {
	request := token.Person{Operator: caller.Operator(), MerchantID: caller.MerchantID, Name: strings.TrimSpace(form.Value("name"))}
	switch {
	case request.Name == "":
		form.refuse("name", "people.name.missing")
	case token.LabelProblem(request.Name) != "":
		form.refuse("name", "problem.line")
	}
	request.Scopes = readScopes(form, order.ScopesOf(request.Operator))
	return request
}

// endSession serves POST /people/end and POST /operator/tokens/people/end.
func (s *site) endSession(w http.ResponseWriter, r *web.Request, values url.Values) error {
	err := replayed(s.Sessions.EndOther(r.Context(), r.Caller, values.Get("session"), web.FormOptions[string](r)))
	if err != nil && !errors.Is(err, token.ErrNoSession) { // it has ended meanwhile
		return err
	}
	return s.redirect(w, r, peopleBase(r)+"?done=ended")
}
