package console

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"time"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/digest"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

//go:embed templates
var templateFiles embed.FS

// policy is the Content-Security-Policy of every page: nothing from elsewhere, nothing
// inline, no page of another site around it.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// maxTemplates is for how many languages with their time zones parsed templates are kept:
// most marketplaces use two or three.
const maxTemplates = 16

// templatesOf returns the templates that write as a language does. They are parsed when they are
// needed first.
func (s *site) templatesOf(l language) func() *template.Template {
	return sync.OnceValue(func() *template.Template {
		all := template.New("")
		return template.Must(all.Funcs(s.functions(l, all)).ParseFS(templateFiles, "templates/*.html"))
	})
}

// functions returns the functions that templates call, which are all.
func (s *site) functions(l language, all *template.Template) template.FuncMap {
	passkeys := "" // the address that they are for; empty: there are none
	if s.passkeys != nil {
		passkeys = s.passkeys.Origin
	}
	return template.FuncMap{
		"part": func(name string, page *layout) (template.HTML, error) { // what a template writes, by its name
			var part strings.Builder
			err := all.ExecuteTemplate(&part, name, page)
			return template.HTML(part.String()), err
		},
		"t": l.text, "count": l.count, "number": l.number, "money": l.money, "size": l.size,
		"clock": l.clock, "inBrowser": l.inBrowser, "day": l.day, "dayOf": l.dayOf, "dayMonth": l.dayMonth, "left": l.left,
		"state":   func(state order.State) string { return l.text("state." + state.String()) },
		"host":    hostOf,
		"path":    func(path string) string { return s.root + path },
		"order":   func(reference string) string { return s.root + orderPath(reference) },
		"orderIn": func(reference, view string) string { return s.root + orderIn(reference, view) },
		"asset":   s.assetPath,
		"webURL":  webURL, "segment": url.PathEscape,
		"key":   newKey,
		"field": newField, "zone": s.newZoneView, "zoneGroups": zoneGroups, "called": called, "required": required, "requests": l.requests, "request": l.request, "subjectToken": subjectToken, "importForm": newImportForm, "correctionFields": correctionFields, "merchantDataFields": merchantDataFields,
		"mails": always(s.Digests != nil), "identity": always(s.Identity != nil), "passkeys": always(passkeys), "operatorsOnly": always(s.Audience == Operators), "deadlineWarnings": always(s.DeadlineWarnings),

		// What people choose from, and limits.
		"states": order.States, "reasons": always(order.Reasons), "usualReasons": always(usualReasons), "invoiceKinds": always(order.InvoiceKinds), "eraseFields": always([]string{"email", "reference", "files"}),
		"tokenStates": always([]string{"active", "expired", "revoked"}), "overlaps": always(overlaps), "webhookStates": always(webhook.StateNames), "webhookTypes": always(webhook.TypeNames),
		"languages": always(languages), "intervals": always(digest.Intervals), "queueSizes": always(queueSizes),
		"maxSize": always(int64(order.MaxInvoiceSize)), "maxForm": always(maxUploadForm), "maxFiles": always(maxInvoiceFiles), "maxPaper": always(int64(maxPaper)),

		"address": newAddressView, "recipient": recipient, "qr": newQR, "sameAddress": sameAddress, "onDelivery": onDelivery, "notSent": notSent, "total": total, "box": newBox, "codes": codes, "reason": l.reason, "attributes": attributes, "carrier": l.carrierFields, "payment": l.payment, "otherCharges": otherCharges,
		"minus": func(amount int64) int64 { return -amount }, "minutes": func(d time.Duration) int64 { return int64(d / time.Minute) },
		"invoice": l.invoiceFields, "article39": l.article39Fields, "event": l.event,
	}
}

// always returns a function for a value that is the same on every page.
func always[T any](value T) func() T { return func() T { return value } }

// total returns how many elements a list has; nil has none.
func total(list any) int64 { return int64(reflect.ValueOf(list).Len()) }

