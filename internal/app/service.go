package app

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"merchantorders/internal/api/invoiceapi"
	"merchantorders/internal/api/operator"
	"merchantorders/internal/api/storageapi"
	v1 "merchantorders/internal/api/v1"
	v2 "merchantorders/internal/api/v2"
	"merchantorders/internal/api/webhookapi"
	"merchantorders/internal/config"
	"merchantorders/internal/console"
	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/digest"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/docpages"
	"merchantorders/internal/identity"
	"merchantorders/internal/mail"
	"merchantorders/internal/metrics"
	"merchantorders/internal/order"
	httpserver "merchantorders/internal/server"
	"merchantorders/internal/token"
	"merchantorders/internal/tracing"
	"merchantorders/internal/web"
	"merchantorders/internal/web/ratelimit"
	"merchantorders/internal/web/respcache"
)

// Store is a database as the services need it; *store.DB implements it.
type Store interface {
	order.Stores
	token.Store
	token.SessionStore
	webhook.Store
	digest.Store
	// Ping returns an error if the database is out of reach.
	Ping(ctx context.Context) error
}

// Deps are what a Service is made of. The settings are valid.
type Deps struct {
	Store    Store
	Files    order.Files // nil: no method that needs files may be called
	Now      func() time.Time
	Log      *slog.Logger
	Settings config.Config

	// The others may be zero.
	Flags     config.Serve     // for Handlers
	Metrics   *metrics.Metrics // nil: new ones
	CacheSize int              // of the response cache, in bytes; 0: nothing is cached
	Poster    webhook.Poster   // nil: over HTTP
	Mailer    digest.Mailer    // nil: through the mail server of Flags, if there is one
	Tracing   *tracing.Tracing // nil: off
}

// Service is the whole service on a database and a storage: what commands call, and the
// handlers of the ports. serve and the tests of the interfaces run the same one.
type Service struct {
	Deps
	order.Services
	Tokens   *token.Registry
	Sessions *token.Sessions // at the console
	Webhooks *webhook.Service
	Digests  *digest.Service  // nil: there is no mail server
	Worker   *delivery.Worker // delivers while its Run does

	mails      *currentMailer         // nil: the settings have no mail server
	oidcSecret atomic.Pointer[string] // of the service at the identity provider
	cache      *respcache.Cache
	limits     *ratelimit.Limiter
	health     *httpserver.Health
	encoder    *v2.EventEncoder // of webhooks
	// background is work of requests that goes on after them.
	background sync.WaitGroup
	// stopping says that the server is about to stop; requests are still served.
	stopping atomic.Bool
}

// NewService returns the service. It starts nothing.
func NewService(d Deps) *Service {
	if d.Metrics == nil {
		d.Metrics = metrics.New()
	}
	if d.Poster == nil {
		d.Poster = webhook.NewClient(d.Flags.WebhookAllowPrivate)
	}
	baseURL, _ := d.Settings.Addresses("")
	var current *currentMailer
	if client := MailClient(d.Flags, baseURL); client != nil && d.Mailer == nil {
		current = newCurrentMailer(client)
		d.Mailer = current
	}
	connections := d.Flags.Connections(MaxOpenFiles())
	s := &Service{Deps: d, mails: current, encoder: &v2.EventEncoder{}, cache: respcache.New(d.CacheSize, d.Now), limits: ratelimit.New(d.Flags.Requests(), connections, d.Now)}
	s.oidcSecret.Store(&d.Flags.OIDCClientSecret)
	files, poster := d.Files, d.Poster
	if s.sandbox() {
		poster = twicePoster{poster}
	}
	if d.Tracing != nil {
		files, poster = d.Tracing.Files(files), d.Tracing.Poster(poster)
	}
	s.Services = order.NewServices(d.Store, files, d.Now, d.Log)
	s.Orders.LimitWaiters(connections)
	s.Tokens = token.NewRegistry(d.Store, d.Now)
	s.Tokens.MaxLifetime = d.Settings.MaxTokenLifetime.Value()
	s.Sessions = token.NewSessions(d.Store, s.Tokens)
	changed := func(merchantID int64) { s.Worker.Added(merchantID) }
	s.Webhooks = webhook.NewService(webhook.Options{
		Store: d.Store, Poster: poster, Encoder: s.encoder, Now: d.Now, Log: d.Log, AllowPrivate: d.Flags.WebhookAllowPrivate, Changed: changed,
	})
	senders := map[delivery.Kind]delivery.Sender{webhook.Kind: s.Webhooks}
	if d.Mailer != nil {
		texts := console.MailTexts{BaseURL: baseURL, TimeZone: d.Flags.Zone()}
		s.Digests = digest.NewService(digest.Options{Store: d.Store, Mailer: d.Mailer, Texts: texts, Now: d.Now, Log: d.Log, Changed: changed})
		senders[digest.Kind] = s.Digests
	}
	s.Worker = delivery.NewWorker(delivery.Options{Store: d.Store, Senders: senders, Now: d.Now, Random: rand.Float64, Log: d.Log})
	s.Orders.OnChange(s.Worker.Changed)
	_, bucket := d.Settings.Bucket()
	s.health = httpserver.NewHealth(httpserver.Readiness{
		Database: func(ctx context.Context) error { return d.Store.Ping(ctx) },
		Storage:  (&storageCheck{files: d.Files, now: d.Now}).run,
		// Without its folder the server can hardly do anything.
		StorageRequired: !bucket || d.Flags.ReadyRequiresStorage,
		Stopping:        s.stopping.Load,
	})
	return s
}

