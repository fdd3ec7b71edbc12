package console

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/digest"
	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/web"
)

// mailView is the data of the page of a merchant's e-mail addresses.
type mailView struct {
	Addresses []addressOfMail
	Form      formView
	Full      bool // the merchant has the maximum
	Notice    string
	Problem   string // keys of messages; empty: none
}

// addressOfMail is an e-mail address as the page shows it.
type addressOfMail struct {
	digest.Address
	Expired bool // the link that confirms it
}

// New reports whether the address gets new orders, and Near whether it gets warnings.
func (a addressOfMail) New() bool  { return a.Types.Has(order.OrderCreated) }
func (a addressOfMail) Near() bool { return a.Types.Has(order.DeadlineNear) }

// mailRoutes returns the routes of the page of e-mail addresses, and of the links in
// e-mails.
func (s *site) mailRoutes() []web.Route {
	routes := []web.Route{
		get("/mail", order.ScopeWebhooks, s.mail),
		post("/mail", order.ScopeWebhooks, s.changeMail),
	}
	const link = "{merchant}/{address}/{secret}"
	for path, page := range map[string]mailLink{
		mailConfirm: {"mail.confirm", func(r *web.Request, key delivery.Key) error {
			_, err := s.Digests.Confirm(r.Context(), r.Caller, key, r.PathValue("secret"))
			return err
		}},
		mailEnd: {"mail.end", func(r *web.Request, key delivery.Key) error {
			err := s.Digests.End(r.Context(), r.Caller, key, r.PathValue("secret"))
			if errors.Is(err, delivery.ErrNotFound) {
				return nil // it gets nothing already
			}
			return err
		}},
	} {
		routes = append(routes, web.PublicRoute(http.MethodGet, path+link, func(w http.ResponseWriter, r *web.Request) error {
			return s.render(w, r, http.StatusOK, "maillink", mailLinkView{Key: page.key})
		}), web.PublicRoute(http.MethodPost, path+link, func(w http.ResponseWriter, r *web.Request) error {
			return s.useMailLink(w, r, page)
		}))
	}
	return routes
}

// mail serves GET /mail.
func (s *site) mail(w http.ResponseWriter, r *web.Request) error {
	return s.showMail(w, r, http.StatusOK, mailView{Notice: noticeOf(r, "mail")})
}

// showMail sends the page. Without a form it has one with the usual choices.
func (s *site) showMail(w http.ResponseWriter, r *web.Request, status int, view mailView) error {
	addresses, err := s.Digests.List(r.Context(), r.Caller.MerchantID)
	if err != nil {
		return err
	}
	for _, e := range addresses {
		view.Addresses = append(view.Addresses, addressOfMail{e, !s.Orders.Now().Before(e.LinkUntil)})
	}
	view.Form = view.Form.or(url.Values{"what": {"new", "near"}, "every": {"15"}, "language": {languageOf(r.Request).code}})
	view.Full = len(addresses) >= digest.MaxAddresses
	return s.show(w, r, status, "mail", view)
}

// changeMail serves POST /mail. The field "do" names what to do.
func (s *site) changeMail(w http.ResponseWriter, r *web.Request, values url.Values) error {
	if values.Get("do") == "add" {
		return s.addAddress(w, r, newForm(values))
	}
	key := delivery.Key{MerchantID: r.Caller.MerchantID, Kind: digest.Kind}
	key.ID, _ = order.ParseID(values.Get("address"))
	options := web.FormOptions[digest.Address](r)
	var err error
	done := "removed"
	switch values.Get("do") {
	case "remove":
		if values.Get("sure") == "" {
			return s.askRemoveAddress(w, r, values, key)
		}
		_, err = s.Digests.Remove(r.Context(), r.Caller, key, options)
	case "link":
		done = "link"
		_, err = s.Digests.RenewLink(r.Context(), r.Caller, key, r.Session.MerchantName, options)
	default:
		return strict.ErrInvalidPayload
	}
	switch {
	case errors.Is(err, delivery.ErrOrders):
		return s.showMail(w, r, http.StatusForbidden, mailView{Problem: "mail.noorders"})
	case errors.Is(err, digest.ErrTooSoon):
		return s.showMail(w, r, http.StatusConflict, mailView{Problem: "mail.toosoon"})
	case errors.Is(err, digest.ErrTooManyLinks):
		return s.showMail(w, r, http.StatusConflict, mailView{Problem: "mail.toomanylinks"})
	case errors.Is(err, digest.ErrNotSent):
		return s.notSent(w, r, err)
	case replayed(err) != nil:
		return err
	}
	return s.redirect(w, r, Prefix+"/mail?done="+done)
}

