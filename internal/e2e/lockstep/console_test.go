package lockstep

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/ingest/ingesttest"
)

// browser is the browser of a person at the console.
type browser struct {
	cookies map[string]string
	path    string // of the page that it shows
	forms   []form
	links   []string
}

// form is a form of a page.
type form struct {
	id, method, action, kind string
	controls                 []control
	buttons                  []control
}

// control is a field or a button of a form.
type control struct {
	kind       string // the type of an input, or the element's name
	name       string
	value      string
	options    []string // of a select
	attributes map[string]string
}

var (
	tagForm       = regexp.MustCompile(`<(/?)(form|input|select|option|textarea|button|a)\b((?:\s+[a-z-]+(?:="[^"]*")?)*)\s*>\n?([^<]*)`)
	attributeForm = regexp.MustCompile(`([a-z-]+)(?:="([^"]*)")?`)
)

// show takes the forms and links of a page.
func (b *browser) show(path, page string) {
	*b = browser{cookies: b.cookies, path: path}
	var current *form
	var elsewhere []control // of forms with an id
	add := func(c control) {
		switch {
		case c.attributes["form"] != "":
			elsewhere = append(elsewhere, c)
		case current != nil:
			current.add(c)
		}
	}
	var selecting control
	for _, tag := range tagForm.FindAllStringSubmatch(page, -1) {
		a := map[string]string{}
		for _, found := range attributeForm.FindAllStringSubmatch(tag[3], -1) {
			a[found[1]] = html.UnescapeString(found[2])
		}
		c := control{kind: tag[2], name: a["name"], value: a["value"], attributes: a}
		switch tag[1] + tag[2] {
		case "form":
			b.forms = append(b.forms, form{id: a["id"], method: strings.ToUpper(a["method"]), action: a["action"], kind: a["enctype"]})
			current = &b.forms[len(b.forms)-1]
		case "/form":
			current = nil
		case "input":
			c.kind = a["type"]
			add(c)
		case "textarea":
			c.value = html.UnescapeString(tag[4])
			add(c)
		case "button":
			add(c)
		case "select":
			selecting = c
		case "option":
			if _, chosen := a["selected"]; chosen || len(selecting.options) == 0 {
				selecting.value = a["value"]
			}
			selecting.options = append(selecting.options, a["value"])
		case "/select":
			add(selecting)
		case "a":
			if strings.HasPrefix(a["href"], "/console") && !slices.Contains(b.links, a["href"]) {
				b.links = append(b.links, a["href"])
			}
		}
	}
	for _, c := range elsewhere {
		for i := range b.forms {
			if b.forms[i].id == c.attributes["form"] {
				b.forms[i].add(c)
			}
		}
	}
}

func (f *form) add(c control) {
	if c.kind == "button" {
		f.buttons = append(f.buttons, c)
	} else if c.name != "" {
		f.controls = append(f.controls, c)
	}
}

// maxRedirects is how many redirects a browser follows.
const maxRedirects = 5

// browse sends a request of a browser and follows redirects.
func (s *sequence) browse(b *browser, r request) {
	path := r.path
	for range maxRedirects {
		r.header = append(r.header, "Sec-Fetch-Site", "same-origin", "Accept-Language", "el")
		var cookies []string
		for _, name := range slices.Sorted(maps.Keys(b.cookies)) {
			cookies = append(cookies, name+"="+b.cookies[name])
		}
		if len(cookies) > 0 {
			r.header = append(r.header, "Cookie", strings.Join(cookies, "; "))
		}
		a := s.both(r)
		for _, cookie := range a.header["Set-Cookie"] {
			pair, _, _ := strings.Cut(cookie, ";")
			name, value, _ := strings.Cut(pair, "=")
			if b.cookies == nil {
				b.cookies = map[string]string{}
			}
			b.cookies[name] = value
			if value == "" {
				delete(b.cookies, name)
			}
		}
		if a.status != http.StatusSeeOther {
			b.show(path, a.body)
			return
		}
		path = strings.TrimPrefix(a.header.Get("Location"), baseURL)
		r = request{method: http.MethodGet, path: path}
	}
	s.Fatal("redirects without end")
}

// browser returns a browser of a merchant's staff or of operators. It signs in first if
// that is not done.
func (s *sequence) browser() *browser {
	i := pick(s, "browser", 0, 1)
	b := &s.browsers[i]
	if len(b.cookies) == 0 {
		s.browse(b, request{method: http.MethodPost, path: "/", body: "next=%2Fconsole&token=" + []string{tokenOf355, tokenOfOperator}[i],
			header: []string{"Content-Type", "application/x-www-form-urlencoded"}})
	}
	return b
}

