package docpages_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"merchantorders/docs"
	"merchantorders/internal/docpages"
	"merchantorders/internal/web"
	"merchantorders/openapi"
)

// below is the path below which a proxy serves the service in these tests.
const below = "/shop"

// serve starts a server of the pages.
func serve(t *testing.T) *httptest.Server {
	t.Helper()
	router := web.NewRouter(web.RouterConfig{}, docpages.DocumentRoutes(),
		docpages.PageRoutes("https://orders.example.com"+below), web.RouteGroup{Errors: web.EncodeMessage})
	server := httptest.NewServer(http.StripPrefix(below, router))
	t.Cleanup(server.Close)
	return server
}

type response struct {
	status int
	header http.Header
	body   string
}

func get(t *testing.T, server *httptest.Server, path string, header map[string]string) response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept-Encoding", "identity")
	for name, value := range header {
		request.Header.Set(name, value)
	}
	got, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response{got.StatusCode, got.Header, string(body)}
}

// paths are the paths of all pages.
func paths(t *testing.T) []string {
	t.Helper()
	all := []string{below + "/docs"}
	for _, page := range docs.Pages() {
		all = append(all, below+"/docs/guide/"+page.Name())
	}
	for _, document := range openapi.Documents() {
		all = append(all, below+"/docs/reference/"+document.Name)
	}
	return all
}

var (
	linkForm   = regexp.MustCompile(`(?:href|src|data-document)="([^"]*)"`)
	inlineForm = regexp.MustCompile(`(?i)<script(?:>| [^>]*>[^<])|<style|\sstyle=|\son[a-z]+=|javascript:`)
)

// TestPages checks for every page that it is served, that its headers forbid frames,
// that it has nothing inline, and that every link leads to a page of the service.
func TestPages(t *testing.T) {
	t.Parallel()
	server := serve(t)
	for _, address := range paths(t) {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			page := get(t, server, address, nil)
			if page.status != 200 || page.header.Get("Content-Type") != "text/html; charset=utf-8" {
				t.Fatalf("status %d, %s", page.status, page.header.Get("Content-Type"))
			}
			policy := page.header.Get("Content-Security-Policy")
			if !strings.Contains(policy, "default-src 'none'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "script-src 'self' 'unsafe") {
				t.Errorf("policy %q", policy)
			}
			if scripts := strings.Contains(policy, "script-src"); scripts != strings.Contains(address, "/reference/") {
				t.Errorf("scripts are allowed: %t", scripts)
			}
			for header, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"} {
				if got := page.header.Get(header); got != want {
					t.Errorf("%s is %q", header, got)
				}
			}
			if found := inlineForm.FindString(page.body); found != "" {
				t.Errorf("the page has something inline: %q", found)
			}
			if !strings.Contains(page.body, `<meta name="viewport" content="width=device-width, initial-scale=1">`) || !strings.Contains(page.body, "<title>") {
				t.Error("the page has no viewport or no title")
			}
			for _, link := range linkForm.FindAllStringSubmatch(page.body, -1) {
				follow(t, server, address, link[1])
			}
		})
	}
}

// follow checks that the target of a link exists.
func follow(t *testing.T, server *httptest.Server, from, link string) {
	t.Helper()
	path, anchor, _ := strings.Cut(link, "#")
	if path == "" {
		path = from
	}
	if !strings.HasPrefix(path, below+"/docs") && !strings.HasPrefix(path, below+"/openapi/") {
		t.Errorf("%q leads elsewhere", link)
		return
	}
	target := get(t, server, path, nil)
	if target.status != 200 {
		t.Errorf("%q: status %d", link, target.status)
	}
	if anchor != "" && !strings.Contains(target.body, ` id="`+anchor+`"`) {
		t.Errorf("%q: no such place on the page", link)
	}
}

// TestStateDiagram checks that the pages show the image of the states with a text
// alternative, and not its Mermaid source.
func TestStateDiagram(t *testing.T) {
	t.Parallel()
	server := serve(t)
	for _, page := range []string{"accepting", "operator"} {
		body := get(t, server, below+"/docs/guide/"+page, nil).body
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
	server := serve(t)
	for _, path := range []string{"/docs/guide", "/docs/guide/nothing", "/docs/reference/v3", "/docs/assets/pages.html", "/docs/assets/..%2Fpages.css", "/docs/nothing", "/openapi", "/openapi/v1", "/openapi/v3.yaml"} {
		if got := get(t, server, below+path, nil); got.status != 404 || got.body != "{\"message\":\"Not Found\"}\n" {
			t.Errorf("%s: status %d: %.100s", path, got.status, got.body)
		}
	}
}

// TestNotModified requests what the client already has.
func TestNotModified(t *testing.T) {
	t.Parallel()
	server := serve(t)
	for _, path := range []string{"/docs", "/docs/guide/errors", "/docs/assets/pages.css", "/docs/assets/swagger-ui.css", "/openapi/v2.json"} {
		first := get(t, server, below+path, nil)
		tag := first.header.Get("ETag")
		for condition, want := range map[string]int{tag: 304, "W/" + tag: 304, `"other", ` + tag: 304, "*": 304, `"other"`: 200} {
			got := get(t, server, below+path, map[string]string{"If-None-Match": condition})
			if got.status != want || want == 304 && got.body != "" || want == 200 && got.body != first.body {
				t.Errorf("%s with %s: status %d, %d bytes", path, condition, got.status, len(got.body))
			}
		}
	}
}

// TestDocumentsAreServed compares the served documents with the files.
func TestDocumentsAreServed(t *testing.T) {
	t.Parallel()
	server := serve(t)
	for _, document := range openapi.Documents() {
		for form, want := range map[string]struct{ text, mediaType string }{
			"yaml": {string(document.YAML), "application/yaml"},
			"json": {string(document.JSON), "application/json; charset=utf-8"},
		} {
			got := get(t, server, below+"/openapi/"+document.Name+"."+form, nil)
			if got.status != 200 || got.body != want.text || got.header.Get("Content-Type") != want.mediaType {
				t.Errorf("%s.%s: status %d, %s, %d bytes", document.Name, form, got.status, got.header.Get("Content-Type"), len(got.body))
			}
		}
	}
}
