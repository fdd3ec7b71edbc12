package console

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"merchantorders/internal/identity"
	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

const (
	// passkeyPath is the path below Prefix that signs in with a passkey.
	passkeyPath = "/passkey"
	// passkeysPath is that of a person's own passkeys.
	passkeysPath = "/passkeys"
	// passkeyCookie keeps the attempt of an identity.Passkeys; the newest one counts.
	passkeyCookie = "passkey"
)

// passkeyRoutes are the routes of passkeys, if browsers have them for the address.
func (s *site) passkeyRoutes() []web.Route {
	return []web.Route{
		web.PublicRoute(http.MethodPost, passkeyPath, s.usePasskey),
		web.PublicRoute(http.MethodPost, passkeyPath+"/ask", s.askPasskey),
		web.GetRoute(passkeysPath, web.Authenticated(), s.ownPasskeys),
		web.PostRoute(passkeysPath, web.Authenticated(), s.makePasskey),
		web.PostRoute(passkeysPath+"/offer", web.Authenticated(), s.offerPasskey),
		web.FormRoute(passkeysPath+"/remove", web.Authenticated(), web.MaxBody, s.removePasskey),
	}
}

// askPasskey serves POST /passkey/ask: what a script asks the person's device for.
func (s *site) askPasskey(w http.ResponseWriter, r *web.Request) error {
	key, err := s.attemptKey(r)
	if err != nil {
		return err
	}
	options, attempt, err := s.passkeys.Ask(key)
	return s.sendOptions(w, r, options, attempt, err)
}

// sendOptions sends what a script asks the device for, and the attempt.
func (s *site) sendOptions(w http.ResponseWriter, r *web.Request, options any, attempt string, err error) error {
	if err != nil {
		return err
	}
	body, err := json.Marshal(options)
	if err != nil {
		return err
	}
	s.setCookie(w, r.Request, s.cookieName(r.Request, passkeyCookie), attempt, identity.AttemptLifetime)
	web.Page{ContentType: "application/json", Body: body}.Write(w, http.StatusOK)
	return nil
}

// readAnswer returns the form with what a device has answered, and the attempt that it ends
// with the key for it.
func (s *site) readAnswer(w http.ResponseWriter, r *web.Request) (form url.Values, key []byte, sealed string, err error) {
	if form, err = web.ReadForm(r, web.MaxBody); err != nil {
		return nil, nil, "", err
	}
	name := s.cookieName(r.Request, passkeyCookie)
	if cookie, err := r.Cookie(name); err == nil {
		sealed = cookie.Value
		s.setCookie(w, r.Request, name, "", 0)
	}
	key, err = s.attemptKey(r)
	return form, key, sealed, err
}

// usePasskey serves POST /passkey: it signs in the person of a passkey.
func (s *site) usePasskey(w http.ResponseWriter, r *web.Request) error {
	form, key, attempt, err := s.readAnswer(w, r)
	if err != nil {
		return err
	}
	view, secret := signInView{Next: localPath(form.Get("next")), Problem: "passkey.unknown"}, ""
	credential, verify, err := s.passkeys.Read(key, attempt, form.Get("passkey"))
	if err == nil {
		secret, err = s.Sessions.UsePasskey(r.Context(), r.Caller, credential, verify, func(t token.Token) error {
			if s.notServed(t.Operator()) != "" {
				return errElsewhere
			}
			return s.Limits.AllowSignIn(t.MerchantID)
		})
	}
	switch {
	case err == nil:
		return s.signedIn(w, r, secret, view.Next)
	case errors.Is(err, token.ErrPasskeyCopied):
		view.Problem = "passkey.copied"
	case !errors.Is(err, token.ErrNoPasskey) && !errors.Is(err, identity.ErrRefused) && !errors.Is(err, errElsewhere):
		return err
	}
	s.Log.Warn("a passkey signed nobody in", "request", r.Caller.RequestID, "error", err)
	return s.refuse(w, r, "signin", view)
}

// passkeysView is the data of the page of a person's own passkeys.
type passkeysView struct {
	Passkeys []token.Token
	Problem  string // key of a message; empty: none
	Notice   string // likewise
}

