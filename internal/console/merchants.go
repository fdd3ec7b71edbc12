package console

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// merchantsPageSize is how many merchants a page shows.
const merchantsPageSize = 50

// merchantsView is the data of the list of merchants.
type merchantsView struct {
	Filter    formView
	Merchants []order.Merchant
	Next      string   // query of the next page; empty: there is none
	Add       formView // the form that adds one
}

// merchants serves GET /operator/merchants.
func (s *site) merchants(w http.ResponseWriter, r *web.Request) error {
	return s.showMerchants(w, r, http.StatusOK, newForm(nil))
}

func (s *site) showMerchants(w http.ResponseWriter, r *web.Request, status int, add formView) error {
	query := r.URL.Query()
	filter := order.MerchantFilter{NamePrefix: query.Get("name"), Limit: merchantsPageSize + 1}
	filter.After, _ = order.ParseID(query.Get("after"))
	if query.Get("suspended") != "" {
		filter.Suspended = new(true)
	}
	view := merchantsView{Filter: newForm(query), Add: add}
	if !isLine(filter.NamePrefix) {
		view.Filter.refuse("name", "problem.line")
		return s.show(w, r, http.StatusBadRequest, "merchants", view)
	}
	merchants, err := s.Merchants.List(r.Context(), filter)
	if err != nil {
		return err
	}
	view.Merchants, view.Next = cutPage(query, merchants, merchantsPageSize, func(m order.Merchant) int64 { return m.ID })
	return s.show(w, r, status, "merchants", view)
}

// addMerchant serves POST /operator/merchants.
func (s *site) addMerchant(w http.ResponseWriter, r *web.Request, values url.Values) error {
	form := newForm(values)
	id, ok := order.ParseID(values.Get("id"))
	if !ok || id == 0 {
		form.refuse("id", "problem.id")
	}
	checkName(form)
	options := web.FormOptions[order.Merchant](r)
	if form.valid() {
		err := s.Merchants.Add(r.Context(), r.Caller, id, values.Get("name"), options)
		if errors.Is(err, order.ErrMerchantExists) {
			form.refuse("id", "merchants.exists")
		} else if replayed(err) != nil {
			return err
		}
	}
	if !form.valid() {
		return s.showMerchants(w, r, http.StatusUnprocessableEntity, form)
	}
	return s.toMerchant(w, r, id, "added")
}

// checkName refuses a name that no merchant may have.
func checkName(form formView) {
	switch name := form.Value("name"); {
	case name == "":
		form.refuse("name", "problem.required")
	case order.MerchantNameProblem(name) != "":
		form.refuse("name", "problem.line")
	}
}

// merchantView is the data of the page of a merchant.
type merchantView struct {
	Merchant     order.Merchant
	Rename       formView
	Suspend      formView
	TimeZone     formView
	Limit        formView
	Notice       string   // key of a message: what was done; empty: nothing
	Person       formView // for whom a login link is
	LoginLink    string   // URL; empty: none was made
	LoginExpires time.Time
}

// merchant serves GET /operator/merchants/{merchant}.
func (s *site) merchant(w http.ResponseWriter, r *web.Request) error {
	return s.showMerchant(w, r, http.StatusOK, merchantView{Notice: noticeOf(r, "merchant")})
}

// showMerchant sends the page of the merchant in the path. A form that the view does
// not have is a new one.
func (s *site) showMerchant(w http.ResponseWriter, r *web.Request, status int, view merchantView) error {
	var err error
	if view.Merchant, err = s.Merchants.Get(r.Context(), merchantOf(r)); err != nil {
		return err
	}
	limit := view.Merchant.RateLimit
	view.Rename = view.Rename.or(url.Values{"name": {view.Merchant.Name}})
	view.TimeZone = view.TimeZone.or(url.Values{"zone": {view.Merchant.TimeZone}})
	view.Limit = view.Limit.or(url.Values{"requests": {numberOrNone(limit.PerSecond)}, "burst": {numberOrNone(limit.Burst)}})
	view.Suspend, view.Person = view.Suspend.or(nil), view.Person.or(nil)
	return s.show(w, r, status, "merchant", view)
}

// renameMerchant serves POST /operator/merchants/{merchant}/rename.
func (s *site) renameMerchant(w http.ResponseWriter, r *web.Request, values url.Values) error {
	form, name := newForm(values), values.Get("name")
	checkName(form)
	return s.updateMerchant(w, r, form, order.MerchantUpdate{Name: &name}, merchantView{Rename: form}, "renamed")
}

// updateMerchant makes a change that a form asks for, unless something is wrong in it.
func (s *site) updateMerchant(w http.ResponseWriter, r *web.Request, form formView, update order.MerchantUpdate, refused merchantView, done string) error {
	if !form.valid() {
		return s.showMerchant(w, r, http.StatusUnprocessableEntity, refused)
	}
	_, err := s.Merchants.Update(r.Context(), r.Caller, merchantOf(r), update, web.FormOptions[order.Merchant](r))
	return s.merchantChanged(w, r, done, err)
}

