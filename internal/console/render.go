package console

import (
	"embed"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/pagetemplate"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
	"merchantorders/internal/webhook"
)

//go:embed templates
var templateFiles embed.FS

// templates are the templates of one language. Append appends the output of one of them.
type templates interface {
	Append(buffer []byte, name string, data any) ([]byte, error)
}

// compile makes templates of a parsed set. Tests replace it to compare the pages with
// those of html/template.
var compile = func(set *template.Template, functions pagetemplate.Functions, names ...string) (templates, error) {
	return pagetemplate.Compile(set, functions, names...)
}

// policy is the Content-Security-Policy of every page: nothing from elsewhere, nothing
// inline, no page of another site around it.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// parseTemplates returns the templates by language. Those of a language are made when
// its first page is requested, in about 20 ms.
func (s *site) parseTemplates() map[string]func() templates {
	all := make(map[string]func() templates)
	for _, code := range languages {
		all[code] = sync.OnceValue(func() templates {
			parsed, err := s.parse(language{code})
			if err != nil {
				panic(err) // the templates are embedded
			}
			return parsed
		})
	}
	return all
}

// functions returns the functions that templates call.
func (s *site) functions(l language) pagetemplate.Functions {
	names := func(names ...string) pagetemplate.Function {
		return pagetemplate.Func(func() []string { return names })
	}
	return pagetemplate.Functions{
		"t": pagetemplate.FuncText(l.text), "count": pagetemplate.Func2(l.count),
		"number": pagetemplate.Func1(l.number), "money": pagetemplate.Func2(l.money), "size": pagetemplate.Func1(l.size),
		"time": pagetemplate.Func1(l.time), "day": pagetemplate.Func1(l.day), "dayMonth": pagetemplate.Func1(l.dayMonth), "left": pagetemplate.Func1(l.left),
		"known": pagetemplate.Func1(func(t time.Time) bool { return !t.IsZero() }),
		"badge": pagetemplate.Func1(l.badges()), "person": pagetemplate.Func1(person), "bars": pagetemplate.Func1(bars), "orderLink": pagetemplate.Func1(s.orderLink),
		"state":   pagetemplate.Func1(func(state order.State) string { return l.text("state." + state.String()) }),
		"path":    pagetemplate.Func1(func(path string) string { return s.root + path }),
		"order":   pagetemplate.Func1(func(reference string) string { return s.root + orderPath(reference) }),
		"asset":   pagetemplate.Func1(s.assetPath),
		"webURL":  pagetemplate.Func1(webURL),
		"segment": pagetemplate.Func1(url.PathEscape),
		"key":     pagetemplate.Func(newKey), "maxSize": pagetemplate.Func(func() int64 { return order.MaxInvoiceSize }),
		"field": pagetemplate.Func(newField), "required": pagetemplate.Func1(required), "entries": pagetemplate.Func2(newEntriesView), "importForm": pagetemplate.Func(newImportForm), "correctionFields": pagetemplate.Func(correctionFields),
		"webhookStates": names("failed", "active", "disabled"),
		"eraseFields":   names("email", "merchant", "reference", "files"),
		"tokenStates":   names("active", "expired", "revoked"),

		"address": pagetemplate.Func2(newAddressView), "codes": pagetemplate.Func1(codes), "carrier": pagetemplate.Func1(l.carrierFields),
		"invoice": pagetemplate.Func1(l.invoiceFields), "article39": pagetemplate.Func1(l.article39Fields), "event": pagetemplate.Func2(l.event),
	}
}

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
	Language string
	Other    string // the language that the switch leads to
	Template string
	Back     string // path of the page below the root, for the switch
	Session  *token.Session
	Operator bool   // the session is an operator's
	Section  string // of the operator's pages
	Scopes   order.Scope
	Page     any

	// Live: a script keeps the page current, from the event with the number After.
	// Order is the reference of the order that the page is about; empty: of many.
	Live  bool
	After int64
	Order string
}

// Can reports whether the session has a scope, by its name.
func (l layout) Can(name string) bool {
	scope, err := order.ParseScopes([]string{name}, order.ScopesOf(l.Operator))
	return err == nil && l.Scopes.Has(scope)
}

// render sends a page to somebody who need not be signed in.
func (s *site) render(w http.ResponseWriter, r *http.Request, status int, name string, page any) error {
	return s.send(w, r, status, layout{Template: name, Page: page})
}

// show sends a page to somebody who is signed in.
func (s *site) show(w http.ResponseWriter, r *request, status int, name string, page any) error {
	return s.send(w, r.Request, status, layout{
		Template: name, Page: page, Session: &r.session, Scopes: r.grant.Scopes, Operator: r.grant.Operator(), Section: sectionOf(r.URL.Path),
		// A form that came back is not replaced under the person's hands.
		Live: r.Method == http.MethodGet && !r.grant.Operator(), After: r.grant.DataVersion.Event, Order: r.PathValue("reference"),
	})
}

// send renders a whole page before it sends anything: after an error another page can
// still be sent.
func (s *site) send(w http.ResponseWriter, r *http.Request, status int, l layout) error {
	page, err := s.page(r, l)
	if err != nil {
		return err
	}
	page.Write(w, status)
	return nil
}

func (s *site) page(r *http.Request, l layout) (web.Page, error) {
	l.Language = languageOf(r).code
	l.Other = languages[0]
	if l.Language == l.Other {
		l.Other = languages[1]
	}
	l.Back = r.URL.RequestURI()
	if r.Method == http.MethodPost {
		l.Back = r.URL.EscapedPath() // see formPages
	}
	if strings.HasPrefix(l.Back, Prefix+"/login") {
		l.Back = "/"
	}
	body, err := s.templates[l.Language]().Append(nil, l.Template+".html", &l)
	if err != nil {
		return web.Page{}, err
	}
	header := http.Header{}
	header.Set("Content-Language", l.Language)
	header.Set("Content-Security-Policy", policy)
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Vary", "Accept-Language, Cookie")
	return web.Page{ContentType: "text/html; charset=utf-8", Header: header, Body: body}, nil
}

// errorView is the data of an error page.
type errorView struct {
	Title, Text string // keys of messages
}

// encodeError is the ErrorEncoder of the pages.
func (s *site) encodeError(r *http.Request, err error) (int, any) {
	status := web.Status(err)
	if errors.Is(err, order.ErrNotFound) || errors.Is(err, order.ErrInvoiceNotFound) || errors.Is(err, order.ErrMerchantNotFound) || errors.Is(err, webhook.ErrNotFound) || errors.Is(err, token.ErrUnknown) {
		status = http.StatusNotFound
	}
	kind := "internal"
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		kind = "request"
	case http.StatusForbidden:
		kind = "forbidden"
	case http.StatusNotFound:
		kind = "notfound"
	case http.StatusMethodNotAllowed:
		kind = "method"
	case http.StatusConflict:
		kind = "running"
	case http.StatusTooManyRequests:
		kind = "busy"
	case http.StatusServiceUnavailable:
		kind = "unavailable"
	}
	if errors.Is(err, web.ErrSuspended) {
		kind = "suspended"
	}
	page, err := s.page(r, layout{Template: "error", Page: errorView{Title: "error." + kind + ".title", Text: "error." + kind + ".text"}})
	if err != nil {
		return http.StatusInternalServerError, web.MessageBody{Message: http.StatusText(http.StatusInternalServerError)}
	}
	return status, page
}