// ownPasskeys serves GET /passkeys.
func (s *site) ownPasskeys(w http.ResponseWriter, r *web.Request) error {
	return s.showPasskeys(w, r, http.StatusOK, passkeysView{Notice: noticeOf(r, "passkeys")})
}

func (s *site) showPasskeys(w http.ResponseWriter, r *web.Request, status int, view passkeysView) (err error) {
	if view.Passkeys, err = s.Sessions.Passkeys(r.Context(), r.Caller.MerchantID, &r.Session); err != nil {
		return err
	}
	return s.show(w, r, status, "passkeys", view)
}

// offerPasskey serves POST /passkeys/offer: what a script asks the person's device for.
func (s *site) offerPasskey(w http.ResponseWriter, r *web.Request) error {
	key, err := s.attemptKey(r)
	if err != nil {
		return err
	}
	own, err := s.Sessions.Passkeys(r.Context(), r.Caller.MerchantID, &r.Session)
	if err != nil {
		return err
	}
	store := r.Session.MerchantName
	if r.Caller.Operator() {
		store = languageOf(r.Request).text("nav.operator")
	}
	records := web.Collect(own, func(t token.Token) string { return t.Passkey })
	options, attempt, err := s.passkeys.Offer(key, r.Session.ID, joined(" · ", r.Session.Person(), store), records)
	return s.sendOptions(w, r, options, attempt, err)
}

// makePasskey serves POST /passkeys.
func (s *site) makePasskey(w http.ResponseWriter, r *web.Request) error {
	form, key, attempt, err := s.readAnswer(w, r)
	if err != nil {
		return err
	}
	credential, record, err := s.passkeys.Made(key, r.Session.ID, attempt, form.Get("passkey"))
	if err == nil {
		err = s.Sessions.AddPasskey(r.Context(), r.Caller, r.Session, credential, record)
	}
	view := passkeysView{Problem: "passkey.failed"}
	switch {
	case err == nil:
		return s.redirect(w, r, Prefix+passkeysPath+"?done=made")
	case errors.Is(err, token.ErrTooMany):
		view.Problem = "passkey.toomany"
	case !errors.Is(err, identity.ErrRefused) && !errors.Is(err, token.ErrNotPerson) && !errors.Is(err, token.ErrUnknown):
		return err
	}
	s.Log.Warn("no passkey was made", "request", r.Caller.RequestID, "error", err)
	return s.showPasskeys(w, r, http.StatusForbidden, view)
}

// removePasskey serves POST /passkeys/remove, a form of the own passkeys and of the people.
func (s *site) removePasskey(w http.ResponseWriter, r *web.Request, values url.Values) error {
	id, _ := order.ParseID(values.Get("passkey"))
	page := Prefix + passkeysPath
	if people := peopleBase(r); s.pageOfForm(r.Request) == people || values.Get("page") == people {
		page = people
	}
	if values.Get("sure") == "" {
		return s.askRemovePasskey(w, r, values, id, page)
	}
	err := replayed(s.Sessions.RemovePasskey(r.Context(), r.Caller, r.Session, id, web.FormOptions[int64](r)))
	if err != nil && !errors.Is(err, token.ErrNoPasskey) { // it has ended meanwhile
		return err
	}
	return s.redirect(w, r, page+"?done=removed")
}

// askRemovePasskey asks whether a passkey is to be removed: nobody makes it again without a link.
func (s *site) askRemovePasskey(w http.ResponseWriter, r *web.Request, values url.Values, id int64, page string) error {
	view := question{
		Title: "passkey.ask", Button: "webhooks.remove", Danger: true, Text: "ask.forever", Path: Prefix + passkeysPath + "/remove", Back: page,
		Fields: url.Values{"key": values["key"], "passkey": values["passkey"], "page": {page}, "sure": {"yes"}},
	}
	if id == r.Caller.TokenID {
		view.Text = "passkey.ask.own"
	}
	switch t, err := s.Sessions.Removable(r.Context(), r.Caller, r.Session, id); {
	case err != nil:
		return err
	case t.ID != 0:
		view.Subject = joined(" · ", t.Person(), strconv.FormatInt(id, 10))
	}
	return s.show(w, r, http.StatusOK, "ask", view)
}