// askRemoveAddress asks whether an address is to be removed: who reads its e-mails must confirm it again.
func (s *site) askRemoveAddress(w http.ResponseWriter, r *web.Request, values url.Values, key delivery.Key) error {
	addresses, err := s.Digests.List(r.Context(), r.Caller.MerchantID)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(addresses, func(a digest.Address) bool { return a.ID == key.ID })
	if at < 0 {
		return delivery.ErrNotFound
	}
	return s.show(w, r, http.StatusOK, "ask", question{
		Title: "mail.ask", Button: "webhooks.remove", Danger: true, Subject: addresses[at].Email, Text: "mail.end.lead", Path: Prefix + "/mail", Back: Prefix + "/mail",
		Fields: url.Values{"key": values["key"], "address": values["address"], "do": {"remove"}, "sure": {"yes"}},
	})
}

// notSent says that the mail server did not take the link that confirms an address.
func (s *site) notSent(w http.ResponseWriter, r *web.Request, err error) error {
	view := mailView{Problem: "mail.notsent"}
	if errors.Is(err, digest.ErrNoMailbox) {
		view.Problem = "mail.nomailbox"
	}
	return s.showMail(w, r, http.StatusOK, view)
}

// addAddress adds an address that a form names.
func (s *site) addAddress(w http.ResponseWriter, r *web.Request, form formView) error {
	address := readAddress(form)
	address.MerchantID = r.Caller.MerchantID
	options := web.FormOptions[digest.Address](r)
	if !form.valid() {
		return s.showMail(w, r, http.StatusUnprocessableEntity, mailView{Form: form})
	}
	_, err := s.Digests.Add(r.Context(), r.Caller, address, r.Session.MerchantName, options)
	switch {
	case errors.Is(err, delivery.ErrOrders):
		form.refuse("email", "mail.noorders")
		return s.showMail(w, r, http.StatusForbidden, mailView{Form: form})
	case errors.Is(err, digest.ErrAddressExists):
		form.refuse("email", "mail.exists")
	case errors.Is(err, delivery.ErrTooMany):
		form.refuse("email", "mail.toomany")
	case errors.Is(err, digest.ErrTooManyLinks):
		form.refuse("email", "mail.toomanylinks")
	case errors.Is(err, digest.ErrNotSent):
		return s.notSent(w, r, err)
	case replayed(err) != nil:
		return err
	default:
		return s.redirect(w, r, Prefix+"/mail?done=added")
	}
	return s.showMail(w, r, http.StatusUnprocessableEntity, mailView{Form: form})
}

// readAddress reads an e-mail address and what it gets, and refuses what is wrong in the
// form.
func readAddress(form formView) digest.Address {
	a := digest.Address{Email: strings.TrimSpace(form.Value("email")), Language: form.Value("language")}
	if digest.AddressProblem(a.Email) {
		form.refuse("email", "mail.badaddress")
	}
	var types []order.EventType
	for _, what := range form.values["what"] {
		switch what {
		case "new":
			types = append(types, order.OrderCreated)
		case "near":
			types = append(types, order.DeadlineNear)
		default:
			form.refuse("what", "mail.badwhat")
		}
	}
	if len(types) == 0 {
		form.refuse("what", "mail.badwhat")
	}
	minutes, _ := strconv.Atoi(form.Value("every"))
	if a.Every = time.Duration(minutes) * time.Minute; !slices.Contains(digest.Intervals, a.Every) {
		form.refuse("every", "mail.badchoice")
	}
	if messages()[a.Language] == nil {
		form.refuse("language", "mail.badchoice")
	}
	a.Types = delivery.NewTypes(types...)
	return a
}

// mailLink is what a link in an e-mail is for.
type mailLink struct {
	key string // beginning of the keys of its messages
	use func(r *web.Request, key delivery.Key) error
}

// mailLinkView is the data of the page of a link in an e-mail.
type mailLinkView struct {
	Key  string // beginning of the keys of its messages
	Done bool
	Bad  bool // the link is not valid
}

// useMailLink serves the POST of a link in an e-mail. The GET changes nothing, because
// programs open the links in e-mails too. Mail programs send the POST of RFC 8058.
func (s *site) useMailLink(w http.ResponseWriter, r *web.Request, link mailLink) error {
	key := delivery.Key{Kind: digest.Kind}
	key.MerchantID, _ = order.ParseID(r.PathValue("merchant"))
	key.ID, _ = order.ParseID(r.PathValue("address"))
	err := link.use(r, key)
	if errors.Is(err, digest.ErrLink) || errors.Is(err, delivery.ErrNotFound) {
		return s.refuse(w, r, "maillink", mailLinkView{Key: link.key, Bad: true})
	}
	if err != nil {
		return err
	}
	return s.render(w, r, http.StatusOK, "maillink", mailLinkView{Key: link.key, Done: true})
}
