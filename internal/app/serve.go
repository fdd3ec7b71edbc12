package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"merchantorders/internal/api/invoiceapi"
	"merchantorders/internal/api/operator"
	"merchantorders/internal/api/storageapi"
	v1 "merchantorders/internal/api/v1"
	v2 "merchantorders/internal/api/v2"
	"merchantorders/internal/api/webhookapi"
	"merchantorders/internal/config"
	"merchantorders/internal/console"
	"merchantorders/internal/demo"
	"merchantorders/internal/docpages"
	"merchantorders/internal/metrics"
	"merchantorders/internal/order"
	httpserver "merchantorders/internal/server"
	"merchantorders/internal/store"
	"merchantorders/internal/store/migrations"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
	"merchantorders/internal/web/ratelimit"
	"merchantorders/internal/web/respcache"
	"merchantorders/internal/webhook"
)

type serveCommand struct {
	withFiles
	Settings config.Serve `embed:""`
}

func (c *serveCommand) check() error { return c.Settings.Check() }

func (c *serveCommand) run(ctx context.Context, p *process) error {
	err := c.serve(ctx, p)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		// The server was stopped before it was ready.
		return nil
	}
	return err
}

// serve opens the backend, serves until ctx ends, and closes the backend.
func (c *serveCommand) serve(ctx context.Context, p *process) error {
	s := &server{
		process: p, flags: c.Settings, metrics: metrics.New(),
		log: slog.New(c.logHandler(p)),
	}
	if err := s.startTracing(ctx); err != nil {
		return err
	}
	defer s.stopTracing()
	schema := migrations.Options{OnStep: logSteps(s.log)}
	if err := p.allowNew(&schema); err != nil {
		return err
	}
	// Bound before anything is created or migrated. Clients that connect meanwhile
	// wait until the server is ready.
	ports, err := s.bind()
	if err != nil {
		return err
	}
	defer func() { _ = ports.close() }()
	created, err := p.createDataFolder()
	if err != nil {
		return err
	}
	locks, err := p.lockForServe(ctx)
	if err != nil {
		return err
	}
	if err := s.open(ctx, schema); err != nil {
		return errors.Join(err, locks.release())
	}
	if created != "" {
		s.log.Info("data folder created", "path", created)
	}
	if err = s.prepare(ctx, locks); err == nil {
		err = s.serveRequests(ctx, ports)
	}
	if err = errors.Join(err, s.backend.close(), locks.release()); err == nil {
		s.log.Info("stopped")
	}
	return err
}

// logHandler returns the handler that writes the log to standard error.
func (c *serveCommand) logHandler(p *process) slog.Handler {
	options := &slog.HandlerOptions{Level: p.settings.Level()}
	if c.Settings.LogFormat == config.LogText {
		return slog.NewTextHandler(p.stderr, options)
	}
	return slog.NewJSONHandler(p.stderr, options)
}

// logSteps logs each step of the schema.
func logSteps(log *slog.Logger) func(migrations.Step) {
	return func(step migrations.Step) {
		log.Info("schema migrated", "schema", step.Version, "step", step.Name, "ms", step.Took.Milliseconds())
	}
}

// open opens the backend. The bucket is tested first, so that the schema does not
// change if the server cannot start.
func (s *server) open(ctx context.Context, schema migrations.Options) error {
	bucket, err := s.openBucket(ctx)
	if err != nil {
		return err
	}
	schema.BeforeCreate = func(ctx context.Context) error { return s.expectEmptyBucket(ctx, bucket) }
	db, err := s.openDatabase(ctx, store.Options{Observe: s.metrics.Database, Schema: schema, Wrap: s.traceDatabase()})
	if err != nil {
		return err
	}
	files, err := s.openStorage(ctx, bucket, true)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	s.backend = s.newBackend(db, files, s.log)
	return nil
}

// server is one run of serve.
type server struct {
	*process
	*backend
	flags   config.Serve
	log     *slog.Logger
	metrics *metrics.Metrics
	cache   *respcache.Cache
	limits  *ratelimit.Limiter
	health  *httpserver.Health

	webhooks *webhook.Service
	sender   *webhook.Sender
	// stopping says that ctx has ended; requests are still served.
	stopping atomic.Bool
}

