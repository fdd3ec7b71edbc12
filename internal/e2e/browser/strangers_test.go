package browser

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/testenv"
)

// visitor is a person at the console, without a browser.
type visitor struct {
	http.Client
	base string
}

// visit signs a person in.
func visit(t *testing.T, base, token string) *visitor {
	t.Helper()
	jar := testenv.Of(cookiejar.New(nil)).Must(t)
	v := &visitor{http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, base}
	if status, body := v.ask(t, address{"POST", "/"}, url.Values{"token": {token}}); status != http.StatusSeeOther {
		t.Fatalf("sign in: %d %s", status, body)
	}
	return v
}

// address is where a link or a form of a page leads to.
type address struct{ method, path string }

// ask sends a request and returns the status and the whole response but for what differs
// each time: its date and id, and the keys of forms.
func (v *visitor) ask(t *testing.T, to address, form url.Values) (int, string) {
	t.Helper()
	content, contentType := form.Encode(), "application/x-www-form-urlencoded"
	if to.method == http.MethodPost && strings.HasSuffix(to.path, "/files") {
		content = "--b\r\nContent-Disposition: form-data; name=key\r\n\r\n" + form.Get("key") +
			"\r\n--b\r\nContent-Disposition: form-data; name=file; filename=a.pdf\r\n\r\nx\r\n--b--\r\n"
		contentType = "multipart/form-data; boundary=b"
	}
	request := testenv.Of(http.NewRequestWithContext(t.Context(), to.method, v.base+to.path, strings.NewReader(content))).Must(t)
	request.Header.Set("Content-Type", contentType)
	response, err := v.Do(request)
	testenv.NoError(t, err)
	defer response.Body.Close()
	body := testenv.Of(io.ReadAll(response.Body)).Must(t)
	for _, name := range []string{"Date", "X-Request-Id", "Content-Length"} {
		response.Header.Del(name)
	}
	return response.StatusCode, fmt.Sprint(response.Header) + formKey.ReplaceAllString(string(body), "")
}

var (
	formKey = regexp.MustCompile(`name="key" value="[^"]*"`)
	linked  = regexp.MustCompile(`<(?:a|img|link|script)\b[^>]*? (?:href|src)="(/[^"]*)"|<form\b(?:[^>]*? action="([^"]*)")?[^>]*>|<button\b[^>]*? form="own" formaction="([^"]*)"`)
)

// crawl returns every address that the pages of a person lead to, but for signing out.
func (v *visitor) crawl(t *testing.T) []address {
	t.Helper()
	found := []address{{"GET", "/console"}}
	seen := map[address]bool{found[0]: true}
	for i := 0; i < len(found); i++ {
		if found[i].method != http.MethodGet {
			continue
		}
		_, body := v.ask(t, found[i], nil)
		for _, match := range linked.FindAllStringSubmatch(body, -1) {
			next := address{http.MethodGet, html.UnescapeString(match[1] + match[2] + match[3])}
			next.path, _, _ = strings.Cut(next.path, "#")
			next.path, _, _ = strings.Cut(next.path, "?from=") // the view that leads to an order
			if next.path == "" {
				next.path = found[i].path // a form without an action
			}
			if strings.Contains(match[0], `method="post"`) || match[3] != "" {
				next.method = http.MethodPost
			}
			if !seen[next] && next.path != "/console/sign-out" && !strings.HasPrefix(next.path, "/docs") {
				seen[next] = true
				found = append(found, next)
			}
		}
	}
	return found
}

// owned matches an address that names something of one merchant.
var owned = regexp.MustCompile(`^(/console/(?:orders|tokens|webhooks)/)([^/?]+)`)

// missing returns an address like another one, for an order, a token or a webhook that
// never was; the same address if it names none.
func missing(a address) address {
	a.path = owned.ReplaceAllString(a.path, "${1}90000001")
	return a
}

// kind names the route of an address that names something of one merchant.
func (a address) kind() string {
	parts := strings.Split(a.path, "/")
	parts[3] = "X"
	if len(parts) > 5 {
		parts[5] = "Y"
	}
	return a.method + strings.Join(parts, "/")
}

