package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"merchantorders/internal/config"
	"merchantorders/internal/demo"
	"merchantorders/internal/metrics"
	"merchantorders/internal/order"
	httpserver "merchantorders/internal/server"
	"merchantorders/internal/store"
	"merchantorders/internal/store/migrations"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
	"merchantorders/internal/web/ratelimit"
)

// ServeOptions are what serve works with.
type ServeOptions struct {
	Opener
	Flags    config.Serve
	Environ  []string // like os.Environ, for the settings of tracing
	Warnings []string // about the command line, to be logged
	Stdout   io.Writer
	Stderr   io.Writer // of the log
	// Wrap adds the outermost middleware; nil: none.
	Wrap func(http.Handler) http.Handler
	// Reload asks for a reload of the settings, which Reread returns as they are now. nil: never.
	Reload <-chan os.Signal
	Reread func() (Reread, error)
}

// Serve opens the backend, serves until ctx ends, and closes the backend.
func Serve(ctx context.Context, options ServeOptions) error {
	err := serve(ctx, options)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		// The server was stopped before it was ready.
		return nil
	}
	return err
}

func serve(ctx context.Context, options ServeOptions) error {
	// A reader of the log that goes away is an error of the line, and does not end the process.
	signal.Ignore(syscall.SIGPIPE)
	lines := newLogWriter(options.Stderr)
	defer lines.Close()
	options.Stderr = lines
	level := new(slog.LevelVar)
	level.Set(options.Settings.Level())
	s := &server{ServeOptions: options, metrics: metrics.New(), log: slog.New(options.logHandler(level)), level: level, lines: lines}
	lines.tellOf(s.log)
	if err := s.startTracing(ctx); err != nil {
		return err
	}
	defer s.stopTracing()
	schema := migrations.Options{OnStep: LogSteps(s.log)}
	if err := s.AllowNew(&schema); err != nil {
		return err
	}
	// Bound before anything is created or migrated. Clients that connect meanwhile
	// wait until the server is ready.
	ports, err := s.bind()
	if err != nil {
		return err
	}
	defer func() { _ = ports.close() }()
	created, err := s.CreateDataFolder()
	if err != nil {
		return err
	}
	locks, err := s.LockForServe(ctx)
	if err != nil {
		return err
	}
	if err := s.open(ctx, schema); err != nil {
		return errors.Join(err, locks.Release())
	}
	if created != "" {
		s.log.Info("data folder created", "path", created)
	}
	if err = s.prepare(ctx, locks); err == nil {
		err = s.serveRequests(ctx, ports)
	}
	if err = errors.Join(err, s.Backend.Close(), locks.Release()); err == nil {
		s.log.Info("stopped")
	}
	return err
}

// logHandler returns the handler that writes the log to standard error.
func (o *ServeOptions) logHandler(level slog.Leveler) slog.Handler {
	options := &slog.HandlerOptions{Level: level}
	if o.Flags.LogFormat == config.LogText {
		return slog.NewTextHandler(o.Stderr, options)
	}
	return slog.NewJSONHandler(o.Stderr, options)
}

// LogSteps logs each step of the schema, and those of a new database as one.
func LogSteps(log *slog.Logger) func(migrations.Step) {
	created := false
	var took time.Duration
	return func(step migrations.Step) {
		created, took = created || step.First, took+step.Took
		switch {
		case !created:
			log.Info("schema migrated", "schema", step.Version, "step", step.Name, "ms", step.Took.Milliseconds())
		case step.Last:
			log.Info("schema created", "schema", step.Version, "ms", took.Milliseconds())
		}
	}
}

// open opens the backend. The bucket is tested first, so that the schema does not
// change if the server cannot start.
func (s *server) open(ctx context.Context, schema migrations.Options) error {
	s.wait = s.Flags.Wait.Value()
	s.waiting = func(what string, err error) {
		s.log.Warn("waiting for the "+what, "for", s.wait.String(), "error", OneLine(err.Error()))
	}
	bucket, err := s.OpenBucket(ctx)
	if err != nil {
		return err
	}
	if bucket != nil && bucket.Overwrites() {
		s.log.Warn(BucketOverwrites, "advice", BucketAdvice)
	}
	schema.BeforeCreate = func(ctx context.Context) error { return s.expectEmptyBucket(ctx, bucket) }
	db, err := s.OpenDatabase(ctx, store.Options{Observe: s.observeDatabase, Schema: schema, Wrap: s.traceDatabase()})
	if err != nil {
		return err
	}
	s.logAdvice(ctx)
	files, err := s.openStorage(ctx, bucket, true)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	s.Backend = s.NewBackend(db, files, Deps{Log: s.log, Flags: s.Flags, Metrics: s.metrics, CacheSize: responseCacheSize})
	s.jobs = &jobs{now: s.Now, log: s.log}
	return nil
}

// logAdvice logs what doctor says of a database that can be used.
func (s *server) logAdvice(ctx context.Context) {
	if apart := s.clock.correction(); apart != 0 {
		s.log.Warn(clocksDiffer, "database_ahead", apart.String())
	}
	engine, address := s.Engine()
	found, err := engine.Examine(ctx, address)
	if err != nil {
		s.log.Warn("cannot examine the database", "error", err)
	}
	for _, flaw := range found.Advice {
		s.log.Warn("the database is not set as it should be", "problem", flaw.Problem, "advice", flaw.Advice)
	}
}

