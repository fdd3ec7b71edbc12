package console

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// zoneOf returns the time zone of the store whose staff send a request; nil for
// operators, who see many stores.
func (s *site) zoneOf(r *web.Request) *time.Location {
	if r.Caller.Operator() {
		return nil
	}
	return zoneOr(r.Session.TimeZone, s.TimeZone)
}

// zoneOr returns the time zone that a store has chosen, or else that of the service.
func zoneOr(chosen string, otherwise *time.Location) *time.Location {
	// The zone may be one that another version of the program has added.
	if zone, err := order.LoadTimeZone(chosen); err == nil {
		return zone
	}
	return otherwise
}

// storeSettings is the data of the page of the store's settings.
type storeSettings struct {
	Form    formView
	Default string // name of the time zone of stores that have chosen none
	Notice  string // key of a message; empty: none
}

// store serves GET /store.
func (s *site) store(w http.ResponseWriter, r *web.Request) error {
	view := storeSettings{Form: newForm(url.Values{"zone": {r.Session.TimeZone}})}
	if r.URL.Query().Get("done") == "saved" {
		view.Notice = "store.saved"
	}
	return s.showStore(w, r, http.StatusOK, view)
}

func (s *site) showStore(w http.ResponseWriter, r *web.Request, status int, view storeSettings) error {
	view.Default = s.TimeZone.String()
	return s.show(w, r, status, "store", view)
}

// changeStore serves POST /store.
func (s *site) changeStore(w http.ResponseWriter, r *web.Request, values url.Values) error {
	form := newForm(values)
	update := readTimeZone(form)
	if !form.valid() {
		return s.showStore(w, r, http.StatusUnprocessableEntity, storeSettings{Form: form})
	}
	_, err := s.Merchants.Update(r.Context(), r.Caller, r.Caller.MerchantID, update, web.FormOptions[order.Merchant](r))
	if err := replayed(err); err != nil {
		return err
	}
	http.Redirect(w, r.Request, s.root+Prefix+"/store?done=saved", http.StatusSeeOther)
	return nil
}

// readTimeZone reads the time zone of a store from a form and refuses an unknown one.
func readTimeZone(form formView) order.MerchantUpdate {
	name := strings.TrimSpace(form.Value("zone"))
	if name != "" && order.TimeZoneProblem(name) != "" {
		form.refuse("zone", "problem.zone")
	}
	return order.MerchantUpdate{TimeZone: &name}
}
