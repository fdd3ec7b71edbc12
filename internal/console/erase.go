package console

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// eraseView is the data of the pages that erase personal data. What is to be erased is
// never part of an address: addresses are logged.
type eraseView struct {
	Form     formView
	Store    int64           // of the order; 0: none
	Affected *order.Affected // the question about them; nil: the form
	Erased   *order.Erasure  // what was erased; nil: nothing yet
	Again    bool            // the form was sent before: everything is erased already
}

func (v eraseView) stores() []int64 { return []int64{v.Store} }

// erasePage serves GET /operator/customers.
func (s *site) erasePage(w http.ResponseWriter, r *web.Request) error {
	return s.show(w, r, http.StatusOK, "erase", eraseView{Form: newForm(nil)})
}

// askErase serves POST /operator/customers: the question before an erasure.
func (s *site) askErase(w http.ResponseWriter, r *web.Request) error {
	values, err := web.ReadForm(r, web.MaxBody)
	if err != nil {
		return err
	}
	form := newForm(values)
	target, err := s.readEraseTarget(r, form)
	if err != nil {
		return err
	}
	if !form.valid() {
		return s.show(w, r, http.StatusUnprocessableEntity, "erase", eraseView{Form: form})
	}
	return s.showEraseQuestion(w, r, target, eraseView{Form: form})
}

// showEraseQuestion sends the question before an erasure, with what it concerns.
func (s *site) showEraseQuestion(w http.ResponseWriter, r *web.Request, target order.EraseTarget, view eraseView) error {
	view.Store = target.MerchantID
	affected, err := s.Retention.Affected(r.Context(), target)
	if err != nil {
		return s.refuseErasure(w, r, target, view, err)
	}
	view.Affected = &affected
	return s.show(w, r, http.StatusOK, "erase", view)
}

// refuseErasure sends the form with what is wrong with its target, or returns an error that
// is about something else.
func (s *site) refuseErasure(w http.ResponseWriter, r *web.Request, target order.EraseTarget, view eraseView, err error) error {
	switch {
	case errors.Is(err, order.ErrInvalidEmail):
		view.Form.refuse("email", "erase.email.wrong")
	case errors.Is(err, order.ErrNotFound) && target.Email != "":
		view.Form.refuse("email", "erase.email.notfound")
	case errors.Is(err, order.ErrNotFound):
		view.Form.refuse("reference", "erase.notfound")
	default:
		return err
	}
	return s.show(w, r, http.StatusUnprocessableEntity, "erase", view)
}

// readEraseTarget reads what to erase from a form: the orders of an e-mail address, or
// one order. It refuses what is wrong.
func (s *site) readEraseTarget(r *web.Request, form formView) (target order.EraseTarget, err error) {
	target = order.EraseTarget{
		Email: strings.TrimSpace(form.Value("email")), Reference: strings.TrimSpace(form.Value("reference")), Files: form.Value("files") != "",
	}
	merchant := strings.TrimSpace(form.Value("merchant"))
	if target.Email != "" {
		if target.Reference != "" || merchant != "" {
			form.refuse("email", "erase.either")
		} else if !strings.Contains(target.Email, "@") || !isLine(target.Email) {
			form.refuse("email", "erase.email.wrong")
		}
		return target, nil
	}
	if target.Reference == "" && merchant == "" {
		form.refuse("email", "erase.either")
		return target, nil
	}
	if merchant == "" {
		form.refuse("merchant", "problem.required")
	}
	target.MerchantID, err = s.readStore(r, form)
	if !order.ValidReference(target.Reference) {
		form.refuse("reference", "problem.reference")
	}
	return target, err
}

// erase serves POST /operator/customers/erase.
func (s *site) erase(w http.ResponseWriter, r *web.Request, values url.Values) error {
	form := newForm(values)
	target, err := s.readEraseTarget(r, form)
	if err != nil {
		return err
	}
	if !form.valid() {
		return s.show(w, r, http.StatusUnprocessableEntity, "erase", eraseView{Form: form})
	}
	erased, err := s.Retention.Erase(r.Context(), r.Caller, target, web.FormOptions[order.Erasure](r))
	switch {
	case errors.As(err, new(*order.ReplayError)):
		return s.show(w, r, http.StatusOK, "erase", eraseView{Form: newForm(nil), Again: true})
	case err != nil:
		return s.refuseErasure(w, r, target, eraseView{Form: form}, err)
	case erased.More:
		return s.showEraseQuestion(w, r, target, eraseView{Form: form, Erased: &erased})
	}
	return s.show(w, r, http.StatusOK, "erase", eraseView{Form: newForm(nil), Erased: &erased})
}
