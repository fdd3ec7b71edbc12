// Package docpages serves the documentation of the service to everybody: the
// OpenAPI documents below /openapi, and below /docs the guide, also as Markdown, a
// page for each OpenAPI document, the packages of the clients, and a search in all pages. /llms.txt lists them for
// programs. Everything is embedded in the program; the pages load nothing from elsewhere.
//
// It knows nothing of orders, tokens or storage. What the pages say is in packages
// openapi and docs.
package docpages

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"sync"
	texttemplate "text/template"

	"merchantorders/docs"
	"merchantorders/internal/web"
	"merchantorders/openapi"
)

//go:embed assets
var files embed.FS

// policy is the Content-Security-Policy of the pages: they load only from the service,
// and no other page may frame them.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// PageRoutes returns the routes of the pages of a service, with or without those that
// only operators need. They are made at the first request.
func PageRoutes(baseURL string, operators bool) []web.RouteGroup {
	load := sync.OnceValue(func() *site { return newSite(baseURL, operators) })
	contents := func() map[string]content { return load().contents }
	search := web.PublicRoute(http.MethodGet, "/search", func(w http.ResponseWriter, r *web.Request) error {
		load().search(r.URL.Query().Get("q")).serve(w, r.Request)
		return nil
	}).Takes("q")
	return []web.RouteGroup{
		{
			Prefix: "/docs",
			Routes: []web.Route{
				route("", contents), search,
				route("/guide/{page}", contents), route("/clients", contents), route("/clients/{file}", contents), route("/reference/{document}", contents), route("/assets/{asset}", contents),
			},
			Errors: func(r *http.Request, err error) (int, any) {
				status, body := web.EncodeMessage(r, err)
				if status == http.StatusNotFound && strings.Contains(r.Header.Get("Accept"), "text/html") {
					body = load().notFound()
				}
				return status, body
			},
		},
		{Prefix: "/llms.txt", Routes: []web.Route{route("", contents)}, Errors: web.EncodeMessage},
	}
}

// rootOf returns the path of a URL, the prefix of every link: a proxy may serve the
// service below a path.
func rootOf(baseURL string) string {
	base, err := url.Parse(baseURL)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(base.EscapedPath(), "/")
}

// site is the pages for one URL of the service.
type site struct {
	root      string // prefix of every link
	documents []docs.Page
	groups    []group
	pages     []*page // all of the groups
	templates *template.Template
	contents  map[string]content // by path in the service
}

// group is a part of the table of contents.
type group struct {
	Title, Lead string
	Pages       []*page
}

// page is a document.
type page struct {
	Address, Title string
	Language       string // empty: English
	Summary        string // in Markdown
	Source         string // address of the document as Markdown or YAML
	JSON           string // of an OpenAPI document: its address as JSON
	Body           template.HTML
	Sections       []section
}

// view is the data of the templates.
type view struct {
	Root, Title    string
	Groups         []group
	Page           page  // zero: the start page, or a search
	Previous, Next *page // nil: none
	Query          string
	Results        []result
}

// newSite renders all pages.
func newSite(baseURL string, operators bool) *site {
	root := rootOf(baseURL)
	s := &site{root: root, contents: make(map[string]content)}
	s.templates = template.Must(template.New("").Funcs(template.FuncMap{"markdown": render, "in": func(r *reference, o *operation) inReference { return inReference{r, o} }}).ParseFS(files, "assets/*.html"))
	guide, published := group{Title: "Guide"}, group{Title: "Interface and decisions", Lead: "The interface all merchants are given, and the rules specific to this service."}
	references := group{Title: "Reference", Lead: "Every path, field and response. The documents are OpenAPI 3.1: import them into your tools, or generate a client from them."}
	forOperators := group{Title: "For operators"}
	for _, document := range docs.Pages() {
		if operators || !document.Operators {
			s.documents = append(s.documents, document)
		}
	}
	for _, document := range s.documents {
		address := root + "/docs/guide/" + document.Name()
		p := &page{
			Address: address, Title: document.Title, Language: document.Language(), Source: address + ".md", Body: s.html(document),
			Summary: string(s.markdown(docs.Page{Path: document.Path, Markdown: []byte(document.Summary)}, ".md")),
		}
		s.contents["/docs/guide/"+document.Name()+".md"] = newContent(markdown, policy, s.markdown(document, ".md"))
		switch {
		case document.Operators:
			forOperators.Pages = append(forOperators.Pages, p)
		case strings.HasPrefix(document.Path, "guide/"):
			guide.Pages = append(guide.Pages, p)
		default:
			published.Pages = append(published.Pages, p)
		}
	}
	for _, document := range openapi.Documents() {
		if operators || strings.HasPrefix(document.Name, "v") { // merchants have v1 and v2
			text := root + "/openapi/" + document.Name
			references.Pages = append(references.Pages, &page{
				Address: root + "/docs/reference/" + document.Name, Title: document.Title, Summary: document.Summary,
				Source: text + ".yaml", JSON: text + ".json", Body: s.reference(document),
			})
		}
	}
	references.Pages = append(references.Pages, s.addClients(strings.TrimSuffix(baseURL, "/")))
	s.groups = []group{guide, references, published}
	if operators {
		s.groups = append(s.groups, forOperators)
	}
	for _, g := range s.groups {
		s.pages = append(s.pages, g.Pages...)
	}
	s.addPages()
	addAssets(s.contents)
	return s
}

// addPages adds the contents of all pages and of the lists of them.
func (s *site) addPages() {
	for _, p := range s.pages {
		p.Sections = sectionsOf(string(p.Body))
	}
	for i, p := range s.pages {
		v := view{Title: p.Title, Page: *p}
		if i > 0 {
			v.Previous = s.pages[i-1]
		}
		if i < len(s.pages)-1 {
			v.Next = s.pages[i+1]
		}
		s.contents[strings.TrimPrefix(p.Address, s.root)] = s.execute("page.html", v)
	}
	s.contents["/docs"] = s.execute("index.html", view{Title: "Merchant Orders"})
	var list bytes.Buffer
	if err := texttemplate.Must(texttemplate.ParseFS(files, "assets/llms.txt")).Execute(&list, view{Groups: s.groups}); err != nil {
		panic(err) // tests execute the template
	}
	s.contents["/llms.txt"] = newContent(markdown, policy, list.Bytes())
}

// notFound returns what people see who follow an old link: programs get the message.
func (s *site) notFound() web.Page {
	header := http.Header{"Content-Security-Policy": {policy}, "Referrer-Policy": {"no-referrer"}, "Vary": {"Accept, Accept-Encoding"}}
	return web.Page{ContentType: html, Header: header, Body: s.execute("notfound.html", view{Title: "Not found"}).body}
}

// execute renders a page.
func (s *site) execute(name string, v view) content {
	v.Root, v.Groups = s.root, s.groups
	return newContent(html, policy, s.run(name, v))
}

// run executes a template.
func (s *site) run(name string, data any) []byte {
	var out bytes.Buffer
	if err := s.templates.ExecuteTemplate(&out, name, data); err != nil {
		panic(err) // tests render every page
	}
	return out.Bytes()
}
