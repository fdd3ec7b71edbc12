package browser

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/console"
	"merchantorders/internal/delivery/digest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/testenv"
)

// consolePage is a page of the console that pictures are taken of and that axe checks.
type consolePage struct {
	name, path string
	submit     string // script that sends a form of the page; empty: the page itself
}

// extremeReference is the reference of extremeOrder.
var extremeReference = "EXTREME-" + strings.Repeat("1", 50)

// publicPages, merchantPages and operatorPages are all pages of the console, of an
// installation that prepareConsole has prepared. The last merchantPages are those that
// look different without orders, tokens and webhooks.
var (
	publicPages = []consolePage{
		{"signin", "/", ""}, {"signin-wrong", "/", send("form[action='/']", "token", "mo_wrong")}, {"signin-again", "/?next=/console/orders", ""},
		{"login", "/console/login/x", ""}, {"login-used", "/console/login/x", send("main form")},
		{"mail-confirm", "/console/mail/confirm/355/99/x", ""}, {"mail-confirmed", "/console/mail/confirm/355/99/x", send("main form")},
		{"mail-end", "/console/mail/end/355/99/x", ""}, {"mail-ended", "/console/mail/end/355/99/x", send("main form")},
	}
	merchantPages = []consolePage{
		{"order-new", "/console/orders/DEMO-0060", ""}, {"order-a39", "/console/orders/DEMO-0002", ""}, {"order-shipped", "/console/orders/DEMO-0030", ""},
		{"order-extreme", "/console/orders/" + extremeReference, ""},
		{"order-noreason", "/console/orders/" + extremeReference, `(() => { document.querySelector(".reject div button").click(); return true })()`}, {"print", "/console/orders/DEMO-0060/print", ""},
		{"print-many", "/console/print?order=DEMO-0060&order=DEMO-0059&order=NONE", ""}, {"print-none", "/console/print", ""}, {"pick", "/console/pick?order=DEMO-0060&order=DEMO-0059&order=NONE", ""},
		{"print-extreme", "/console/orders/" + extremeReference + "/print", ""}, {"withdraw", "/console/orders/FILES/withdraw/1", ""},
		{"files", "/console/orders/FILES", ""}, {"invoices", "/console/invoices?file=FILES.pdf&file=DEMO-0053.pdf&file=none.pdf", ""}, {"notfound", "/console/orders/NONE", ""},
		{"order-of-queue", "/console/orders/DEMO-0049?from=%2Fconsole%2Fnew", ""}, {"orders-wrong", "/console/orders?from=2026-13-01", ""},
		{"orders-nomatch", "/console/orders?q=nothing", ""}, {"orders-search", "/console/orders?q=DEMO", ""}, {"queue-none", "/console/new", send("form[data-select]", "do", "reject")},
		{"queue-refused", "/console/new", send("form[data-select]", "order", "NONE", "do", "accept")},
		{"token-rotate", "/console/tokens/1/rotate", ""}, {"token-revoke", "/console/tokens/1/revoke", ""},
		{"tokens-wrong", "/console/tokens", send("form.wide", "days", "-1")}, {"tokens-revoked", "/console/tokens?state=revoked", ""},
		{"webhook", "/console/webhooks/1", ""}, {"webhook-remove", "/console/webhooks/1/remove", ""},
		{"webhooks-wrong", "/console/webhooks", send("form.wide", "url", "https://10.0.0.1/")}, {"forbidden", "/console/operator/orders", ""},
		{"passkeys", "/console/passkeys", ""}, {"store", "/console/store", ""}, {"mail", "/console/mail", ""}, {"mail-wrong", "/console/mail", send("form.wide", "do", "add", "email", "x")}, {"mail-notsent", "/console/mail", send("form.wide", "do", "add", "email", "orders@example.com")},
		{"overview", "/console", ""}, {"queue", "/console/new?limit=50", ""}, {"ship", "/console/ship", ""}, {"orders", "/console/orders?page=2", ""}, {"tokens", "/console/tokens", ""}, {"people", "/console/people", ""}, {"webhooks", "/console/webhooks", ""},
	}
	emptyPages    = merchantPages[len(merchantPages)-6:]
	operatorPages = []consolePage{
		{"op-attention", "/console/operator", ""}, {"op-orders", "/console/operator/orders", ""}, {"op-orders-wrong", "/console/operator/orders?merchant=x&from=2026-13-01", ""},
		{"op-order", "/console/operator/orders/355/DEMO-0060", ""}, {"op-order-extreme", "/console/operator/orders/355/" + extremeReference, ""},
		{"op-order-correct", "/console/operator/orders/355/DEMO-0060", send("form[action$='/correct']", "expiresAt", "x")}, {"op-order-sure", "/console/operator/orders/355/DEMO-0060", send("form[action$='/state']", "state", "canceled", "reason", "payment-failed")}, {"op-merchants", "/console/operator/merchants", ""},
		{"op-merchant", "/console/operator/merchants/355", ""}, {"op-webhooks", "/console/operator/webhooks?state=active", ""}, {"op-webhooks-empty", "/console/operator/webhooks", ""},
		{"op-webhook", "/console/operator/webhooks/355/1", ""},
		{"op-webhook-remove", "/console/operator/webhooks/355/1/remove", ""}, {"op-imports", "/console/operator/imports", ""}, {"op-imports-refused", "/console/operator/imports", chooseFile},
		{"op-tokens", "/console/operator/tokens", ""}, {"op-tokens-wrong", "/console/operator/tokens?merchant=x", ""},
		{"op-people", "/console/operator/tokens/people", ""}, {"op-token-rotate", "/console/operator/tokens/1/rotate", ""}, {"op-token-revoke", "/console/operator/tokens/1/revoke", ""},
		{"op-audit", "/console/operator/audit", ""}, {"op-erase-ask", "/console/operator/customers", send("main form", "reference", "NONE", "merchant", "355")}, {"op-audit-wrong", "/console/operator/audit?from=x&token=x&reference=%25", ""},
		{"op-erase", "/console/operator/customers", ""}, {"op-notfound", "/console/operator/orders/355/NONE", ""},
	}
)

