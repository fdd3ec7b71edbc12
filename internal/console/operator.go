package console

import (
	"net/http"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// operatorPrefix is the prefix of the pages for operators.
const operatorPrefix = Prefix + "/operator"

// sections are the pages that the navigation of operators leads to, with the scopes one
// of which each needs. The names are segments of paths and parts of message keys.
var sections = []struct {
	name   string
	scopes token.Scope
}{
	{"orders", token.OrdersRead},
	{"imports", token.OrdersIngest | token.OrdersTransition},
	{"merchants", token.Merchants},
	{"tokens", token.Tokens},
	{"webhooks", token.Webhooks},
	{"audit", token.Audit},
	{"customers", token.CustomerData},
}

// operatorRoutes returns the routes for operators.
func (s *site) operatorRoutes() []web.Route {
	get := func(path string, scope token.Scope, handle handler) web.Route {
		return web.PublicRoute(http.MethodGet, "/operator"+path, s.signedIn(access{scope: scope, operator: true}, handle))
	}
	post := func(path string, scope token.Scope, handle handler) web.Route {
		return web.PublicRoute(http.MethodPost, "/operator"+path, s.signedIn(access{scope: scope, operator: true}, handle))
	}
	file := func(path string, scope token.Scope, handle handler) web.Route {
		return web.PublicRoute(http.MethodPost, "/operator"+path, s.signedIn(access{scope: scope, operator: true, upload: true}, handle))
	}
	return []web.Route{
		get("", 0, s.operatorHome),
		get("/imports", 0, s.imports),
		file("/imports/orders", token.OrdersIngest, s.importOrders),
		file("/imports/changes", token.OrdersTransition, s.importChanges),
		get("/merchants", token.Merchants, s.merchants),
		post("/merchants", token.Merchants, s.addMerchant),
		get("/merchants/{merchant}", token.Merchants, s.merchant),
		post("/merchants/{merchant}/rename", token.Merchants, s.renameMerchant),
		post("/merchants/{merchant}/suspend", token.Merchants, s.suspendMerchant),
		post("/merchants/{merchant}/resume", token.Merchants, s.resumeMerchant),
		post("/merchants/{merchant}/login-link", token.Merchants|token.Tokens, s.makeLoginLink),
		get("/orders", token.OrdersRead, s.operatorSearch),
		get("/orders/{merchant}/{reference}", token.OrdersRead, s.operatorOrder),
		post("/orders/{merchant}/{reference}/state", token.OrdersRead|token.OrdersTransition, s.transition),
		post("/orders/{merchant}/{reference}/correct", token.OrdersRead|token.OrdersTransition, s.correct),
		get("/orders/{merchant}/{reference}/files/{name}", token.OrdersRead, s.file),
		get("/tokens", token.Tokens, s.tokens),
		post("/tokens", token.Tokens, s.createToken),
		get("/tokens/{token}/rotate", token.Tokens, s.askToken(true)),
		post("/tokens/{token}/rotate", token.Tokens, s.rotateToken),
		get("/tokens/{token}/revoke", token.Tokens, s.askToken(false)),
		post("/tokens/{token}/revoke", token.Tokens, s.revokeToken),
		get("/webhooks", token.Webhooks, s.operatorWebhooks),
		get("/webhooks/{merchant}/{webhook}", token.Webhooks, s.webhook),
		post("/webhooks/{merchant}/{webhook}", token.Webhooks, s.changeWebhook),
		get("/webhooks/{merchant}/{webhook}/remove", token.Webhooks, s.askRemoveWebhook),
		get("/customers", token.CustomerData, s.erasePage),
		post("/customers", token.CustomerData, s.askErase),
		post("/customers/erase", token.CustomerData, s.erase),
		get("/audit", token.Audit, s.audit),
	}
}

// sectionOf returns the section of an operator's page, empty for other paths.
func sectionOf(path string) string {
	rest, _ := strings.CutPrefix(path, operatorPrefix+"/")
	section, _, _ := strings.Cut(rest, "/")
	return section
}

// Sections returns the names of the sections that the scopes of the session allow.
func (l layout) Sections() []string {
	var names []string
	for _, section := range sections {
		if l.Scopes&section.scopes != 0 {
			names = append(names, section.name)
		}
	}
	return names
}

// operatorHome serves GET /operator: it leads to the first section.
func (s *site) operatorHome(w http.ResponseWriter, r *request) error {
	for _, name := range (layout{Scopes: r.grant.Scopes}).Sections() {
		http.Redirect(w, r.Request, s.root+operatorPrefix+"/"+name, http.StatusSeeOther)
		return nil
	}
	return web.ErrForbidden
}

// merchantOf returns the merchant id of the path of an operator's page. An invalid id
// becomes 0, which no merchant has.
func merchantOf(r *request) int64 {
	id, _ := order.ParseID(r.PathValue("merchant"))
	return id
}