// MailClient returns a client of the mail server of the settings; nil: there is none.
func MailClient(flags config.Serve, baseURL string) *mail.Client {
	server, ok := flags.MailServer()
	if !ok {
		return nil
	}
	return mail.NewClient(mail.Options{
		Host: server.Host, Port: server.Port, TLS: server.TLS, Plain: server.Local && !server.TLS, Hello: flags.MailHello(baseURL),
		User: flags.SMTPUser, Password: flags.SMTPPassword, From: flags.SMTPFrom,
	})
}

// identity returns the identity provider, whose secret a reload may change; nil: there is none.
func (s *Service) identity() *identity.Provider {
	provider := s.Flags.Identity(s.Now)
	if provider != nil {
		provider.Secret = func() string { return *s.oidcSecret.Load() }
	}
	return provider
}

// WaitForWork waits for the work of requests that goes on after them: it ends soon after the
// server has begun to stop.
func (s *Service) WaitForWork() { s.background.Wait() }

// sandbox reports whether integrators rehearse with the server.
func (s *Service) sandbox() bool { return s.Flags.Sandbox || s.Flags.Demo }

// Handlers returns the handlers of the main port, whose URL is local, and of the admin
// port. What is for operators is on the admin port only: no request shows whether a proxy has
// passed it on.
func (s *Service) Handlers(local string) (main, admin http.Handler) {
	_, adminGroups := s.groups(local)
	router := s.routerConfig(local)
	router.Origin = config.Origin(s.Settings.AdminURL()) // not that of the pages for merchants
	return s.MainHandler(local, console.Merchants), s.strictTransport(router, s.Settings.AdminURL(), adminGroups)
}

// MainHandler returns the handler of the main port for an audience. Tests of the interfaces
// serve everything on one port.
func (s *Service) MainHandler(local string, audience console.Audience) http.Handler {
	mainGroups, _ := s.groups(local)
	baseURL, _ := s.Settings.Addresses(local)
	return s.strictTransport(s.routerConfig(local), baseURL, mainGroups(audience))
}

// strictTransport returns the handler of a port that browsers reach at a URL; empty: it is
// not known.
func (s *Service) strictTransport(config web.RouterConfig, url string, groups []web.RouteGroup) http.Handler {
	https := strings.HasPrefix(url, "https:")
	return web.StrictTransport(s.handler(web.NewRouter(config, groups...)), func(r *http.Request) bool { return https || config.Proxies.HTTPS(r) })
}

// MetricsHandler returns the handler of the port for monitoring: metrics and probes, and
// the profiles if the admin port does not have them. local is the URL of the main port.
func (s *Service) MetricsHandler(local string) http.Handler {
	groups := []web.RouteGroup{s.health.Routes(s.Metrics)}
	if s.Settings.AdminURL() != "" {
		groups = append(groups, httpserver.ProfileRoutes())
	}
	return s.handler(web.NewRouter(s.routerConfig(local), groups...))
}

// handler returns the handler of everything that a router serves.
func (s *Service) handler(router *web.Router) http.Handler {
	var handler http.Handler = router
	if s.sandbox() {
		handler = web.WithFaults(router, router.EncodeError, web.Wait)
	}
	log := web.RequestLog{Logger: s.Log, NoAddresses: s.Flags.HideAddresses, Proxies: s.Flags.Proxies()}
	if s.Tracing == nil {
		return web.Observe(handler, router.EncodeError, log, s.Metrics, s.Now)
	}
	log.Finished = s.Tracing.Finish
	return s.Tracing.Handler(web.Observe(handler, router.EncodeError, log, s.Metrics, s.Now), httpserver.IsMonitoring)
}

