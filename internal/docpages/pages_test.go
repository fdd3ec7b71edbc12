package docpages_test

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"merchantorders/docs"
	"merchantorders/internal/app/apptest"
	"merchantorders/internal/config"
	"merchantorders/internal/testenv"
	"merchantorders/openapi"
)

// below is the path below which a proxy serves the service in these tests.
const below = "/shop"

// start starts a service behind such a proxy, and returns the address of the proxy. Its
// pages are those of the port of merchants, unless operators are served too.
func start(t *testing.T, operators bool) (url string) {
	t.Helper()
	s := apptest.New(t, apptest.Setup{Settings: config.Config{BaseURL: "https://orders.example.com" + below}})
	handler := s.Handler
	if !operators {
		handler, _ = s.Handlers(s.URL)
	}
	proxy := httptest.NewServer(http.StripPrefix(below, handler))
	t.Cleanup(proxy.Close)
	return proxy.URL
}

func get(t *testing.T, url string, header ...string) testenv.Response {
	t.Helper()
	return testenv.Send(t, "", http.MethodGet, url, "", header...)
}

// paths are the paths of all pages, and whether merchants have them.
func paths() map[string]bool {
	all := map[string]bool{below + "/docs": true, below + "/docs/clients": true}
	for _, page := range docs.Pages() {
		all[below+"/docs/guide/"+page.Name()] = !page.Operators
	}
	for _, document := range openapi.Documents() {
		all[below+"/docs/reference/"+document.Name] = document.Name == "v1" || document.Name == "v2"
	}
	return all
}

var (
	fileLink    = regexp.MustCompile(`>[\w-]+\.md</a>`)
	linkForm    = regexp.MustCompile(`(?:href|src|action)="([^"]*)"`)
	consoleLink = regexp.MustCompile(`path "(/docs[^"]*)"`)
	inlineForm  = regexp.MustCompile(`(?i)<script(?:>| [^>]*>[^<])|<style|\sstyle=|\son[a-z]+=|javascript:`)
)

// TestPages checks for every page that it is served, that its headers forbid frames,
// that it has nothing inline, and that every link leads to a page of the same port. The
// port of merchants has no pages for operators.
// Proves decision 1 (no token needed).
func TestPages(t *testing.T) {
	t.Parallel()
	everything, merchants := start(t, true), start(t, false)
	for address, forMerchants := range paths() {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			checkPage(t, everything, address)
			if forMerchants {
				checkPage(t, merchants, address)
			} else {
				get(t, merchants+address).WantStatus(t, 404)
			}
		})
	}
}

// followed has the links that were followed: most are on every page.
var followed sync.Map

// checkPage checks a page of a server, and requests what it links to.
func checkPage(t *testing.T, server, address string) {
	t.Helper()
	page := get(t, server+address)
	if page.Status != 200 || page.Header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("status %d, %s", page.Status, page.Header.Get("Content-Type"))
	}
	policy := page.Header.Get("Content-Security-Policy")
	testenv.Contains(t, "policy", policy, "default-src 'none'", "frame-ancestors 'none'")
	testenv.Lacks(t, "policy", policy, "unsafe")
	testenv.Equal(t, "a link reads as the name of a file", "", fileLink.FindString(page.Body))
	for header, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"} {
		testenv.Equal(t, header, want, page.Header.Get(header))
	}
	testenv.Equal(t, "what the page has inline", "", inlineForm.FindString(page.Body))
	testenv.Contains(t, "page", page.Body, `<meta name="viewport" content="width=device-width, initial-scale=1">`, "<title>")
	for _, link := range linkForm.FindAllStringSubmatch(page.Body, -1) {
		if anchor, own := strings.CutPrefix(link[1], "#"); own {
			checkAnchor(t, page, link[1], anchor)
		} else if _, again := followed.LoadOrStore(server+link[1], true); !again {
			follow(t, server, link[1])
		}
	}
}