// setTimeZone serves POST /operator/merchants/{merchant}/time-zone.
func (s *site) setTimeZone(w http.ResponseWriter, r *web.Request, values url.Values) error {
	form := newForm(values)
	return s.updateMerchant(w, r, form, readTimeZone(form), merchantView{TimeZone: form}, "zone")
}

// numberOrNone formats a number for a field; 0 is none.
func numberOrNone(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// setLimit serves POST /operator/merchants/{merchant}/limit.
func (s *site) setLimit(w http.ResponseWriter, r *web.Request, values url.Values) error {
	form := newForm(values)
	return s.updateMerchant(w, r, form, order.MerchantUpdate{RateLimit: new(readLimit(form))}, merchantView{Limit: form}, "limited")
}

// readLimit reads a request limit. Without requests it is the default of the service.
func readLimit(form formView) (limit order.RateLimit) {
	requests, burst := strings.TrimSpace(form.Value("requests")), strings.TrimSpace(form.Value("burst"))
	number := func(field, text string, maximum int64) int {
		n, problem := strict.ParseInt(text, 1, maximum)
		if problem != "" {
			form.refuse(field, "problem.limit")
		}
		return int(n)
	}
	if requests != "" {
		limit = order.NewRateLimit(number("requests", requests, order.MaxRequestsPerSecond))
	}
	switch {
	case burst != "" && requests == "":
		form.refuse("requests", "problem.required")
	case burst != "":
		limit.Burst = number("burst", burst, order.MaxBurst)
	}
	return limit
}

// suspendMerchant serves POST /operator/merchants/{merchant}/suspend.
func (s *site) suspendMerchant(w http.ResponseWriter, r *web.Request, values url.Values) error {
	form, reason := newForm(values), values.Get("reason")
	switch {
	case reason == "":
		form.refuse("reason", "problem.required")
	case order.SuspensionReasonProblem(reason) != "":
		form.refuse("reason", "problem.line")
	}
	if !form.valid() {
		return s.showMerchant(w, r, http.StatusUnprocessableEntity, merchantView{Suspend: form})
	}
	if values.Get("sure") == "" {
		m, err := s.Merchants.Get(r.Context(), merchantOf(r))
		if err != nil {
			return err
		}
		page := operatorPrefix + "/merchants/" + r.PathValue("merchant")
		return s.show(w, r, http.StatusOK, "ask", question{
			Title: "ask.suspend", Button: "merchants.suspend", Danger: true, Text: "merchants.suspend.help", Subject: joined(" · ", m.Name, reason),
			Path: page + "/suspend", Back: page, Fields: url.Values{"key": values["key"], "reason": {reason}, "sure": {"yes"}},
		})
	}
	options := web.FormOptions[order.Merchant](r)
	_, err := s.Merchants.Suspend(r.Context(), r.Caller, merchantOf(r), reason, options)
	return s.merchantChanged(w, r, "suspended", err)
}

// resumeMerchant serves POST /operator/merchants/{merchant}/resume.
func (s *site) resumeMerchant(w http.ResponseWriter, r *web.Request, values url.Values) error {
	options := web.FormOptions[order.Merchant](r)
	_, err := s.Merchants.Resume(r.Context(), r.Caller, merchantOf(r), options)
	return s.merchantChanged(w, r, "resumed", err)
}

// merchantChanged sends the browser to the page of the merchant in the path after a
// change.
func (s *site) merchantChanged(w http.ResponseWriter, r *web.Request, done string, err error) error {
	if err := replayed(err); err != nil {
		return err
	}
	return s.toMerchant(w, r, merchantOf(r), done)
}

func (s *site) toMerchant(w http.ResponseWriter, r *web.Request, id int64, done string) error {
	return s.redirect(w, r, operatorPrefix+"/merchants/"+strconv.FormatInt(id, 10)+"?done="+done)
}

// makeLoginLink serves POST /operator/merchants/{merchant}/login-link. The page that
// follows shows the link, once.
func (s *site) makeLoginLink(w http.ResponseWriter, r *web.Request, values url.Values) error {
	form := newForm(values)
	request := token.Person{MerchantID: merchantOf(r), Name: strings.TrimSpace(form.Value("person")), Scopes: order.DefaultScopes}
	if token.LabelProblem(request.Name) != "" {
		form.refuse("person", "problem.line")
		return s.showMerchant(w, r, http.StatusUnprocessableEntity, merchantView{Person: form})
	}
	link, err := s.Sessions.NewLoginLink(r.Context(), r.Caller, request, web.FormOptions[token.CreatedLink](r))
	switch {
	case errors.As(err, new(*order.ReplayError)):
		return s.showMerchant(w, r, http.StatusOK, merchantView{Notice: "merchants.linkshown"})
	case err != nil:
		return err
	}
	token.LogLoginLink(s.Log, link.LoginLink, r.LogAttrs()...)
	return s.showMerchant(w, r, http.StatusOK, merchantView{
		LoginLink: link.URL(s.MerchantURL), LoginExpires: link.ExpiresAt,
	})
}