// box is a box that selects an order, by its reference, or those of all pages, by their number.
type box struct {
	Of      any
	Checked bool
}

func newBox(of any, checked bool) box { return box{of, checked} }

// webURL returns an address that a link may lead to, empty for everything but http and
// https.
func webURL(text string) string {
	target, err := url.Parse(text)
	if err != nil || target.Scheme != "http" && target.Scheme != "https" || target.Host == "" {
		return ""
	}
	return target.String()
}

// layout is the data of a whole page.
type layout struct {
	Language      string
	Other         string // the language that the switch leads to
	Template      string
	Back          string // path of the page below the root, for the switch
	Session       *token.Session
	Operator      bool   // the session is an operator's
	Refused       bool   // the form that led to the page is refused: its title says so
	Section       string // of the operator's pages
	Searched      string // the text in the search of the header
	SearchRefused bool   // the page says what is wrong with it
	Scopes        order.Scope
	Stores        map[int64]string // names of the stores of the operator's pages
	Zone          *time.Location   // that of the store; nil: there is none
	Page          any

	// Live: a script keeps the page of a store current, from the event with the number After.
	// Order is the reference of the order that the page is about; empty: of many.
	Live    bool
	StoreID int64
	After   int64
	Order   string
	// New and ToShip are the numbers of orders in the two queues.
	New, ToShip int64
}

// signIn makes the layout that of somebody who is signed in.
func (l *layout) signIn(session *token.Session, scopes order.Scope, operator bool, path string) {
	l.Session, l.Scopes, l.Operator, l.Section = session, scopes, operator, sectionOf(path)
}

// Can reports whether the session has a scope, by its name.
func (l layout) Can(name string) bool {
	scope, err := order.ParseScopes([]string{name}, order.ScopesOf(l.Operator))
	return err == nil && l.Scopes.Has(scope)
}

// Came returns the key of the title of the view that led to the order that the page is about;
// empty: it is about none.
func (l layout) Came() string {
	if view, ok := l.Page.(*orderView); ok {
		return view.Came()
	}
	return ""
}

// Staff reports whether a merchant's staff, who may see orders, are signed in.
func (l layout) Staff() bool { return l.Session != nil && !l.Operator && l.Can("orders:read") }

// render sends a page to somebody who need not be signed in.
func (s *site) render(w http.ResponseWriter, r *web.Request, status int, name string, page any) error {
	return s.send(w, r.Request, status, layout{Template: name, Page: page})
}

// show sends a page to somebody who is signed in.
func (s *site) show(w http.ResponseWriter, r *web.Request, status int, name string, page any) error {
	var stores map[int64]string
	if of, ok := page.(interface{ stores() []int64 }); ok && r.Caller.Operator() {
		var err error
		if stores, err = s.storeNames(r.Context(), of.stores()); err != nil {
			return err
		}
	}
	l := layout{
		Stores:   stores,
		Zone:     s.zoneOf(r),
		Template: name, Page: page,
		// A form that came back is not replaced under the person's hands.
		Live: (r.Method == http.MethodGet || status == http.StatusOK) && !r.Caller.Operator(), StoreID: r.Caller.MerchantID, After: r.DataVersion.Event, Order: r.PathValue("reference"),
	}
	if view, ok := page.(searched); ok {
		l.Searched, l.SearchRefused = view.searchText()
	}
	l.signIn(&r.Session, r.Caller.Scopes, r.Caller.Operator(), r.URL.Path)
	if l.Staff() {
		var err error
		if l.New, l.ToShip, err = s.queues(r); err != nil {
			return err
		}
	}
	return s.send(w, r.Request, status, l)
}

// send renders a whole page before it sends anything: after an error another page can
// still be sent.
func (s *site) send(w http.ResponseWriter, r *http.Request, status int, l layout) error {
	l.Refused = status >= http.StatusBadRequest
	page, err := s.page(r, l)
	if err != nil {
		return err
	}
	page.Write(w, status)
	return nil
}