// TestMarkdown requests what /llms.txt lists, and follows every link in it and in the
// pages as Markdown. The port of merchants has no pages for operators in that form either.
func TestMarkdown(t *testing.T) {
	t.Parallel()
	everything, merchants := start(t, true), start(t, false)
	for server, operators := range map[string]bool{everything: true, merchants: false} {
		list := getMarkdown(t, server, below+"/llms.txt")
		if !strings.HasPrefix(list, "# Merchant Orders\n\n> ") {
			t.Errorf("the list begins with %.40q", list)
		}
		for _, page := range docs.Pages() {
			address := below + "/docs/guide/" + page.Name() + ".md"
			entry := "\n- [" + page.Title + "](" + address + "): "
			testenv.Equal(t, fmt.Sprintf("for operators %t: listed %s", operators, page.Title), operators || !page.Operators, strings.Contains(list, entry))
			if page.Operators && !operators {
				get(t, server+address).WantStatus(t, 404)
				continue
			}
			want, _ := parse(string(page.Markdown))
			got, _ := parse(getMarkdown(t, server, address))
			testenv.Equal(t, "headings and code of "+address, want, got)
		}
		for _, document := range openapi.Documents() {
			entry := "\n- [" + document.Title + "](" + below + "/openapi/" + document.Name + ".yaml): " + document.Summary + "\n"
			testenv.Equal(t, fmt.Sprintf("for operators %t: listed %s", operators, document.Title), operators || strings.HasPrefix(document.Name, "v"), strings.Contains(list, entry))
		}
	}
}

// getMarkdown requests a text in Markdown and what it links to, and returns the text.
func getMarkdown(t *testing.T, server, address string) string {
	t.Helper()
	got := get(t, server+address)
	if got.Status != 200 || got.Header.Get("Content-Type") != "text/markdown; charset=utf-8" || got.Header.Get("Etag") == "" {
		t.Fatalf("%s: status %d, headers %v", address, got.Status, got.Header)
	}
	_, links := parse(got.Body)
	for _, link := range links {
		target, _, _ := strings.Cut(link, "#")
		if strings.HasPrefix(target, below+"/docs/guide/") && !strings.HasSuffix(target, ".md") {
			t.Errorf("%s links to %q, which is not Markdown", address, link)
		} else if target != "" {
			follow(t, server, target)
		}
	}
	return got.Body
}

// parse returns what must not differ between a document and the page as Markdown, its
// headings and its code, and the destinations of the links and images.
func parse(markdown string) (fixed, links []string) {
	source := []byte(markdown)
	_ = ast.Walk(goldmark.DefaultParser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			links = append(links, string(n.Destination))
		case *ast.Image:
			links = append(links, string(n.Destination))
		case *ast.Heading, *ast.FencedCodeBlock, *ast.CodeBlock:
			fixed = append(fixed, string(n.Lines().Value(source)))
		case *ast.CodeSpan:
			fixed = append(fixed, string(n.FirstChild().(*ast.Text).Value(source)))
		}
		return ast.WalkContinue, nil
	})
	return fixed, links
}

// follow checks that the target of a link exists.
func follow(t *testing.T, server, link string) {
	t.Helper()
	path, anchor, _ := strings.Cut(link, "#")
	if !strings.HasPrefix(path, below+"/docs") && !strings.HasPrefix(path, below+"/openapi/") && path != below+"/" {
		t.Errorf("%q leads elsewhere", link)
		return
	}
	target := get(t, server+path)
	target.WantStatus(t, 200)
	if anchor != "" {
		checkAnchor(t, target, link, anchor)
	}
}

func checkAnchor(t *testing.T, page testenv.Response, link, anchor string) {
	t.Helper()
	testenv.Contains(t, link, page.Body, ` id="`+anchor+`"`)
}

// TestConsoleLinks follows the links of the console to the pages.
func TestConsoleLinks(t *testing.T) {
	t.Parallel()
	server := start(t, true)
	templates := testenv.Of(filepath.Glob("../console/templates/*.html")).Must(t)
	links := 0
	for _, file := range templates {
		text := testenv.Of(os.ReadFile(file)).Must(t)
		for _, link := range consoleLink.FindAllStringSubmatch(string(text), -1) {
			follow(t, server, below+link[1])
			links++
		}
	}
	if links == 0 {
		t.Error("the console has no links to the pages")
	}
}

