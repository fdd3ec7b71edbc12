// Package docpages serves the documentation of the service to everybody: the
// OpenAPI documents below /openapi, and below /docs the guide, also as Markdown, and a
// page for each document where it can be read and tried. /llms.txt lists them for
// programs. Everything is embedded in the program; the pages load nothing from elsewhere.
//
// It knows nothing of orders, tokens or storage. What the pages say is in packages
// openapi and docs.
package docpages

import (
	"bytes"
	"embed"
	"html/template"
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

// Content security policies of the pages: they load only from the service, and no
// other page may frame them. Swagger UI writes styles into its elements.
const (
	plainPolicy     = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	referencePolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// PageRoutes returns the routes of the pages of a service, with or without those that
// only operators need. They are made at the first request.
func PageRoutes(baseURL string, operators bool) []web.RouteGroup {
	s := &site{root: rootOf(baseURL)}
	for _, page := range docs.Pages() {
		if operators || !page.Operators {
			s.pages = append(s.pages, page)
		}
	}
	for _, document := range openapi.Documents() {
		if operators || strings.HasPrefix(document.Name, "v") { // merchants have v1 and v2
			s.documents = append(s.documents, document)
		}
	}
	pages := sync.OnceValue(s.contents)
	return []web.RouteGroup{
		{
			Prefix: "/docs",
			Routes: []web.Route{
				route("", pages), route("/guide/{page}", pages), route("/reference/{document}", pages), route("/assets/{asset}", pages),
			},
			Errors: web.EncodeMessage,
		},
		{Prefix: "/llms.txt", Routes: []web.Route{route("", pages)}, Errors: web.EncodeMessage},
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

// site renders the pages for one URL of the service.
type site struct {
	root      string // prefix of every link
	pages     []docs.Page
	documents []openapi.Document
}

// link is an entry of a table of contents.
type link struct {
	Address, Title string
	Summary        string // in Markdown
	Short          string // of a reference: the document's name
	Text           string // of a reference: the document's path without its extension
	Here           bool
}

// view is the data of the templates.
type view struct {
	Root       string
	Title      string
	Guide      []link
	Published  []link
	Operators  []link
	References []link
	Markdown   string        // address of the page as Markdown
	Body       template.HTML // rendered from Markdown in package docs
	Document   string        // of a reference: name of the document
}

// contents renders all pages. It returns them and their assets by path.
func (s *site) contents() map[string]content {
	all := make(map[string]content)
	addAssets(all)
	templates := template.Must(template.ParseFS(files, "assets/*.html"))
	add := func(path, name, policy string, v view) {
		var out bytes.Buffer
		if err := templates.ExecuteTemplate(&out, name, v); err != nil {
			panic(err) // tests render every page
		}
		all[path] = newContent(html, policy, out.Bytes())
	}
	index := s.view("Merchant Orders", "")
	add("/docs", "index.html", plainPolicy, index)
	var list bytes.Buffer
	if err := texttemplate.Must(texttemplate.ParseFS(files, "assets/llms.txt")).Execute(&list, index); err != nil {
		panic(err)
	}
	all["/llms.txt"] = newContent(markdown, plainPolicy, list.Bytes())
	for _, page := range s.pages {
		address := "/docs/guide/" + page.Name()
		v := s.view(page.Title, page.Name())
		v.Markdown, v.Body = s.root+address+".md", s.html(page)
		add(address, "guide.html", plainPolicy, v)
		all[address+".md"] = newContent(markdown, plainPolicy, s.markdown(page, ".md"))
	}
	for _, document := range s.documents {
		v := s.view(document.Title, document.Name)
		v.Document = document.Name
		add("/docs/reference/"+document.Name, "reference.html", referencePolicy, v)
	}
	return all
}

// view returns the data of a page. here is the name of the page.
func (s *site) view(title, here string) view {
	v := view{Root: s.root, Title: title}
	for _, page := range s.pages {
		l := link{
			Address: s.root + "/docs/guide/" + page.Name(), Title: page.Title, Here: page.Name() == here,
			Summary: string(s.markdown(docs.Page{Path: page.Path, Markdown: []byte(page.Summary)}, ".md")),
		}
		switch {
		case page.Operators:
			v.Operators = append(v.Operators, l)
		case strings.HasPrefix(page.Path, "guide/"):
			v.Guide = append(v.Guide, l)
		default:
			v.Published = append(v.Published, l)
		}
	}
	for _, document := range s.documents {
		v.References = append(v.References, link{
			Address: s.root + "/docs/reference/" + document.Name, Title: document.Title, Summary: document.Summary, Short: document.Name,
			Text: s.root + "/openapi/" + document.Name, Here: document.Name == here,
		})
	}
	return v
}