// chooseFile chooses a file with refused lines in the form that imports orders, and
// sends it.
const chooseFile = `(() => {
	const input = document.querySelector("#orders-file"), files = new DataTransfer();
	const lines = ['{"reference":"BAD-1","total":"x"}', "not an order", '{"' + "x".repeat(300) + '":1}'];
	files.items.add(new File([lines.join("\n")], "orders.jsonl"));
	input.files = files.files;
	input.form.submit();
	return true;
})()`

// otherRoutes are the routes for GET that are no pages: they lead elsewhere or are files.
var otherRoutes = []string{
	"/console/assets/{asset}", "/console/live", "/console/find", "/console/operator/find", "/console/orders.xlsx", "/console/invoices.xlsx", "/console/orders.ndjson", "/console/orders/{reference}/files/{name}",
	"/console/operator/orders/{merchant}/{reference}/files/{name}",
}

// TestConsolePages checks that the lists have every page of the console.
func TestConsolePages(t *testing.T) {
	routes, signIn := console.Console{Audience: console.Merchants | console.Operators, BaseURL: "http://localhost", KnowsURL: true, Digests: new(digest.Service)}.Routes()
	posts, gets := make(map[string]bool), make(map[string]bool)
	for _, route := range append(routes.Routes, signIn...) {
		pattern := routes.Prefix + route.Path()
		if route.Path() == "/{$}" {
			pattern = route.Path()
		}
		if route.Method() == http.MethodPost {
			posts[pattern] = true
		} else {
			gets[pattern] = true
		}
	}
	mux := http.NewServeMux()
	for pattern := range gets {
		mux.HandleFunc(pattern, func(http.ResponseWriter, *http.Request) {})
	}
	for _, pages := range [][]consolePage{publicPages, merchantPages, operatorPages} {
		for _, page := range pages {
			target := testenv.Of(url.Parse("http://127.0.0.1" + page.path)).Must(t)
			_, pattern := mux.Handler(&http.Request{Method: http.MethodGet, URL: target, Host: target.Host})
			delete(gets, pattern)
		}
	}
	for _, pattern := range otherRoutes {
		delete(gets, pattern)
	}
	for pattern := range gets {
		// The addresses of forms lead to their pages.
		if !posts[pattern] {
			t.Errorf("no picture is taken of %s", pattern)
		}
	}
}

