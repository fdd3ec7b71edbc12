package docpages_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	handler := http.StripPrefix(below, s.Handler)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !operators {
			r.Header.Set("Via", "a proxy")
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL
}

func get(t *testing.T, url string, header ...string) testenv.Response {
	t.Helper()
	return testenv.Send(t, "", http.MethodGet, url, "", header...)
}

// paths are the paths of all pages, and whether merchants have them.
func paths() map[string]bool {
	all := map[string]bool{below + "/docs": true}
	for _, page := range docs.Pages() {
		all[below+"/docs/guide/"+page.Name()] = !page.Operators
	}
	for _, document := range openapi.Documents() {
		all[below+"/docs/reference/"+document.Name] = document.Name == "v1" || document.Name == "v2"
	}
	return all
}

var (
	fileLink   = regexp.MustCompile(`>[\w-]+\.md</a>`)
	linkForm   = regexp.MustCompile(`(?:href|src|data-document)="([^"]*)"`)
	inlineForm = regexp.MustCompile(`(?i)<script(?:>| [^>]*>[^<])|<style|\sstyle=|\son[a-z]+=|javascript:`)
)

// TestPages checks for every page that it is served, that its headers forbid frames,
// that it has nothing inline, and that every link leads to a page of the same port. The
// port of merchants has no pages for operators.
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

// checkPage checks a page of a server, and requests what it links to.
func checkPage(t *testing.T, server, address string) {
	t.Helper()
	page := get(t, server+address)
	if page.Status != 200 || page.Header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("status %d, %s", page.Status, page.Header.Get("Content-Type"))
	}
	policy := page.Header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "script-src 'self' 'unsafe") {
		t.Errorf("policy %q", policy)
	}
	if link := fileLink.FindString(page.Body); link != "" {
		t.Errorf("a link reads as the name of a file: %s", link)
	}
	if scripts := strings.Contains(policy, "script-src"); scripts != strings.Contains(address, "/reference/") {
		t.Errorf("scripts are allowed: %t", scripts)
	}
	for header, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"} {
		if got := page.Header.Get(header); got != want {
			t.Errorf("%s is %q", header, got)
		}
	}
	if found := inlineForm.FindString(page.Body); found != "" {
		t.Errorf("the page has something inline: %q", found)
	}
	if !strings.Contains(page.Body, `<meta name="viewport" content="width=device-width, initial-scale=1">`) || !strings.Contains(page.Body, "<title>") {
		t.Error("the page has no viewport or no title")
	}
	for _, link := range linkForm.FindAllStringSubmatch(page.Body, -1) {
		follow(t, server, address, link[1])
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
			if strings.Contains(list, entry) != (operators || !page.Operators) {
				t.Errorf("for operators %t: the list is wrong about %s", operators, page.Title)
			}
			if page.Operators && !operators {
				get(t, server+address).WantStatus(t, 404)
				continue
			}
			want, _ := parse(string(page.Markdown))
			got, _ := parse(getMarkdown(t, server, address))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s has other headings or other code (-document +page):\n%s", address, diff)
			}
		}
		for _, document := range openapi.Documents() {
			entry := "\n- [" + document.Title + "](" + below + "/openapi/" + document.Name + ".yaml): " + document.Summary + "\n"
			if strings.Contains(list, entry) != (operators || strings.HasPrefix(document.Name, "v")) {
				t.Errorf("for operators %t: the list is wrong about %s", operators, document.Title)
			}
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
			follow(t, server, address, target)
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
func follow(t *testing.T, server string, from, link string) {
	t.Helper()
	path, anchor, _ := strings.Cut(link, "#")
	if path == "" {
		path = from
	}
	if !strings.HasPrefix(path, below+"/docs") && !strings.HasPrefix(path, below+"/openapi/") {
		t.Errorf("%q leads elsewhere", link)
		return
	}
	target := get(t, server+path)
	if target.Status != 200 {
		t.Errorf("%q: status %d", link, target.Status)
	}
	if anchor != "" && !strings.Contains(target.Body, ` id="`+anchor+`"`) {
		t.Errorf("%q: no such place on the page", link)
	}
}

// TestStateDiagram checks that the pages show the image of the states with a text
// alternative, and not its Mermaid source.
func TestStateDiagram(t *testing.T) {
	t.Parallel()
	server := start(t, true)
	for _, page := range []string{"accepting", "operator"} {
		body := get(t, server+below+"/docs/guide/"+page).Body
		if !strings.Contains(body, `<img src="`+below+`/docs/assets/states.svg" alt="The states`) {
			t.Errorf("%s does not show the picture", page)
		}
		if strings.Contains(body, "flowchart") {
			t.Errorf("%s shows the source of a diagram", page)
		}
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
}

// TestNotModified requests what the client already has.
func TestNotModified(t *testing.T) {
	t.Parallel()
	server := start(t, true)
	for _, path := range []string{"/docs", "/docs/guide/errors", "/docs/guide/errors.md", "/llms.txt", "/docs/assets/pages.css", "/docs/assets/swagger-ui.css", "/openapi/v2.json"} {
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
func TestDocumentsAreServed(t *testing.T) {
	t.Parallel()
	server := start(t, true)
	for _, document := range openapi.Documents() {
		document = document.WithServer("https://orders.example.com" + below)
		for form, want := range map[string]struct{ text, mediaType string }{
			"yaml": {string(document.YAML), "application/yaml"},
			"json": {string(document.JSON), "application/json; charset=utf-8"},
		} {
			got := get(t, server+below+"/openapi/"+document.Name+"."+form)
			if got.Status != 200 || got.Body != strings.TrimSuffix(want.text, "\n") || got.Header.Get("Content-Type") != want.mediaType {
				t.Errorf("%s.%s: status %d, %s, %d bytes", document.Name, form, got.Status, got.Header.Get("Content-Type"), len(got.Body))
			}
		}
	}
}