// theirKinds are the kinds of all addresses that name something of one merchant.
var theirKinds = []string{
	"GET/console/orders/X", "GET/console/orders/X/files/Y", "GET/console/orders/X/print", "GET/console/orders/X/withdraw/Y", "GET/console/tokens/X/revoke",
	"GET/console/tokens/X/rotate", "GET/console/webhooks/X", "GET/console/webhooks/X/remove", "POST/console/orders/X/accept", "POST/console/orders/X/files",
	"POST/console/orders/X/own", "POST/console/orders/X/reject", "POST/console/orders/X/withdraw/Y", "POST/console/tokens/X/revoke",
	"POST/console/tokens/X/rotate", "POST/console/webhooks/X",
}

// private are words of the first merchant's data.
var private = regexp.MustCompile(`\b[CH]-\d+\b|Store 355|Their shop|shop\.example`)

// meetStrangers asks for every address that one merchant's pages lead to as another
// merchant. The response says nothing about the first merchant: it is the one for an
// order, a file, a token or a webhook that never was.
func meetStrangers(t *testing.T, s *apptest.Server) {
	const stranger = 777
	s.Merchant(t, stranger)
	s.Import(t, ingesttest.Document(500, func(document map[string]any) { document["merchantId"] = stranger }))
	theirs := visit(t, s.BaseURL, s.Folder.Token(t, "--merchant", "355", "--scopes", allScopes))
	own := visit(t, s.BaseURL, s.Folder.Token(t, "--merchant", fmt.Sprint(stranger), "--scopes", allScopes))
	status, body := theirs.ask(t, address{"POST", "/console/webhooks"}, url.Values{
		"key": {strings.Repeat("A", 26)}, "url": {"https://shop.example/hook"}, "description": {"Their shop"},
	})
	if status != http.StatusOK {
		t.Fatalf("add a webhook: %d %s", status, body)
	}

	var kinds []string
	others := []address{{"GET", "/console/live?after=0"}, {"GET", "/console/orders.xlsx?q=C"}, {"GET", "/console/orders.ndjson?q=C"}}
	for _, to := range append(theirs.crawl(t), others...) {
		if missing(to) != to {
			kinds = append(kinds, to.kind())
			own.meetStranger(t, to)
		} else if status, body := own.ask(t, to, nil); status >= 500 || private.MatchString(body) {
			t.Errorf("%v tells a stranger of %q: status %d", to, private.FindString(body), status)
		}
	}
	slices.Sort(kinds)
	if diff := cmp.Diff(theirKinds, slices.Compact(kinds)); diff != "" {
		t.Errorf("kinds of addresses (-want +crawled):\n%s", diff)
	}

	const accept = "/console/new"
	answer := func(reference string) string {
		_, sent := own.ask(t, address{"POST", accept}, url.Values{"key": {strings.Repeat("C", 26)}, "do": {"accept"}, "order": {reference}, "shown": {reference + " 1"}})
		_, shown := own.ask(t, address{"GET", accept + "?do=accept&refused=" + reference}, nil)
		return sent + shown
	}
	their, nobodys := answer("C-29"), answer("X-29")
	if strings.ReplaceAll(their, "C-29", "X-29") != nobodys || !strings.Contains(their, "limit=25&do=accept&refused=C-29]") || !strings.Contains(their, "Not found.") {
		t.Errorf("a bulk accept tells a stranger:\n%s", their)
	}
}

// meetStranger asks for an address of another merchant.
func (v *visitor) meetStranger(t *testing.T, to address) {
	t.Helper()
	form := url.Values{"key": {strings.Repeat("B", 26)}, "revision": {"1"}, "reason": {"damaged"}, "overlap": {"0"}, "do": {"disable"}}
	status, body := v.ask(t, to, form)
	if status != http.StatusNotFound {
		t.Errorf("%v: status %d for a stranger", to, status)
	}
	nobodys := missing(to)
	_, unknown := v.ask(t, nobodys, form)
	// The page has its address, in the form for the language.
	if body = strings.ReplaceAll(body, html.EscapeString(owned.FindString(to.path)), owned.FindString(nobodys.path)); body != unknown {
		t.Errorf("%v differs from an address of nothing (-nothing +theirs):\n%s", to, cmp.Diff(unknown, body))
	}
}
