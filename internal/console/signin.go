package console

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// signInView is the data of the sign-in.
type signInView struct {
	Next    string // local path to go to afterwards
	Problem string // key of a message; empty: none
	Typed   fields // of a form that came too late, with the keys of labels
}

// Late reports whether a form came too late.
func (v signInView) Late() bool { return strings.HasPrefix(v.Problem, "late.") }

// OfToken reports whether the problem is about the token that was typed.
func (v signInView) OfToken() bool {
	return slices.Contains([]string{"signin.empty", "signin.unknown", "signin.operator", "signin.merchant"}, v.Problem)
}

// signInPage serves GET /.
func (s *site) signInPage(w http.ResponseWriter, r *web.Request) error {
	if _, _, err := s.find(r); err == nil {
		return s.redirect(w, r, localPath(r.URL.Query().Get("next")))
	}
	view := signInView{Next: localPath(r.URL.Query().Get("next"))}
	if view.Next != Prefix {
		view.Problem = "signin.expired"
	}
	return s.render(w, r, http.StatusOK, "signin", view)
}

// signIn serves POST /. The page comes back without what was typed: a token is a
// secret.
func (s *site) signIn(w http.ResponseWriter, r *web.Request) error {
	form, err := web.ReadForm(r, web.MaxBody)
	if err != nil {
		return err
	}
	view := signInView{Next: localPath(form.Get("next"))}
	text := strings.TrimSpace(form.Get("token"))
	if text == "" {
		view.Problem = "signin.empty"
		return s.render(w, r, http.StatusBadRequest, "signin", view)
	}
	grant, err := s.Tokens.Authenticate(r.Context(), text, r.Address())
	switch {
	case errors.Is(err, token.ErrUnknown):
		view.Problem = "signin.unknown"
		return s.refuse(w, r, "signin", view)
	case err != nil:
		return err
	}
	if err := r.Identify(grant); err != nil {
		return err
	}
	if problem := s.notServed(grant.Operator()); problem != "" {
		view.Problem = problem
		return s.render(w, r, http.StatusForbidden, "signin", view)
	}
	if err := s.Limits.AllowSignIn(grant.MerchantID); err != nil {
		return err
	}
	secret, err := s.Sessions.Begin(r.Context(), r.Caller)
	if err != nil {
		return err
	}
	return s.signedIn(w, r, secret, view.Next)
}

// signedIn gives the secret of a new session to the browser, and leads to a page. The
// session that the browser has had ends: it cannot be used any more.
func (s *site) signedIn(w http.ResponseWriter, r *web.Request, secret, next string) error {
	if err := s.endOwnSession(r); err != nil {
		return err
	}
	s.setSession(w, r.Request, secret)
	return s.redirect(w, r, next)
}

// endOwnSession ends the session that the browser has, if there is one.
func (s *site) endOwnSession(r *web.Request) error {
	cookie, err := r.Cookie(s.sessionName(r.Request))
	if err != nil {
		return nil
	}
	return s.Sessions.End(r.Context(), r.Caller, cookie.Value)
}

// notServed returns the key of a message if the site has no pages for operators, or for
// merchants.
func (s *site) notServed(operator bool) string {
	switch {
	case operator && s.Audience&Operators == 0:
		return "signin.operator"
	case !operator && s.Audience&Merchants == 0:
		return "signin.merchant"
	}
	return ""
}

// signOut serves POST /sign-out.
func (s *site) signOut(w http.ResponseWriter, r *web.Request) error {
	if err := s.endOwnSession(r); err != nil {
		return err
	}
	s.setSession(w, r.Request, "")
	return s.redirect(w, r, "/")
}

// loginView is the data of the page of a login link.
type loginView struct {
	Store  string // name of the merchant; empty: the link is an operator's
	Person string // who signs in; empty: nobody was named
	Now    string // who is signed in in this browser, and where; empty: nobody, or the same
}

// loginLink serves GET /login/{secret}: a page that says for which store and as whom the
// link signs in, with a button. The GET changes nothing, so that a program that opens the
// links in a mail does not use this one up.
func (s *site) loginLink(w http.ResponseWriter, r *web.Request) error {
	link, err := s.Sessions.LookAtLoginLink(r.Context(), r.Caller, r.PathValue("secret"))
	if errors.Is(err, token.ErrNoLoginLink) {
		return s.refuseLoginLink(w, r)
	}
	view := loginView{Person: link.Name}
	if err == nil && link.MerchantID != 0 {
		var merchant order.Merchant
		merchant, err = s.Merchants.Get(r.Context(), link.MerchantID)
		view.Store = merchant.Name
	}
	if err != nil {
		return err
	}
	if session, grant, err := s.find(r); err == nil && (grant.MerchantID != link.MerchantID || session.Person() != link.Name) {
		view.Now = joined(" · ", session.Person(), session.MerchantName)
	}
	return s.render(w, r, http.StatusOK, "login", view)
}

// refuseLoginLink shows that a link is not there, or not any more.
func (s *site) refuseLoginLink(w http.ResponseWriter, r *web.Request) error {
	return s.refuse(w, r, "signin", signInView{Next: Prefix, Problem: "login.used"})
}

// refuse sends a page with status 403, and counts a failure of the address: nobody guesses secrets.
func (s *site) refuse(w http.ResponseWriter, r *web.Request, name string, page any) error {
	if err := s.Limits.AllowFailure(r.Address()); err != nil {
		return err
	}
	return s.render(w, r, http.StatusForbidden, name, page)
}

// errElsewhere means that a login link or a passkey is of the other port.
var errElsewhere = errors.New("the login link or passkey is of another address")

// useLoginLink serves POST /login/{secret}.
func (s *site) useLoginLink(w http.ResponseWriter, r *web.Request) error {
	secret, err := s.Sessions.UseLoginLink(r.Context(), r.Caller, r.PathValue("secret"), func(link token.LoginLink) error {
		if s.notServed(link.MerchantID == 0) != "" {
			return errElsewhere
		}
		return s.Limits.AllowSignIn(link.MerchantID)
	})
	switch {
	case errors.Is(err, errElsewhere):
		return s.render(w, r, http.StatusForbidden, "signin", signInView{Next: Prefix, Problem: "login.elsewhere"})
	case errors.Is(err, token.ErrNoLoginLink):
		return s.refuseLoginLink(w, r)
	case err != nil:
		return err
	}
	return s.signedIn(w, r, secret, Prefix)
}