func (s *site) page(r *http.Request, l layout) (web.Page, error) {
	language := languageOf(r)
	language.zone, l.Language = l.Zone, language.code
	l.Other = languages[0]
	if l.Language == l.Other {
		l.Other = languages[1]
	}
	l.Back = r.URL.RequestURI()
	if r.Method == http.MethodPost {
		l.Back = r.URL.EscapedPath() // see formPages
	}
	if strings.HasPrefix(l.Back, Prefix+"/login") || strings.HasPrefix(l.Back, Prefix+mailConfirm) || strings.HasPrefix(l.Back, Prefix+mailEnd) || strings.HasPrefix(l.Back, Prefix+identityPath) {
		l.Back = "/"
	}
	var body bytes.Buffer
	name := "layout"
	if l.Template == "find" { // a part of a page
		name = "find.html"
	}
	if err := s.templates.Get(language)().ExecuteTemplate(&body, name, &l); err != nil {
		return web.Page{}, err
	}
	header := http.Header{}
	header.Set("Content-Language", l.Language)
	header.Set("Content-Security-Policy", policy)
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Vary", "Accept-Encoding, Accept-Language, Cookie")
	return web.Page{ContentType: "text/html; charset=utf-8", Header: header, Body: body.Bytes()}, nil
}

// errorView is the data of an error page.
type errorView struct {
	Title, Text string // keys of messages
	Form        bool   // a form failed that may be sent again as it is
}

// errorKinds are the parts of the keys of the messages for errors, by their status.
var errorKinds = map[int]string{
	http.StatusBadRequest: "request", http.StatusUnprocessableEntity: "request", http.StatusForbidden: "forbidden", http.StatusNotFound: "notfound",
	http.StatusMethodNotAllowed: "method", http.StatusConflict: "running", http.StatusTooManyRequests: "busy", http.StatusServiceUnavailable: "unavailable",
}

// encodeError is the ErrorEncoder of the pages.
func (s *site) encodeError(r *http.Request, err error) (int, any) {
	if late, ok := errors.AsType[*lateForm](err); ok {
		page, err := s.page(r, layout{Template: "signin", Page: late.view, Refused: true})
		if err == nil {
			return http.StatusForbidden, page
		}
	}
	status := web.Status(err)
	if errors.Is(err, order.ErrNotFound) || errors.Is(err, order.ErrInvoiceNotFound) || errors.Is(err, order.ErrMerchantNotFound) || errors.Is(err, delivery.ErrNotFound) || errors.Is(err, token.ErrUnknown) {
		status = http.StatusNotFound
	}
	kind := cmp.Or(errorKinds[status], "internal")
	if errors.Is(err, web.ErrSuspended) {
		kind = "suspended"
	}
	problem, unselected := errors.AsType[selectionProblem](err)
	if unselected {
		status, kind = http.StatusUnprocessableEntity, "request"
	}
	view := errorView{Title: "error." + kind + ".title", Text: "error." + kind + ".text"}
	view.Form = r.Method == http.MethodPost && (status >= http.StatusInternalServerError || status == http.StatusTooManyRequests)
	if kind == "notfound" && sectionOf(r.URL.Path) != "" {
		view.Text = "error.notfound.operator"
	}
	if unselected {
		view.Text = string(problem)
	}
	l := layout{Template: "error", Page: view}
	// A page about a database that is overloaded or out of reach does not ask it.
	if cookie, err := r.Cookie(s.sessionName(r)); err == nil && status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
		if session, grant, err := s.Sessions.Look(r.Context(), cookie.Value, s.Proxies.Client(r)); err == nil && s.notServed(grant.Operator()) == "" {
			l.signIn(&session, grant.Scopes, grant.Operator(), r.URL.Path)
		}
	}
	page, err := s.page(r, l)
	if err != nil {
		return http.StatusInternalServerError, web.MessageBody{Message: http.StatusText(http.StatusInternalServerError)}
	}
	return status, page
}