// server is one run of serve.
type server struct {
	ServeOptions
	*Backend
	log     *slog.Logger
	level   *slog.LevelVar // of log
	metrics *metrics.Metrics
	lines   *logWriter
	jobs    *jobs
	// retaining is how many orders a retention that is announced will delete.
	retaining atomic.Int64
	// doubted is until when jobs wait for a doubtful clock, in Unix seconds, as the log says.
	doubted     atomic.Int64
	certificate *httpserver.Certificate // nil: connections are not encrypted
}

// prepare removes the staged files and reservations that crashed servers have
// left, and lets other servers start. If no other server can use them, it removes
// staged files and expires reservations of any age, and ends the leases of webhooks.
func (s *server) prepare(ctx context.Context, locks *ServeLocks) error {
	if err := s.DB.WatchCommits(ctx); err != nil {
		s.log.Warn("cannot watch the commits of the database; every request reads its token", "error", err)
	}
	// future is a year ahead, since an earlier clock may have been fast.
	old, future := s.Now().Add(-order.ReservationTimeout), s.Now().AddDate(1, 0, 0)
	staged, reserved := old, old
	if locks.AloneInDatabase() || s.Settings.FilesInData() && locks.AloneInFolder() {
		staged = future
	}
	var leases error
	if locks.AloneInDatabase() {
		reserved, leases = future, s.DB.ReleaseEndpoints(ctx)
	}
	rows := errors.Join(s.expireReservations(ctx, reserved, s.log), leases)
	if errors.Is(rows, order.ErrUnavailable) { // a node of a cluster fails, or a table is locked
		s.log.Warn("cannot clean up after a crashed server yet; jobs do it later", "error", rows)
		rows = nil
	}
	if err := errors.Join(s.Files.RemoveStagedFiles(staged), rows); err != nil {
		return fmt.Errorf("clean up after a crashed server: %w", err)
	}
	return locks.share(ctx)
}

// serveRequests creates the demo if requested, and serves the requests of the
// listeners until ctx ends.
func (s *server) serveRequests(ctx context.Context, l *listeners) error {
	baseURL, storageURL := s.Settings.Addresses(l.main.url())
	if s.Flags.Demo {
		created, err := s.showDemo(ctx, l, baseURL)
		if err != nil {
			return err
		}
		if created {
			defer s.startSimulator()()
		}
	}
	proxies := web.TrustedProxies(s.Flags.Proxies())
	options := httpserver.Options{
		Connections: s.Flags.Connections(MaxOpenFiles()), Idle: s.Flags.IdleTimeout.Value(),
		Client: func(r *http.Request) netip.Addr { return ratelimit.Network(proxies.Client(r)) },
	}
	s.announce(l, baseURL, storageURL, options.Connections)
	s.encoder.StorageURL = storageURL // deliveries have it, so before they begin
	defer s.startJobs()()
	defer s.startMonitor().close()
	defer s.WaitForWork()
	return s.serveAll(ctx, l, options)
}

// MaxOpenFiles returns how many files the process may open, 0 if that is not known.
func MaxOpenFiles() uint64 {
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
	return "cannot listen on " + address + ": " + OneLine(err.Error())
}

// demoTokenLifetime is short because the token is printed.
const demoTokenLifetime = 24 * time.Hour

// showDemo creates the demo unless it exists, and a token for its merchant, and
// prints the token with three commands to try. ok is false if there is no demo.
func (s *server) showDemo(ctx context.Context, l *listeners, baseURL string) (ok bool, err error) {
	result, err := demo.Prepare(ctx, s.Services, s.Now())
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
	reference, err := demo.Example(ctx, s.Orders)
	if err != nil {
		return false, err
	}
	lifetime := demoTokenLifetime
	if longest := s.Tokens.MaxLifetime; longest > 0 {
		lifetime = min(lifetime, longest)
	}
	text, created, err := s.Tokens.Create(ctx, demo.MerchantID, order.MerchantScopes, lifetime)
	if err != nil {
		return false, err
	}
	token.LogCreated(s.log, created, slog.String("by", "serve --demo"))
	curl := func(options, path string) string {
		return "  curl " + options + "-H 'Authorization: Bearer " + text + "' " + quoted(baseURL+path)
	}
	_, err = fmt.Fprintf(s.Stdout, "The demo merchant %d (%s) %s\n\n  %s\n\nOpen %s in a browser and sign in with it. Or try a list, one order, and accepting it:\n\n%s\n%s\n%s\n\n%s",
		demo.MerchantID, demo.MerchantName, status, text, baseURL+"/",
		curl("", "/v2/orders?itemsPerPage=3"),
		curl("", "/v2/orders/"+reference),
		curl("-X PATCH ", "/v2/orders/"+reference+"/accept"), operatorsHint(l))
	return true, err
}

// operatorsHint says where operators find their pages, if only this machine can reach them;
// otherwise the log warns.
func operatorsHint(l *listeners) string {
	if l.admin == nil || !config.IsLoopback(l.admin.Addr().String()) {
		return ""
	}
	return "Operators open " + l.admin.url() + "/ on this machine; no other machine can reach it.\n\n"
}

// print writes one line to standard output.
func (s *server) print(format string, args ...any) error {
	_, err := fmt.Fprintln(s.Stdout, OneLine(fmt.Sprintf(format, args...)))
	return err
}

// quoted quotes a text for the shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// responseCacheSize is the size of the response cache in bytes: enough for what two
// thousand clients poll. The garbage collector allows as much again, so that a process stays
// below 128 MB with 24 MB for both, 32 of its program, 20 of SQLite and 50 of requests.
const responseCacheSize = 12 << 20
