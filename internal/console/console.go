// Package console serves pages for people: a merchant's staff see what is new, answer
// orders and add invoice files in a browser. The pages are rendered on the server,
// work without scripts and are embedded in the program; they load nothing from
// elsewhere.
//
// The pages do what the interfaces do, through the same services and rules. The
// package holds no business rule and no SQL.
package console

import (
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"merchantorders/internal/delivery/digest"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/identity"
	"merchantorders/internal/lru"
	"merchantorders/internal/metrics"
	"merchantorders/internal/order"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
	"merchantorders/internal/web/ratelimit"
)

// Console serves the pages.
type Console struct {
	order.Services
	Sessions *token.Sessions
	Tokens   *token.Registry
	Webhooks *webhook.Service
	Digests  *digest.Service    // nil: there is no mail server for e-mails to stores
	Identity *identity.Provider // by which people sign in; nil: none
	Limits   *ratelimit.Limiter // nil: no rate limits
	Metrics  *metrics.Metrics
	Log      *slog.Logger // gets failures that a page shows without their cause
	// Background is for work that goes on after its request, until the server stops.
	Background *sync.WaitGroup
	// BaseURL is the URL of the service. Its path is the prefix of every link; https
	// makes the cookies secure also behind a proxy that ends TLS.
	BaseURL string
	// KnowsURL says that browsers reach the service at BaseURL, and that it is not only how
	// this machine does.
	KnowsURL bool
	// Proxies are those that tell whether a browser uses https, if BaseURL does not.
	Proxies web.TrustedProxies
	// Now is the clock that orders the sign-ins with a passkey. Orders.Now has whole seconds.
	Now func() time.Time
	// MerchantURL is the URL at which merchants sign in, for login links. Empty: BaseURL.
	MerchantURL string
	Audience    Audience
	// TimeZone is that of merchants that have chosen none.
	TimeZone *time.Location
	// DeadlineWarnings says that the service writes events of orders near their deadline.
	DeadlineWarnings bool
}

// Audience says who may sign in. The pages for operators exist only for Operators.
type Audience uint8

// The audiences. A Console may serve both.
const (
	Merchants Audience = 1 << iota
	Operators
)

// Prefix is the prefix of all pages but the sign-in.
const Prefix = "/console"

// site is a Console with what is made from it once.
type site struct {
	Console
	root      string // path of BaseURL
	https     bool   // browsers reach the service with https
	templates *lru.Made[language, func() *template.Template]
	assets    map[string]asset
	passkeys  *identity.Passkeys // nil: browsers have none for the address
	answering sync.Map           // keys of forms whose work goes on, by merchant
}

func newSite(c Console) *site {
	s := &site{Console: c, assets: loadAssets()}
	s.templates = lru.NewMade(maxTemplates, s.templatesOf)
	if base, err := url.Parse(c.BaseURL); err == nil {
		s.root, s.https = strings.TrimSuffix(base.EscapedPath(), "/"), base.Scheme == "https"
	}
	if c.KnowsURL {
		s.passkeys = identity.NewPasskeys(c.BaseURL, c.Now)
	}
	if s.MerchantURL == "" {
		s.MerchantURL = s.BaseURL
	}
	return s
}