// prepare removes the staged files and reservations that crashed servers have
// left, and lets other servers start. If no other server can use them, it removes
// staged files and expires reservations of any age, and ends the leases of webhooks.
func (s *server) prepare(ctx context.Context, locks *serveLocks) error {
	if err := s.db.WatchCommits(ctx); err != nil {
		s.log.Warn("cannot watch the commits of the database; every request reads its token", "error", err)
	}
	// future is a year ahead, since an earlier clock may have been fast.
	old, future := s.now().Add(-order.ReservationTimeout), s.now().AddDate(1, 0, 0)
	staged, reserved := old, old
	if locks.aloneInDatabase() || s.settings.FilesInData() && locks.aloneInFolder() {
		staged = future
	}
	var leases error
	if locks.aloneInDatabase() {
		reserved, leases = future, s.db.ReleaseWebhooks(ctx)
	}
	err := errors.Join(s.files.RemoveStagedFiles(staged), s.expireReservations(ctx, reserved, s.log), leases)
	if err != nil {
		return fmt.Errorf("clean up after a crashed server: %w", err)
	}
	return locks.share(ctx)
}

// serveRequests creates the demo if requested, and serves the requests of the
// listeners until ctx ends.
func (s *server) serveRequests(ctx context.Context, l *listeners) error {
	baseURL, storageURL := s.settings.Addresses(config.LocalURL(l.main.Addr(), l.mainTLS != nil))
	s.startWebhooks() // before the first change
	if s.flags.Demo {
		created, err := s.showDemo(ctx, baseURL)
		if err != nil {
			return err
		}
		if created {
			defer s.startSimulator()()
		}
	}
	options := httpserver.Options{Connections: s.flags.Connections(maxOpenFiles()), Idle: s.flags.Idle()}
	s.announce(l, baseURL, storageURL, options.Connections)
	stop := s.startJanitor(s.flags.PurgeAfter(), s.flags.RetainFor(), s.flags.CancelExpired)
	defer stop()
	defer s.runSender()()
	s.cache = respcache.New(responseCacheSize, s.now)
	s.limits = ratelimit.New(s.flags.Requests(), s.now)
	s.health = s.newHealth()
	defer s.startMonitor().close()
	main, admin := s.routers(baseURL, storageURL, l.operatorsOnMain())
	return s.serveAll(ctx, l, s.handler(main), s.handler(admin), options)
}

// maxOpenFiles returns how many files the process may open, 0 if that is not known.
func maxOpenFiles() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return limit.Cur
}

// cannotListen returns why an address cannot be listened on.
func cannotListen(address string, err error) string {
	var syscallErr *os.SyscallError
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return address + " is in use by another program; stop it, or choose another port"
	case errors.As(err, &syscallErr):
		return "cannot listen on " + address + ": " + syscallErr.Err.Error()
	}
	return "cannot listen on " + address + ": " + oneLine(err.Error())
}

// demoTokenLifetime is short because the token is printed.
const demoTokenLifetime = 24 * time.Hour

// showDemo creates the demo unless it exists, and a token for its merchant, and
// prints the token with three commands to try. ok is false if there is no demo.
func (s *server) showDemo(ctx context.Context, baseURL string) (ok bool, err error) {
	result, err := demo.Prepare(ctx, s.orders, s.now())
	if err != nil {
		return false, fmt.Errorf("create the demo: %w", err)
	}
	if result == demo.Skipped {
		return false, s.print("The data folder already contains merchants: no demo was created.")
	}
	status := "was created with orders in every state. Its token, valid for 24 hours:"
	if result == demo.Exists {
		status = "exists already and was not changed. Another token for it, valid for 24 hours:"
	}
	reference, err := demo.Example(ctx, s.orders)
	if err != nil {
		return false, err
	}
	lifetime := demoTokenLifetime
	if longest := s.tokens.MaxLifetime; longest > 0 {
		lifetime = min(lifetime, longest)
	}
	text, created, err := s.tokens.Create(ctx, demo.MerchantID, order.MerchantScopes, lifetime)
	if err != nil {
		return false, err
	}
	token.LogCreated(s.log, created, slog.String("by", "serve --demo"))
	curl := func(options, path string) string {
		return "  curl " + options + "-H 'Authorization: Bearer " + text + "' " + quoted(baseURL+path)
	}
	_, err = fmt.Fprintf(s.stdout, "The demo merchant %d (%s) %s\n\n  %s\n\nOpen %s in a browser and sign in with it. Or try a list, one order, and accepting it:\n\n%s\n%s\n%s\n\n",
		demo.MerchantID, demo.MerchantName, status, text, baseURL+"/",
		curl("", "/v2/orders?itemsPerPage=3"),
		curl("", "/v2/orders/"+reference),
		curl("-X PATCH ", "/v2/orders/"+reference+"/accept"))
	return true, err
}

