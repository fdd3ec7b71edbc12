package docpages

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"merchantorders/docs"
	"merchantorders/internal/web"
	"merchantorders/openapi"
)

//go:embed assets
var files embed.FS

// Deps is what the pages need.
type Deps struct {
	BaseURL string // URL of the service, without a slash at its end
}

// Content security policies of the pages: they load only from the service, and no
// other page may frame them. Swagger UI writes styles into its elements.
const (
	plainPolicy     = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	referencePolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

// PageRoutes returns the routes of the pages.
func PageRoutes(deps Deps) web.RouteGroup {
	s := &site{root: rootOf(deps.BaseURL)}
	index, guide, reference := sync.OnceValues(s.index), sync.OnceValues(s.guide), sync.OnceValues(s.reference)
	return web.RouteGroup{
		Prefix: "/docs",
		Routes: []web.Route{
			web.PublicRoute(http.MethodGet, "", func(w http.ResponseWriter, r *http.Request) error {
				page, err := index()
				if err != nil {
					return err
				}
				return page.serve(w, r)
			}),
			route("/guide", "page", guide),
			route("/reference", "document", reference),
			route("/assets", "asset", assets),
		},
		Errors: web.EncodeMessage,
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
	root string // prefix of every link
}

// link is an entry of a table of contents.
type link struct {
	Address, Title string
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
	Body       template.HTML // rendered from Markdown in package docs
	Document   string        // of a reference: name of the document
}

var templates = sync.OnceValues(func() (*template.Template, error) {
	return template.ParseFS(files, "assets/*.html")
})

// index renders the start page.
func (s *site) index() (content, error) {
	v, err := s.view("Merchant Orders", "")
	if err != nil {
		return content{}, err
	}
	return s.page("index.html", plainPolicy, v)
}

// guide renders the pages of the guide, by name.
func (s *site) guide() (map[string]content, error) {
	pages, err := docs.Pages()
	if err != nil {
		return nil, err
	}
	all := make(map[string]content, len(pages))
	for _, page := range pages {
		v, err := s.view(page.Title, page.Name())
		if err != nil {
			return nil, err
		}
		if v.Body, err = s.html(page); err != nil {
			return nil, err
		}
		if all[page.Name()], err = s.page("guide.html", plainPolicy, v); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// reference renders the page of each OpenAPI document, by its name.
func (s *site) reference() (map[string]content, error) {
	all := make(map[string]content)
	for _, document := range openapi.Documents() {
		v, err := s.view(document.Title, document.Name)
		if err != nil {
			return nil, err
		}
		v.Document = document.Name
		if all[document.Name], err = s.page("reference.html", referencePolicy, v); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// view returns the data of a page. here is the name of the page.
func (s *site) view(title, here string) (view, error) {
	v := view{Root: s.root, Title: title}
	pages, err := docs.Pages()
	if err != nil {
		return view{}, err
	}
	for _, page := range pages {
		l := link{Address: s.root + "/docs/guide/" + page.Name(), Title: page.Title, Here: page.Name() == here}
		switch {
		case strings.HasPrefix(page.Path, "guide/"):
			v.Guide = append(v.Guide, l)
		case page.Name() == "interface" || page.Name() == "decisions":
			v.Published = append(v.Published, l)
		default:
			v.Operators = append(v.Operators, l)
		}
	}
	for _, document := range openapi.Documents() {
		v.References = append(v.References, link{
			Address: s.root + "/docs/reference/" + document.Name, Title: document.Title, Short: document.Name,
			Text: s.root + "/openapi/" + document.Name, Here: document.Name == here,
		})
	}
	return v, nil
}

// page renders a template.
func (s *site) page(name, policy string, v view) (content, error) {
	all, err := templates()
	if err != nil {
		return content{}, err
	}
	var out bytes.Buffer
	if err := all.ExecuteTemplate(&out, name, v); err != nil {
		return content{}, err
	}
	c := newContent("text/html; charset=utf-8", out.Bytes())
	c.policy, c.isPage = policy, true
	return c, nil
}
