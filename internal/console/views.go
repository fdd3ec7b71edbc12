package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// maxViewName is the length of a view's name, in characters.
const maxViewName = 40

// savedView is a view that a person has saved, or that everybody has.
type savedView struct {
	Name   string // of everybody the key of a message
	Query  string
	Chosen bool
	Own    bool
}

// readViews puts the views of everybody and of the person into the view.
func (s *site) readViews(r *web.Request, view *listView) error {
	week := order.DayIn(s.Orders.Now(), s.zoneOf(r)) - 6
	canceled := url.Values{"state": {order.Canceled.String()}, "from": {week.String()}}
	all := []savedView{{Name: "view.all"}, {Name: "view.overdue", Query: "?overdue=yes"}, {Name: "view.canceled", Query: "?" + canceled.Encode()}}
	kept, err := s.Sessions.Kept(r.Context(), r.Caller.MerchantID, r.Session, token.KeptView)
	for _, k := range kept {
		all = append(all, savedView{Name: k.Name, Query: k.Value, Own: true})
	}
	for i := range all {
		all[i].Chosen = all[i].Query == view.View
		if all[i].Chosen {
			view.Saved = &all[i]
		}
	}
	view.Views = all
	return err
}

// keepView serves POST /orders: it saves the view of the address under a name, or renames or
// removes one. No view has the words of a search, which may be those of a customer: an erasure
// would have to look into all of them.
func (s *site) keepView(w http.ResponseWriter, r *web.Request, values url.Values) error {
	form, _ := s.ownFilter(r, r.URL.Query())
	name := strings.TrimSpace(values.Get("name"))
	if values.Get("do") == "remove" {
		if err := s.Sessions.Forget(r.Context(), r.Caller.MerchantID, r.Session, token.KeptView, name); err != nil {
			return err
		}
		return s.redirect(w, r, listPath)
	}
	sent := newForm(values)
	if name == "" || !isLine(name) || utf8.RuneCountInString(name) > maxViewName {
		sent.refuse("name", "views.name.problem")
	}
	if form.valid() && (filterView{Form: form}).Savable() && sent.valid() {
		switch err := s.Sessions.KeepView(r.Context(), r.Caller.MerchantID, r.Session, values.Get("was"), name, viewQuery(form.values, 1)); {
		case err == nil:
			return s.redirect(w, r, listPath+viewQuery(form.values, 1))
		case errors.Is(err, token.ErrViewExists):
			sent.refuse("name", "views.exists")
		case errors.Is(err, token.ErrTooManyViews):
			sent.refuse("name", "views.toomany")
		default:
			return err
		}
	}
	return s.showList(w, r, http.StatusUnprocessableEntity, sent)
}
