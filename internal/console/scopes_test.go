package console_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/digest"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// Pages that a session may open, by the scopes that each needs: one of them, unless
// all says otherwise.
type pageScopes struct {
	scopes order.Scope
	all    bool
}

var merchantPages = map[string]pageScopes{
	"": {scopes: order.ScopeOrdersRead}, "/new": {scopes: order.ScopeOrdersRead}, "/ship": {scopes: order.ScopeOrdersRead}, "/orders": {scopes: order.ScopeOrdersRead}, "/orders/FIRST": {scopes: order.ScopeOrdersRead},
	"/orders.xlsx": {scopes: order.ScopeOrdersRead}, "/orders/FIRST/print": {scopes: order.ScopeOrdersRead}, "/orders/FIRST/files/a.pdf": {scopes: order.ScopeOrdersRead},
	"/invoices.xlsx":           {scopes: order.ScopeOrdersRead | order.ScopeInvoicesWrite, all: true},
	"/invoices":                {scopes: order.ScopeOrdersRead | order.ScopeInvoicesWrite, all: true},
	"/orders/FIRST/withdraw/1": {scopes: order.ScopeOrdersRead | order.ScopeInvoicesWrite, all: true},
	"/store":                   {scopes: order.ScopeTokens},
	"/tokens":                  {scopes: order.ScopeTokens}, "/tokens/1/rotate": {scopes: order.ScopeTokens}, "/tokens/1/revoke": {scopes: order.ScopeTokens},
	"/mail": {scopes: order.ScopeWebhooks}, "/webhooks": {scopes: order.ScopeWebhooks}, "/webhooks/1": {scopes: order.ScopeWebhooks}, "/webhooks/1/remove": {scopes: order.ScopeWebhooks},
}

var operatorPages = map[string]pageScopes{
	"/operator": {scopes: order.ScopeOrdersRead | order.ScopeWebhooks}, "/operator/orders": {scopes: order.ScopeOrdersRead}, "/operator/orders/355/FIRST": {scopes: order.ScopeOrdersRead},
	"/operator/imports": {scopes: order.ScopeOrdersIngest | order.ScopeOrdersTransition}, "/operator/merchants": {scopes: order.ScopeMerchants},
	"/operator/merchants/355": {scopes: order.ScopeMerchants}, "/operator/tokens": {scopes: order.ScopeTokens}, "/operator/tokens/1/revoke": {scopes: order.ScopeTokens},
	"/operator/tokens/people": {scopes: order.ScopeTokens}, "/operator/tokens/1/rotate": {scopes: order.ScopeTokens}, "/operator/audit": {scopes: order.ScopeAudit}, "/operator/customers": {scopes: order.ScopeCustomerData},
	"/operator/webhooks": {scopes: order.ScopeWebhooks}, "/operator/webhooks/355/1": {scopes: order.ScopeWebhooks}, "/operator/webhooks/355/1/remove": {scopes: order.ScopeWebhooks},
}

// allowed reports whether scopes open a page.
func (p pageScopes) allowed(scopes order.Scope) bool {
	if p.all {
		return scopes&p.scopes == p.scopes
	}
	return scopes&p.scopes != 0
}

var (
	states  = regexp.MustCompile(`<option value="([a-z-]+)"`)
	links   = regexp.MustCompile(`<a [^>]*href="(/console[^"#]*)"`)
	actions = regexp.MustCompile(`<form [^>]*method="post"[^>]*action="(/console[^"]*)"|<form [^>]*action="(/console[^"]*)"[^>]*method="post"`)
)