// quoted quotes a text for the shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// responseCacheSize is the size of the response cache in bytes: enough for what a
// few thousand clients poll, while the whole process stays below 128 MB.
const responseCacheSize = 24 << 20

// handler returns the handler of everything that a router serves.
func (s *server) handler(router *web.Router) http.Handler {
	log := web.RequestLog{Logger: s.log, NoAddresses: s.flags.HideAddresses, Proxies: s.flags.Proxies()}
	var handler http.Handler = router
	if s.sandbox() {
		handler = web.WithFaults(router, router.EncodeError, wait)
	}
	return s.wrap(s.observe(handler, router.EncodeError, log))
}

// sandbox reports whether integrators rehearse with the server.
func (s *server) sandbox() bool { return s.flags.Sandbox || s.flags.Demo }

// newHealth returns the health of the server.
func (s *server) newHealth() *httpserver.Health {
	_, bucket := s.settings.Bucket()
	return httpserver.NewHealth(httpserver.Readiness{
		Database: s.db.Ping, Storage: s.files.Check,
		// Without its folder the server can hardly do anything.
		StorageRequired: !bucket || s.flags.ReadyRequiresStorage,
		Stopping:        s.stopping.Load,
	})
}

// routers returns the routers of the main port and of the admin port. The main one
// also has what is for operators, if operatorsOnMain is set.
func (s *server) routers(baseURL, storageURL string, operatorsOnMain bool) (main, admin *web.Router) {
	config := web.RouterConfig{
		Authenticator: s.tokens,
		Limits:        s.limits,
		ResponseCache: s.cache,
		Metrics:       s.metrics,
		Refuser:       s.orders,
		ViewVersion:   web.ViewVersion(v1.ViewVersion, v2.ViewVersion, baseURL, storageURL, s.settings.ErrorCodes),
	}
	invoices := invoiceapi.Endpoints{Orders: s.orders, Metrics: s.metrics, StorageURL: storageURL}
	stored := storageapi.API{Orders: s.orders, Metrics: s.metrics}
	webhooks := webhookapi.API{Webhooks: s.webhooks}
	operators := operator.API{
		Orders: s.orders, Tokens: s.tokens, Log: s.log, Webhooks: webhooks, Sessions: s.sessions, BaseURL: baseURL,
		OrderView: func(o order.Order) any { return v2.NewOrderView(o, storageURL) }, EventViews: v2.NewEventViews,
	}.Routes()
	documents, pages := docpages.DocumentRoutes(), docpages.PageRoutes(baseURL)
	people := console.Console{
		Orders: s.orders, Sessions: s.sessions, Tokens: s.tokens, Webhooks: s.webhooks, Limits: s.limits, Metrics: s.metrics, Log: s.log,
		MerchantURL: baseURL, Audience: console.Operators, ParseChange: operator.ParseChange,
	}
	// The admin port has an address of its own, so its pages do not know their URL.
	operatorPages, operatorSignIn := people.Routes()
	people.BaseURL, people.Audience = baseURL, console.Merchants
	if operatorsOnMain {
		people.Audience |= console.Operators
	}
	staff, signIn := people.Routes()
	groups := []web.RouteGroup{
		v1.API{Endpoints: invoices, BaseURL: baseURL}.Routes(),
		v2.API{
			Endpoints: invoices, BaseURL: baseURL, ErrorCodes: v2.ErrorCodes(s.settings.ErrorCodes), Webhooks: webhooks,
			Tokens: s.tokens, Log: s.log,
		}.Routes(),
		stored.Routes(), stored.LinkRoutes(),
		documents, pages, staff,
	}
	root := s.health.Routes(nil)
	if operatorsOnMain {
		groups, root = append(groups, operators), s.health.Routes(s.metrics)
	}
	root.Routes = append(root.Routes, signIn...)
	groups = append(groups, root)
	adminRoot := s.health.DetailedRoutes(s.metrics)
	adminRoot.Routes = append(adminRoot.Routes, operatorSignIn...)
	return web.NewRouter(config, groups...),
		web.NewRouter(config, operators, documents, pages, operatorPages, httpserver.ProfileRoutes(), adminRoot)
}
