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
	Form   formView
	Ask    bool           // the question, else the form
	Erased *order.Erasure // what was erased; nil: nothing yet
	Again  bool           // the form was sent before: everything is erased already
}

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
	target := readEraseTarget(form)
	if form.valid() && target.Email == "" {
		_, err := s.Orders.Get(r.Context(), target.MerchantID, order.ByReference(target.Reference))
		if errors.Is(err, order.ErrNotFound) {
			form.refuse("reference", "erase.notfound")
		} else if err != nil {
			return err
		}
	}
	if !form.valid() {
		return s.show(w, r, http.StatusUnprocessableEntity, "erase", eraseView{Form: form})
	}
	return s.show(w, r, http.StatusOK, "erase", eraseView{Form: form, Ask: true})
}

// readEraseTarget reads what to erase from a form: the orders of an e-mail address, or
// one order. It refuses what is wrong.
func readEraseTarget(form formView) order.EraseTarget {
	target := order.EraseTarget{
		Email: strings.TrimSpace(form.Value("email")), Reference: strings.TrimSpace(form.Value("reference")), Files: form.Value("files") != "",
	}
	merchant := strings.TrimSpace(form.Value("merchant"))
	if target.Email != "" {
		if target.Reference != "" || merchant != "" {
			form.refuse("email", "erase.either")
		} else if !strings.Contains(target.Email, "@") || !isLine(target.Email) {
			form.refuse("email", "erase.email.wrong")
		}
		return target
	}
	if target.Reference == "" && merchant == "" {
		form.refuse("email", "erase.either")
		return target
	}
	var ok bool
	if target.MerchantID, ok = order.ParseID(merchant); !ok || target.MerchantID == 0 {
		form.refuse("merchant", "problem.id")
	}
	if !order.ValidReference(target.Reference) {
		form.refuse("reference", "problem.reference")
	}
	return target
}

// erase serves POST /operator/customers/erase.
func (s *site) erase(w http.ResponseWriter, r *web.Request, values url.Values) error {
	form := newForm(values)
	target := readEraseTarget(form)
	if !form.valid() {
		return s.show(w, r, http.StatusUnprocessableEntity, "erase", eraseView{Form: form})
	}
	erased, err := s.Retention.Erase(r.Context(), r.Caller, target, web.FormOptions[order.Erasure](r))
	switch {
	case errors.As(err, new(*order.ReplayError)):
		return s.show(w, r, http.StatusOK, "erase", eraseView{Form: newForm(nil), Again: true})
	case errors.Is(err, order.ErrInvalidEmail):
		form.refuse("email", "erase.email.wrong")
	case errors.Is(err, order.ErrNotFound) && target.Email != "":
		form.refuse("email", "erase.email.notfound")
	case errors.Is(err, order.ErrNotFound):
		form.refuse("reference", "erase.notfound")
	case err != nil:
		return err
	default:
		if !erased.More {
			form = newForm(url.Values{})
		}
		return s.show(w, r, http.StatusOK, "erase", eraseView{Form: form, Erased: &erased, Ask: erased.More})
	}
	return s.show(w, r, http.StatusUnprocessableEntity, "erase", eraseView{Form: form})
}