// Routes returns the routes below Prefix, and those of the sign-in, which belong to
// the group with the empty prefix.
func (c Console) Routes() (pages web.RouteGroup, signIn []web.Route) {
	s := newSite(c)
	pages = web.RouteGroup{
		Prefix:      Prefix,
		Errors:      s.encodeError,
		Credentials: cookies{s},
		Routes: []web.Route{
			web.GetRoute("", web.Authenticated(), s.overview),
			get("/webhooks", order.ScopeWebhooks, s.webhooks),
			post("/webhooks", order.ScopeWebhooks, s.addWebhook),
			get("/webhooks/{webhook}", order.ScopeWebhooks, s.webhook),
			post("/webhooks/{webhook}", order.ScopeWebhooks, s.changeWebhook),
			get("/webhooks/{webhook}/remove", order.ScopeWebhooks, s.askRemoveWebhook),
			get("/people", order.ScopeTokens, s.people),
			post("/people", order.ScopeTokens, s.invite),
			post("/people/end", order.ScopeTokens, s.endSession),
			get("/store", order.ScopeTokens, s.store),
			post("/store", order.ScopeTokens, s.changeStore),
			get("/live", order.ScopeOrdersRead, s.live),
			get("/new", order.ScopeOrdersRead, s.queue),
			get("/find", order.ScopeOrdersRead, s.findAhead),
			get("/ship", order.ScopeOrdersRead, s.ship),
			get("/pick", order.ScopeOrdersRead, s.papers("pick")),
			web.FormRoute("/new", web.Merchants(order.ScopeOrdersRead|order.ScopeOrdersWrite), maxAllForm, s.answerSelected),
			get("/invoices", order.ScopeOrdersRead|order.ScopeInvoicesWrite, s.invoices),
			web.PostRoute("/invoices", web.Merchants(order.ScopeOrdersRead|order.ScopeInvoicesWrite), s.storeInvoices).AsUpload(),
			web.ExportRoute("/invoices.xlsx", web.Merchants(order.ScopeOrdersRead|order.ScopeInvoicesWrite), s.export(".xlsx", sheetType, s.pagesWithoutInvoice, s.beginSheet)),
			get("/orders", order.ScopeOrdersRead, s.list),
			post("/orders", order.ScopeOrdersRead, s.keepView),
			web.ExportRoute("/orders.xlsx", web.Merchants(order.ScopeOrdersRead), s.export(".xlsx", sheetType, s.selectedPages, s.beginSheet)),
			web.ExportRoute("/orders.ndjson", web.Merchants(order.ScopeOrdersRead), s.export(".ndjson", web.LinesType, s.pages, newNDJSONExport)),
			get("/orders/{reference}", order.ScopeOrdersRead, s.order),
			post("/orders/{reference}/accept", order.ScopeOrdersRead|order.ScopeOrdersWrite, web.FormHandler(s.accept).OfRevision()),
			post("/orders/{reference}/reject", order.ScopeOrdersRead|order.ScopeOrdersWrite, web.FormHandler(s.reject).OfRevision()),
			post("/orders/{reference}/own", order.ScopeOrdersRead|order.ScopeOrdersWrite, web.FormHandler(s.changeMerchantData).OfRevision()),
			web.PostRoute("/orders/{reference}/files", web.Merchants(order.ScopeOrdersRead|order.ScopeInvoicesWrite), s.uploadFiles).AsUpload(),
			get("/orders/{reference}/files/{name}", order.ScopeOrdersRead, s.file),
			get("/orders/{reference}/withdraw/{id}", order.ScopeOrdersRead|order.ScopeInvoicesWrite, s.askWithdraw),
			post("/orders/{reference}/withdraw/{id}", order.ScopeOrdersRead|order.ScopeInvoicesWrite, s.withdraw),
			get("/print", order.ScopeOrdersRead, s.papers("print")),
			get("/orders/{reference}/print", order.ScopeOrdersRead, s.print),
			web.PublicRoute(http.MethodGet, "/assets/{asset}", s.asset),
			web.PublicRoute(http.MethodPost, "/language", s.setLanguage),
			web.PublicRoute(http.MethodPost, "/sign-out", s.signOut),
			web.PublicRoute(http.MethodGet, "/login/{secret}", s.loginLink),
			web.PublicRoute(http.MethodPost, "/login/{secret}", s.useLoginLink),
		},
	}
	pages.Routes = append(pages.Routes, s.tokenRoutes(get, post)...)
	if c.Digests != nil {
		pages.Routes = append(pages.Routes, s.mailRoutes()...)
	}
	if c.Audience&Operators != 0 {
		pages.Routes = append(pages.Routes, s.operatorRoutes()...)
	}
	if c.Identity != nil {
		pages.Routes = append(pages.Routes, web.PublicRoute(http.MethodGet, identityPath, s.toProvider),
			web.PublicRoute(http.MethodGet, identityPath+"/callback", s.fromProvider))
	}
	if s.passkeys != nil {
		pages.Routes = append(pages.Routes, s.passkeyRoutes()...)
	}
	pages.Routes = append(pages.Routes, s.formPages(pages.Routes)...)
	const root = "/{$}"
	signIn = []web.Route{
		web.PublicRoute(http.MethodGet, root, s.signInPage).WithErrors(s.encodeError),
		web.PublicRoute(http.MethodPost, root, s.signIn).WithErrors(s.encodeError),
	}
	return pages, signIn
}
