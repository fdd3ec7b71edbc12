package console

import (
	_ "embed"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
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
	Form   formView
	Notice string // key of a message; empty: none
}

// store serves GET /store.
func (s *site) store(w http.ResponseWriter, r *web.Request) error {
	m, err := s.Merchants.Get(r.Context(), r.Caller.MerchantID)
	if err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, "store", storeSettings{Notice: noticeOf(r, "store"), Form: newForm(url.Values{
		"zone": {m.TimeZone}, "slipName": {m.Slip.Name}, "returnAddress": {m.Slip.ReturnAddress}, "trackingLink": {m.Slip.TrackingLink},
	})})
}

// changeStore serves POST /store.
func (s *site) changeStore(w http.ResponseWriter, r *web.Request, values url.Values) error {
	form := newForm(values)
	update := readTimeZone(form)
	update.Slip = readSlip(form)
	if !form.valid() {
		return s.show(w, r, http.StatusUnprocessableEntity, "store", storeSettings{Form: form})
	}
	_, err := s.Merchants.Update(r.Context(), r.Caller, r.Caller.MerchantID, update, web.FormOptions[order.Merchant](r))
	if err := replayed(err); err != nil {
		return err
	}
	return s.redirect(w, r, Prefix+"/store?done=saved")
}

// readTimeZone reads the time zone of a store from a form and refuses an unknown one.
func readTimeZone(form formView) order.MerchantUpdate {
	name := strings.TrimSpace(form.Value("zone"))
	if name != "" && order.TimeZoneProblem(name) != "" {
		form.refuse("zone", "problem.zone")
	}
	return order.MerchantUpdate{TimeZone: &name}
}

// codeInLink stands for the tracking code in the link of a store.
const codeInLink = "{code}"

// readSlip reads what a store's packing slips say of it, and refuses what is wrong.
func readSlip(form formView) *order.Slip {
	value := func(name string) string { return strings.TrimSpace(form.Value(name)) }
	slip := &order.Slip{Name: value("slipName"), ReturnAddress: strings.ReplaceAll(value("returnAddress"), "\r\n", "\n"), TrackingLink: value("trackingLink")}
	if slip.Name != "" && order.MerchantNameProblem(slip.Name) != "" {
		form.refuse("slipName", "problem.line")
	}
	if order.MerchantNoteProblem(slip.ReturnAddress) != "" {
		form.refuse("returnAddress", "own.note.refused")
	}
	if slip.TrackingLink != "" {
		link, err := url.Parse(strings.Replace(slip.TrackingLink, codeInLink, "CODE", 1))
		if err != nil || link.Scheme != "https" || link.Host == "" || strings.Contains(link.Host, "CODE") || link.User != nil ||
			!strings.Contains(slip.TrackingLink, codeInLink) || order.LineProblem(slip.TrackingLink, 500, order.Characters) != "" {
			form.refuse("trackingLink", "store.link.refused")
		}
	}
	return slip
}

// trackingLink returns where a tracking code leads to; empty: nowhere.
func trackingLink(pattern, code string) string {
	if link := webURL(code); link != "" || pattern == "" {
		return link
	}
	return strings.ReplaceAll(pattern, codeInLink, strings.ReplaceAll(url.QueryEscape(code), "+", "%20"))
}

//go:embed timezones.txt
var timeZonesText string

// zoneGroup are the time zones of a part of the world.
type zoneGroup struct {
	Name  string
	Zones []string // without the name of the group
}

// zoneGroups are the time zones that forms offer: those of zone.tab of the IANA database.
var zoneGroups = sync.OnceValue(func() []zoneGroup {
	var groups []zoneGroup
	for line := range strings.Lines(timeZonesText) {
		words := strings.Fields(line)
		groups = append(groups, zoneGroup{words[0], words[1:]})
	}
	return groups
})

// zoneView is the choice of a store's time zone.
type zoneView struct {
	fieldView
	Default string // name of the zone of stores that have chosen none
}

func (s *site) newZoneView(form formView) zoneView {
	return zoneView{newField(form, "zone", "store.zone", ""), s.TimeZone.String()}
}

// Other reports whether the store has a zone that is not in the list, as commands can set.
func (v zoneView) Other() bool {
	group, name, _ := strings.Cut(v.Value, "/")
	return v.Value != "" && !slices.ContainsFunc(zoneGroups(), func(g zoneGroup) bool { return g.Name == group && slices.Contains(g.Zones, name) })
}