// crawl opens every page that links and filters by state lead to from a page, and
// returns their paths and where their forms go.
func (b *browser) crawl(t *testing.T, name, from string) (pages, forms map[string]bool) {
	t.Helper()
	pages, forms = make(map[string]bool), make(map[string]bool)
	seen := make(map[string]bool)
	for open := []string{from}; len(open) > 0; open = open[1:] {
		path, query, _ := strings.Cut(open[0], "?")
		if seen[path] && !strings.HasPrefix(query, "state=") || seen[open[0]] {
			continue
		}
		seen[path], seen[open[0]] = true, true
		got := b.get(open[0])
		if got.Status == http.StatusSeeOther {
			open = append(open, got.location())
			continue
		}
		pages[path] = true
		if got.Status != http.StatusOK {
			t.Errorf("%s: %s is linked and answers %d", name, open[0], got.Status)
			continue
		}
		if strings.HasPrefix(got.Header.Get("Content-Type"), "text/html") {
			checkPage(t, open[0], got)
		}
		for _, found := range links.FindAllStringSubmatch(got.Body, -1) {
			open = append(open, html.UnescapeString(found[1]))
		}
		if _, filter, found := strings.Cut(got.Body, `method="get"`); found {
			filter, _, _ = strings.Cut(filter, "</form>")
			for _, state := range states.FindAllStringSubmatch(filter, -1) {
				open = append(open, path+"?state="+state[1])
			}
		}
		for _, found := range actions.FindAllStringSubmatch(got.Body, -1) {
			if action := found[1] + found[2]; !strings.HasSuffix(action, "/language") && !strings.HasSuffix(action, "/sign-out") {
				forms[action] = true
			}
		}
	}
	return pages, forms
}

// TestScopesAndLinks follows all links with each scope alone, and with all of them: they
// lead exactly to the pages that the scopes open, and no form is offered that is refused.
func TestScopesAndLinks(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "FIRST"))
	s.signedIn(s.token).upload("/console/orders/FIRST", "a.pdf", "content")
	testenv.Of(s.Webhooks.Add(t.Context(), order.CommandFor(ours), ours, webhook.Change{URL: new("https://example.com/hook")}, nil, order.Options[webhook.Endpoint]{})).Must(s.T)
	testenv.Of(s.Webhooks.Change(t.Context(), order.CommandFor(ours), delivery.Key{MerchantID: ours, ID: 1}, webhook.Change{Enabled: new(false)}, order.Options[webhook.Endpoint]{})).Must(s.T)
	testenv.Of(s.Digests.Add(t.Context(), order.CommandFor(ours), digest.Address{Cursor: delivery.Cursor{Key: delivery.Key{MerchantID: ours}, Types: 1}, Email: "a@example.com", Language: "en"}, "", order.Options[digest.Address]{})).Must(s.T)
	check := func(name string, b *browser, scopes order.Scope, all, others map[string]pageScopes, allForms map[string]bool) map[string]bool {
		pages, forms := map[string]bool{}, map[string]bool{}
		if home := b.home(); b.get(home).Status == http.StatusOK {
			pages, forms = b.crawl(t, name, home)
		}
		for path, page := range all {
			path = "/console" + path
			want, status := page.allowed(scopes), b.get(path).Status
			if got := status == http.StatusOK; got != want || pages[path] != want {
				t.Errorf("%s: %s answers %d and is linked: %t, want %t", name, path, status, pages[path], want)
			}
		}
		for path := range others {
			if path != "" { // leads operators to their first page
				b.get("/console"+path).WantStatus(t, http.StatusForbidden)
			}
		}
		for action := range allForms {
			if got := b.post(action, nil); (got.Status == http.StatusForbidden) == forms[action] || got.Status == http.StatusNotFound {
				t.Errorf("%s: the form of %s is offered: %t, and answers %d", name, action, forms[action], got.Status)
			}
		}
		return forms
	}
	forms := check("merchant", s.signedIn(s.NewToken(ours, order.MerchantScopes)), order.MerchantScopes, merchantPages, operatorPages, nil)
	for _, name := range order.MerchantScopes.Names() {
		scope := testenv.Of(order.ParseScopes([]string{name}, order.MerchantScopes)).Must(s.T)
		check("merchant "+name, s.signedIn(s.NewToken(ours, scope)), scope, merchantPages, operatorPages, forms)
	}
	s.signedIn(s.NewToken(ours, order.ScopeOrdersWrite)).get("/console/live").WantStatus(t, http.StatusForbidden)
	forms = check("operator", s.operator(order.OperatorScopes), order.OperatorScopes, operatorPages, merchantPages, nil)
	for _, name := range order.OperatorScopes.Names() {
		scope := testenv.Of(order.ParseScopes([]string{name}, order.OperatorScopes)).Must(s.T)
		check("operator "+name, s.operator(scope), scope, operatorPages, merchantPages, forms)
	}
}

// home returns the path of the page that a session begins with.
func (b *browser) home() string {
	path := "/console"
	for got := b.get(path); got.Status == http.StatusSeeOther; got = b.get(path) {
		path = got.location()
	}
	return path
}
