package console

import (
	"slices"
	"strings"

	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// operatorPrefix is the prefix of the pages for operators.
const operatorPrefix = Prefix + "/operator"

// base returns the prefix of the pages for whoever sends a request.
func base(r *web.Request) string {
	if r.Caller.Operator() {
		return operatorPrefix
	}
	return Prefix
}

// section is a page that the navigation of operators leads to, with the scopes one of
// which it needs. The name is a part of message keys and, but of the first page, a segment
// of the path.
type section struct {
	Name   string
	scopes order.Scope
}

// Path returns the path of the page, below the root.
func (s section) Path() string {
	if s.Name == attentionSection {
		return operatorPrefix
	}
	return operatorPrefix + "/" + s.Name
}

// attentionSection is the section of the page that operators begin with.
const attentionSection = "attention"

var sections = []section{
	{attentionSection, order.ScopeOrdersRead | order.ScopeWebhooks},
	{"orders", order.ScopeOrdersRead},
	{"imports", order.ScopeOrdersIngest | order.ScopeOrdersTransition},
	{"merchants", order.ScopeMerchants},
	{"tokens", order.ScopeTokens},
	{"webhooks", order.ScopeWebhooks},
	{"audit", order.ScopeAudit},
	{"customers", order.ScopeCustomerData},
}

// operatorRoutes returns the routes for operators.
func (s *site) operatorRoutes() []web.Route {
	get := func(path string, scope order.Scope, handle web.Handler) web.Route {
		return web.GetRoute("/operator"+path, web.Operators(scope), handle)
	}
	form := func(path string, scope order.Scope, limit int64, handle web.FormHandler) web.Route {
		return web.FormRoute("/operator"+path, web.Operators(scope), limit, handle)
	}
	post := func(path string, scope order.Scope, handle web.FormHandler) web.Route {
		return form(path, scope, web.MaxBody, handle)
	}
	file := func(path string, scope order.Scope, handle web.Handler) web.Route {
		return web.PostRoute("/operator"+path, web.Operators(scope), handle).AsUpload()
	}
	return append(s.tokenRoutes(get, post),
		get("", 0, s.attention),
		get("/imports", 0, s.imports),
		file("/imports/orders", order.ScopeOrdersIngest, s.importOrders),
		file("/imports/changes", order.ScopeOrdersTransition, s.importChanges),
		get("/merchants", order.ScopeMerchants, s.merchants),
		post("/merchants", order.ScopeMerchants, s.addMerchant),
		get("/merchants/{merchant}", order.ScopeMerchants, s.merchant),
		post("/merchants/{merchant}/rename", order.ScopeMerchants, s.renameMerchant),
		post("/merchants/{merchant}/time-zone", order.ScopeMerchants, s.setTimeZone),
		post("/merchants/{merchant}/limit", order.ScopeMerchants, s.setLimit),
		post("/merchants/{merchant}/suspend", order.ScopeMerchants, s.suspendMerchant),
		post("/merchants/{merchant}/resume", order.ScopeMerchants, s.resumeMerchant),
		post("/merchants/{merchant}/login-link", order.ScopeMerchants|order.ScopeTokens, s.makeLoginLink),
		get("/tokens/people", order.ScopeTokens, s.people),
		post("/tokens/people", order.ScopeTokens, s.invite),
		post("/tokens/people/end", order.ScopeTokens, s.endSession),
		get("/find", order.ScopeOrdersRead, s.findAhead),
		get("/orders", order.ScopeOrdersRead, s.operatorSearch),
		get("/orders/{merchant}/{reference}", order.ScopeOrdersRead, s.operatorOrder),
		post("/orders/{merchant}/{reference}/state", order.ScopeOrdersRead|order.ScopeOrdersTransition, web.FormHandler(s.transition).OfRevision()),
		form("/orders/{merchant}/{reference}/correct", order.ScopeOrdersRead|order.ScopeOrdersTransition, maxCorrection, web.FormHandler(s.correct).OfRevision()),
		get("/orders/{merchant}/{reference}/files/{name}", order.ScopeOrdersRead, s.file),
		get("/webhooks", order.ScopeWebhooks, s.operatorWebhooks),
		get("/webhooks/{merchant}/{webhook}", order.ScopeWebhooks, s.webhook),
		post("/webhooks/{merchant}/{webhook}", order.ScopeWebhooks, s.changeWebhook),
		get("/webhooks/{merchant}/{webhook}/remove", order.ScopeWebhooks, s.askRemoveWebhook),
		get("/customers", order.ScopeCustomerData, s.erasePage),
		web.PostRoute("/operator/customers", web.Operators(order.ScopeCustomerData), s.askErase),
		post("/customers/erase", order.ScopeCustomerData, s.erase),
		get("/audit", order.ScopeAudit, s.audit),
	)
}

// sectionOf returns the name of the section of an operator's page, of no section for
// other paths.
func sectionOf(path string) string {
	if path == operatorPrefix {
		return attentionSection
	}
	rest, _ := strings.CutPrefix(path, operatorPrefix+"/")
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// sectionsOf returns the sections that scopes allow.
func sectionsOf(scopes order.Scope) []section {
	return slices.DeleteFunc(slices.Clone(sections), func(s section) bool { return scopes&s.scopes == 0 })
}

// Sections returns the sections that the scopes of the session allow.
func (l layout) Sections() []section { return sectionsOf(l.Scopes) }

// merchantOf returns the merchant id of the path of an operator's page. An invalid id
// becomes 0, which no merchant has.
func merchantOf(r *web.Request) int64 {
	id, _ := order.ParseID(r.PathValue("merchant"))
	return id
}