var (
	curlForm = regexp.MustCompile(`curl -?[^<]*"\$BASE[^<]*`)
	badCurl  = regexp.MustCompile(`BASE"|BASE[^ ]*(//|\{|=&|="|/")|: "|''`)
)

// TestReference finds every operation, status, parameter and schema of the documents on
// their pages.
func TestReference(t *testing.T) {
	t.Parallel()
	server := start(t, true)
	for _, document := range openapi.Documents() {
		page := get(t, server+below+"/docs/reference/"+document.Name).Body
		all := testenv.Of(openapi3.NewLoader().LoadFromData(document.JSON)).Must(t)
		for path, item := range all.Paths.Map() {
			for method, o := range item.Operations() {
				_, shown, found := strings.Cut(page, `<h3 id="`+o.OperationID+`">`+html.EscapeString(o.Summary)+"</h3>\n"+`<p class="call"><b>`+method+`</b> <code>`+path+"</code>")
				shown, _, _ = strings.Cut(shown, "</section>")
				for status := range o.Responses.Map() {
					found = found && strings.Contains(shown, "<dt><b>"+status+"</b></dt>")
				}
				for _, p := range slices.Concat(item.Parameters, o.Parameters) {
					found = found && strings.Contains(shown, "<dt><code>"+p.Value.Name+"</code>")
				}
				if !found {
					t.Errorf("%s does not show all of %s %s", document.Name, method, path)
				}
			}
		}
		for _, command := range curlForm.FindAllString(html.UnescapeString(page), -1) {
			if badCurl.MatchString(command) {
				t.Errorf("%s: a value is missing in %s", document.Name, command)
			}
		}
		for name, s := range all.Components.Schemas {
			_, shown, _ := strings.Cut(page, `<h3 id="schema-`+name+`">`)
			shown, _, _ = strings.Cut(shown, "</section>")
			for property := range s.Value.Properties {
				testenv.Contains(t, document.Name, shown, "<dt><code>"+property+"</code>")
			}
		}
	}
	v2 := html.UnescapeString(get(t, server+below+"/docs/reference/v2").Body)
	testenv.Contains(t, "page of v2", v2,
		`<code>curl -X PATCH -H "Authorization: Bearer $TOKEN" "$BASE/v2/orders/SF-2026-000123/accept"</code>`,
		`<code>curl -X POST -H "Authorization: Bearer $TOKEN" --data-binary '{"state":`,
		`<b>POST</b> <code>event</code>`,
		`--data-binary @FILE "$BASE/v2/orders/answers"</code>`,
	)
}

// TestStateDiagram checks that the pages show the image of the states with a text
// alternative, and not its Mermaid source.
func TestStateDiagram(t *testing.T) {
	t.Parallel()
	server := start(t, true)
	for _, page := range []string{"accepting", "operator"} {
		body := get(t, server+below+"/docs/guide/"+page).Body
		testenv.Contains(t, page, body, `<img src="`+below+`/docs/assets/states.svg" alt="The states`)
		testenv.Lacks(t, page, body, "flowchart")
	}
}