func init() {
	for name, step := range map[string]func(*sequence){
		"open a page": func(s *sequence) {
			b := s.browser()
			reference := apptest.Sample(s.order()).Reference()
			page := pick(s, "page", "/orders/"+reference, "", "/new", "/orders", "/orders?q=buyer1", "/orders.ndjson", "/orders.xlsx", "/webhooks", "/webhooks/1", "/people", "/tokens",
				"/store", "/mail", "/invoices?order="+reference, "/print?order="+reference, "/orders/"+reference+"/withdraw/1")
			if b == &s.browsers[1] {
				page = "/operator" + pick(s, "operators' page", fmt.Sprint("/orders/355/", reference), "", "/imports", "/merchants", "/merchants/355", "/tokens", "/tokens/people",
					"/orders?q=SF", "/webhooks", "/webhooks/355/1", "/webhooks/0/2", "/customers", "/audit")
			}
			s.browse(b, request{method: http.MethodGet, path: "/console" + page})
		},
		"open a link of an e-mail": func(s *sequence) {
			if len(s.mailed) == 0 {
				s.Skip("none")
			}
			s.browse(s.browser(), request{method: http.MethodGet, path: pick(s, "link", s.mailed...)})
		},
		"follow a link": func(s *sequence) {
			b := s.browser()
			if len(b.links) == 0 {
				s.Skip("none")
			}
			s.browse(b, request{method: http.MethodGet, path: pick(s, "link", b.links...)})
		},
		"send a form": func(s *sequence) {
			b := s.browser()
			if len(b.forms) == 0 {
				s.Skip("none")
			}
			s.browse(b, s.fill(b, pick(s, "form", b.forms...)))
		},
	} {
		steps["console: "+name] = step
	}
}

// fill fills in a form.
func (s *sequence) fill(b *browser, f form) request {
	r := request{method: f.method, path: cmp.Or(f.action, b.path)}
	fields, files := s.fields(f)
	if len(f.buttons) > 0 {
		button := pick(s, "button", f.buttons...)
		if button.name != "" {
			fields = append(fields, [2]string{button.name, button.value})
		}
		r.path = cmp.Or(button.attributes["formaction"], r.path)
		r.method = cmp.Or(strings.ToUpper(button.attributes["formmethod"]), r.method)
	}
	if f.kind == "multipart/form-data" {
		return s.multipart(r, fields, files)
	}
	values := url.Values{}
	for _, field := range fields {
		values.Add(field[0], field[1])
	}
	if r.method != http.MethodPost {
		path, _, _ := strings.Cut(r.path, "?")
		return request{method: http.MethodGet, path: path + "?" + encode(values)}
	}
	r.body, r.header = encode(values), []string{"Content-Type", "application/x-www-form-urlencoded"}
	return r
}

// fields returns the names and values that a form sends, and the names of its files.
func (s *sequence) fields(f form) (fields [][2]string, files []string) {
	for _, c := range f.controls {
		value := c.value
		switch c.kind {
		case "hidden":
		case "checkbox", "radio":
			if _, checked := c.attributes["checked"]; !pick(s, c.name, checked, !checked) {
				continue
			}
		case "select":
			value = pick(s, c.name, append([]string{value}, c.options...)...)
		case "file":
			if pick(s, c.name, true, false) {
				files = append(files, c.name)
			}
			continue
		default:
			value = pick(s, c.name, append([]string{value, value, ""}, s.typed(c)...)...)
		}
		fields = append(fields, [2]string{c.name, value})
	}
	return fields, files
}

// typed returns what a person may type into a field.
func (s *sequence) typed(c control) []string {
	switch c.name {
	case "token":
		return s.tokens
	case "url":
		return append(urls.good, urls.bad...)
	case "email", "address":
		return mailAddresses
	case "merchant", "id":
		return []string{"355", "356", "9"}
	case "zone":
		return []string{"Europe/Athens", "Mars"}
	case "requests", "burst", "days":
		return []string{"500000", "0", "x"}
	}
	if c.kind == "datetime-local" {
		return []string{"2026-11-21T12:00:00", "2026-11-21T12:00"}
	}
	return []string{"Νέο κείμενο", "a b", "Buyer1@example.com", "SF-2026-0000001"}
}

// multipart makes a request a form with files.
func (s *sequence) multipart(r request, fields [][2]string, files []string) request {
	const boundary = "lockstep-boundary"
	part := func(disposition, content string) {
		r.body += "--" + boundary + "\r\nContent-Disposition: form-data; " + disposition + "\r\n\r\n" + content + "\r\n"
	}
	for _, field := range fields {
		part(fmt.Sprintf("name=%q", field[0]), field[1])
	}
	for _, name := range files {
		file, content := pick(s, "file name", "a.pdf", "b.png", "c.txt"), pick(s, "content", "%PDF-1.4 one", "%PDF-1.4 two", "")
		switch {
		case strings.HasSuffix(r.path, "/imports/orders"):
			merchant := s.merchant()
			content = string(s.document(s.orderOf(merchant))) + "\n" + string(s.document(s.orderOf(merchant)))
		case strings.HasSuffix(r.path, "/imports/changes"):
			n := s.order()
			content = object(append(s.change(), "merchantId", fmt.Sprint(merchantOf(n)), "reference", quoted(ingesttest.Reference(n)))...)
		}
		part(fmt.Sprintf("name=%q; filename=%q", name, file), content)
	}
	r.body += "--" + boundary + "--\r\n"
	r.header = []string{"Content-Type", "multipart/form-data; boundary=" + boundary}
	return r
}