func (s *Service) routerConfig(local string) web.RouterConfig {
	baseURL, storageURL := s.Settings.Addresses(local)
	return web.RouterConfig{
		Authenticator: s.Tokens,
		Limits:        s.limits,
		Proxies:       s.Flags.Proxies(),
		ResponseCache: s.cache,
		Metrics:       s.Metrics,
		Refuse:        s.Orders.Refuse,
		Origin:        config.Origin(baseURL),
		ViewVersion:   web.ViewVersion(v1.ViewVersion, v2.ViewVersion, baseURL, storageURL, s.Settings.ErrorCodes),
	}
}

// groups returns the routes of the admin port, and a function that returns those of the
// main port for an audience. What both have is made once.
func (s *Service) groups(local string) (main func(console.Audience) []web.RouteGroup, admin []web.RouteGroup) {
	baseURL, storageURL := s.Settings.Addresses(local)
	invoices := invoiceapi.Endpoints{Orders: s.Orders, Metrics: s.Metrics, StorageURL: storageURL}
	additions := invoices
	additions.Additions = true
	stored := storageapi.API{Orders: s.Orders, Links: s.Links, Metrics: s.Metrics}
	webhooks := webhookapi.API{Webhooks: s.Webhooks}
	operators := operator.API{
		Services: s.Services, Tokens: s.Tokens, Log: s.Log, Webhooks: webhooks, Sessions: s.Sessions, BaseURL: baseURL,
		OrderView: func(o order.Order) any { return v2.NewOrderView(o, storageURL) }, EventViews: v2.NewEventViews,
		MarketEventViews: func(events []order.EventRecord, orders bool) any {
			return v2.NewMarketEventViews(events, orders, storageURL)
		},
	}.Routes()
	adminURL := s.Settings.AdminURL()
	merchantPages, allPages := docpages.PageRoutes(baseURL, false), docpages.PageRoutes(baseURL, true)
	adminPages := docpages.PageRoutes(adminURL, true)
	shared := []web.RouteGroup{
		v1.API{Endpoints: invoices, BaseURL: baseURL}.Routes(),
		v2.API{
			Endpoints: additions, Links: s.Links, BaseURL: baseURL, TableCodes: s.Settings.ErrorCodes == config.Table, Webhooks: webhooks,
			Tokens: s.Tokens, Sessions: s.Sessions, Log: s.Log, Sandbox: s.sandbox(),
		}.Routes(),
		stored.Routes(), stored.LinkRoutes(),
		docpages.DocumentRoutes(s.Settings.BaseURL),
	}
	people := console.Console{
		Services: s.Services, Sessions: s.Sessions, Tokens: s.Tokens, Webhooks: s.Webhooks, Limits: s.limits, Metrics: s.Metrics, Log: s.Log, Now: s.Now,
		MerchantURL: baseURL, Proxies: s.Flags.Proxies(), Audience: console.Operators, BaseURL: adminURL, KnowsURL: adminURL != "", Identity: s.identity(), TimeZone: s.Flags.Zone(),
		Digests: s.Digests, Background: &s.background, DeadlineWarnings: s.Flags.DeadlineWarning.Value() > 0,
	}
	operatorPages, operatorSignIn := people.Routes()
	adminRoot := s.health.DetailedRoutes(nil)
	if adminURL == "" { // Otherwise a proxy may pass all requests on.
		adminRoot = s.health.DetailedRoutes(s.Metrics)
		admin = append(admin, httpserver.ProfileRoutes())
	}
	adminRoot.Routes = append(adminRoot.Routes, operatorSignIn...)
	adminOperators := operators
	adminOperators.Interface = "The interface of operators" // the main port has none
	admin = append(admin, adminOperators, docpages.DocumentRoutes(adminURL), operatorPages, adminRoot)
	admin = append(admin, adminPages...)
	return func(audience console.Audience) []web.RouteGroup {
		staff := people
		staff.BaseURL, staff.KnowsURL, staff.Audience = baseURL, s.Settings.BaseURL != "", audience
		staffPages, signIn := staff.Routes()
		groups, root := slices.Concat(shared, []web.RouteGroup{staffPages}), s.health.Routes(nil)
		if audience&console.Operators != 0 {
			groups, root = slices.Concat(groups, []web.RouteGroup{operators}, allPages), s.health.Routes(s.Metrics)
		} else {
			groups = append(groups, merchantPages...)
		}
		root.Routes = append(root.Routes, httpserver.SecurityRoute(s.Flags.SecurityContact, s.Now))
		root.Routes = append(root.Routes, signIn...)
		return append(groups, root)
	}, admin
}