// TestNotFound requests paths without a page.
func TestNotFound(t *testing.T) {
	t.Parallel()
	server := start(t, true)
	for _, path := range []string{"/docs/guide", "/docs/guide/nothing", "/docs/guide/nothing.md", "/docs.md", "/llms.txt/x", "/docs/reference/v3", "/docs/assets/pages.html", "/docs/assets/..%2Fpages.css", "/docs/nothing", "/openapi", "/openapi/v1", "/openapi/v3.yaml"} {
		if got := get(t, server+below+path); got.Status != 404 || got.Body != `{"message":"Not Found"}` {
			t.Errorf("%s: status %d: %.100s", path, got.Status, got.Body)
		}
	}
	for _, path := range []string{"/docs/guide/nothing", "/docs/nothing"} {
		got := get(t, server+below+path, "Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
		got.WantText(t, http.StatusNotFound, "<h1>Not found</h1>", `<a href="/shop/docs/guide/retries">`, `action="/shop/docs/search"`)
		if !strings.Contains(got.Header.Get("Content-Security-Policy"), "default-src 'none'") || !strings.Contains(got.Header.Get("Vary"), "Accept,") {
			t.Errorf("%s: headers %v", path, got.Header)
		}
	}
}

// TestNotModified requests what the client already has.
// Proves decision 5 (caching).
func TestNotModified(t *testing.T) {
	t.Parallel()
	server := start(t, true)
	for _, path := range []string{"/docs", "/docs/guide/errors", "/docs/guide/errors.md", "/llms.txt", "/docs/assets/pages.css", "/docs/assets/copy.js", "/docs/search?q=etag", "/openapi/v2.json"} {
		first := get(t, server+below+path)
		tag := first.Header.Get("ETag")
		for condition, want := range map[string]int{tag: 304, "W/" + tag: 304, `"other", ` + tag: 304, "*": 304, `"other"`: 200} {
			got := get(t, server+below+path, "If-None-Match", condition)
			if got.Status != want || want == 304 && got.Body != "" || want == 200 && got.Body != first.Body {
				t.Errorf("%s with %s: status %d, %d bytes", path, condition, got.Status, len(got.Body))
			}
		}
	}
}

// TestDocumentsAreServed compares the served documents with the files.
// Proves decision 1 (no token needed).
func TestDocumentsAreServed(t *testing.T) {
	t.Parallel()
	server := start(t, true)
	for _, document := range openapi.Documents() {
		document = document.WithServer("https://orders.example.com" + below)
		for form, want := range map[string]struct{ text, mediaType string }{
			"yaml": {string(document.YAML), "application/yaml"},
			"json": {string(document.JSON), "application/json"},
		} {
			got := get(t, server+below+"/openapi/"+document.Name+"."+form)
			if got.Status != 200 || got.Body != strings.TrimSuffix(want.text, "\n") || got.Header.Get("Content-Type") != want.mediaType {
				t.Errorf("%s.%s: status %d, %s, %d bytes", document.Name, form, got.Status, got.Header.Get("Content-Type"), len(got.Body))
			}
		}
	}
}

// TestSearch searches the pages of both ports.
func TestSearch(t *testing.T) {
	t.Parallel()
	everything, merchants := start(t, true), start(t, false)
	search := func(server, query string) string {
		return get(t, server+below+"/docs/search?q="+url.QueryEscape(query)).Body
	}
	for query, want := range map[string]string{
		"idempotency-KEY repeat": `<li><a href="/shop/docs/guide/retries#`, // a heading has both words
		"listUnansweredOrders":   "No place with all of",                   // ids are not shown
		"expiresBefore":          `<a href="/shop/docs/reference/v2#listUnansweredOrders">`,
		"Cannot Accept Order":    "<mark>Cannot</mark> <mark>Accept</mark> <mark>Order</mark>",
		"<script> & \"":          "with all of: &lt;script&gt; &amp; &#34;</p>",
		"":                       "<h1>Search</h1>",
	} {
		testenv.Contains(t, fmt.Sprintf("page for %q", query), search(merchants, query), want)
	}
	const operators = `<li><a href="/shop/docs/guide/merchants-and-tokens`
	if !strings.Contains(search(everything, "token create"), operators) || strings.Contains(search(merchants, "token create"), operators) {
		t.Error("the pages for operators must be found on their port only")
	}
	checkPage(t, everything, below+"/docs/search?q=webhook")
}

// TestNavigation checks that a page shows where it is, its sections, and its neighbors.
func TestNavigation(t *testing.T) {
	t.Parallel()
	get(t, start(t, false)+below+"/docs/guide/console-el").WantText(t, http.StatusOK, `<main id="main" class="text" lang="el">`, `<li lang="el"><a href="/shop/docs/guide/console-el" aria-current="page">`)
	page := get(t, start(t, false)+below+"/docs/guide/retries").Body
	testenv.Contains(t, "page", page,
		`<a href="/shop/docs/guide/retries" aria-current="page">Safe retries</a>`+"\n<ul>\n"+`<li class="level2"><a href="#idempotency-key-repeat-a-request-safely">`,
		`<a rel="prev" href="/shop/docs/guide/accepting">`,
		`<a rel="next" href="/shop/docs/guide/invoices">`,
		`<a href="/shop/">Console</a>`,
	)
	testenv.Equal(t, "current pages", 1, strings.Count(page, "aria-current"))
}