// send returns a script that sends a form with other values, whatever the browser thinks
// of them.
func send(form string, values ...string) string {
	script := fmt.Sprintf(`(() => { const form = document.querySelector(%q);`, form)
	for i := 0; i < len(values); i += 2 {
		script += fmt.Sprintf(`
			form.querySelectorAll("[name=%[1]s]").forEach(field => field.removeAttribute("name"));
			form.append(Object.assign(document.createElement("input"), {type: "hidden", name: %[1]q, value: %[2]q}));`, values[i], values[i+1])
	}
	return script + `form.submit(); return true })()`
}

// prepareConsole starts a server with the demo's orders, with an order with files and an
// extreme one, and a webhook with deliveries that failed. It returns it with a token
// that may do everything.
func prepareConsole(t *testing.T) (*apptest.Server, string) {
	t.Helper()
	s := apptest.Start(t, "--demo", "--base-url", "http://localhost", "--smtp", "smtp://localhost:1", "--smtp-from", "orders@example.com")
	s.Import(t, extremeOrder(), orderWithFiles())
	all := s.Folder.Token(t, "--merchant", "355", "--scopes", allScopes, "--label", "Ταμείο "+strings.Repeat("x", 80))
	for _, name := range []string{"invoice.pdf", strings.Repeat("long", 40) + ".png", "τιμολόγιο.jpg"} {
		post(t, s, all, "/v2/orders/FILES/invoices", `{"filename":"`+name+`","contentBase64":"eA=="}`)
	}
	address := "https://shop.example/hook?" + strings.Repeat("a=1&", 60)
	post(t, s, all, "/v2/webhooks", `{"url":"`+address+`","description":"`+strings.Repeat("Αποθήκη ", 12)+`"}`)
	post(t, s, all, "/v2/webhooks/1/test", `{}`)
	post(t, s, all, "/v2/webhooks/1/redeliver", `{"event":1}`)
	return s, all
}

// post sends a request to the interface.
func post(t *testing.T, s *apptest.Server, token, path, body string) {
	t.Helper()
	got := testenv.Send(t, token, http.MethodPost, s.Address(path), body, "Content-Type", "application/json")
	if got.Status >= http.StatusBadRequest {
		t.Fatalf("POST %s: %+v", path, got)
	}
}

// orderWithFiles is an order for files.
func orderWithFiles() []byte {
	return ingesttest.Document(2, func(document map[string]any) { document["reference"], document["state"] = "FILES", "in-processing" })
}

// visit opens a page, and sends its form if it has one to be sent.
func (c consolePage) visit(t *testing.T, page *tab, base string) {
	t.Helper()
	page.run(t, chromedp.Navigate(base+c.path), chromedp.WaitVisible(chromedp.CSS("main h1")))
	if c.submit != "" {
		value(t, page, chromedp.WaitEvent(cdppage.LoadEventFired, nil, chromedp.Evaluate[bool](c.submit)))
		page.run(t, chromedp.WaitVisible(chromedp.CSS("main h1")))
	}
	page.forgive("status of 40") // pages that say what is wrong
	page.forgive("status of 422")
	page.forgive("does not conform") // a day that no browser sends
}
