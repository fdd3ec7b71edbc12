package apptest

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"merchantorders/internal/app"
	"merchantorders/internal/config"
	"merchantorders/internal/console"
	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/digest"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/metrics"
	"merchantorders/internal/order"
	"merchantorders/internal/server"
	"merchantorders/internal/store"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
	"merchantorders/openapi/openapitest"
)

// StartOfTime is what the clock of a Service shows at first.
var StartOfTime = time.Date(2026, time.November, 20, 10, 0, 0, 0, time.UTC)

// Setup says what differs from the plain service. The zero value is the plain one.
type Setup struct {
	Settings config.Config
	Flags    config.Serve
	Poster   webhook.Poster // of webhooks; nil: every endpoint acknowledges
	Mailer   digest.Mailer  // nil: that of Flags
	// Open opens the database and the storage, until the test ends; nil: an SQLite file and a
	// folder.
	Open func(testing.TB) (*store.DB, order.Files)
	// Fill adds data before requests are served; nil: none.
	Fill func(*Service)
	// Store and Files wrap what the requests work on, for faults; nil: unchanged. Fill
	// and the services of Service work on the original.
	Store func(app.Store) app.Store
	Files func(order.Files) order.Files
	// NoCache leaves out the response cache.
	NoCache bool
	// Log gets the log instead of Service.Log; nil: Service.Log does.
	Log io.Writer
}

// Service is the whole service on a database, a storage and a port of its own, as serve
// wires it, with a clock that only the test moves. Its requests and responses are compared
// with the OpenAPI documents, but not those that Handler gets without the port.
type Service struct {
	*app.Service
	T       testing.TB
	URL     string
	Folder  string // of the stored files; empty with Setup.Open
	DB      *store.DB
	Disk    *disk.Store // nil with Setup.Open
	Log     testenv.Log // JSON; complete after Stop
	Handler http.Handler
	Stop    func() // stops the server and waits until it has ended; may be called again

	passed atomic.Int64 // time.Duration since StartOfTime
}

// New starts a Service that runs until the test ends.
func New(t testing.TB, with Setup) *Service {
	t.Helper()
	s := &Service{T: t}
	if with.Open == nil {
		with.Open = s.open
	}
	var files order.Files
	s.DB, files = with.Open(t)
	testenv.NoError(t, s.DB.WatchCommits(t.Context()))
	if with.Poster == nil {
		with.Poster = acknowledging{}
	}
	if with.Log == nil {
		with.Log = &s.Log
	}
	deps := app.Deps{
		Store: s.DB, Files: files, Now: s.Now, Log: slog.New(slog.NewJSONHandler(with.Log, nil)),
		Settings: with.Settings, Flags: with.Flags, Metrics: metrics.New(), Poster: with.Poster, Mailer: with.Mailer,
	}
	if !with.NoCache {
		deps.CacheSize = 1 << 20
	}
	s.Service = app.NewService(deps)
	if with.Fill != nil {
		with.Fill(s)
	}
	served := s.Service
	if with.Store != nil || with.Files != nil {
		if with.Store != nil {
			deps.Store = with.Store(deps.Store)
		}
		if with.Files != nil {
			deps.Files = with.Files(deps.Files)
		}
		served = app.NewService(deps)
	}
	s.serve(served, with)
	return s
}

// open opens an SQLite file and a folder.
func (s *Service) open(t testing.TB) (*store.DB, order.Files) {
	t.Helper()
	dir := t.TempDir()
	db := testenv.Of(store.OpenSQLite(t.Context(), filepath.Join(dir, "orders.db"), store.Options{})).Must(t)
	t.Cleanup(func() { _ = db.Close() })
	s.Folder = filepath.Join(dir, "files")
	s.Disk = testenv.Of(disk.Open(s.Folder)).Must(t)
	t.Cleanup(func() { _ = s.Disk.Close() })
	return db, s.Disk
}

// serve starts the server of a service.
func (s *Service) serve(service *app.Service, with Setup) {
	s.T.Helper()
	listener := testenv.Of(net.Listen("tcp", "127.0.0.1:0")).Must(s.T)
	s.URL = "http://" + listener.Addr().String()
	s.Handler = service.MainHandler(s.URL, console.Merchants|console.Operators)
	checked := openapitest.CheckHandler(s.T)(s.Handler)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		err := server.Serve(ctx, listener, checked, service.Log, server.Options{Connections: 1000, Idle: time.Minute})
		if err != nil {
			s.T.Errorf("serve: %v", err)
		}
	})
	s.Stop = sync.OnceFunc(func() {
		service.Orders.StopWaiting()
		cancel()
		running.Wait()
		service.WaitForWork()
	})
	s.T.Cleanup(s.Stop)
}

// acknowledging is a Poster whose endpoints acknowledge every message.
type acknowledging struct{}

// Post implements webhook.Poster.
func (acknowledging) Post(context.Context, webhook.Message) delivery.Result {
	return delivery.Result{Status: http.StatusNoContent}
}

// Now returns the time of the clock.
func (s *Service) Now() time.Time { return StartOfTime.Add(time.Duration(s.passed.Load())) }

// At sets the clock to a time after StartOfTime.
func (s *Service) At(d time.Duration) { s.passed.Store(int64(d)) }

// Pass moves the clock.
func (s *Service) Pass(d time.Duration) { s.passed.Add(int64(d)) }

// NewToken returns a new token of a merchant.
func (s *Service) NewToken(merchantID int64, scopes order.Scope) string {
	s.T.Helper()
	text, _, err := s.Tokens.Create(context.WithoutCancel(s.T.Context()), merchantID, scopes, 0)
	testenv.NoError(s.T, err)
	return text
}

// NewOperatorToken returns a new token of operators.
func (s *Service) NewOperatorToken(scopes order.Scope) string {
	s.T.Helper()
	request := token.Request{Operator: true, Scopes: scopes}
	created := testenv.Of(s.Tokens.Add(context.WithoutCancel(s.T.Context()), order.Command(), request, order.Options[token.Created]{})).Must(s.T)
	return created.Text
}

// Send sends a request, see testenv.Send.
func (s *Service) Send(token, method, path, body string, header ...string) testenv.Response {
	s.T.Helper()
	return testenv.Send(s.T, token, method, s.URL+path, body, header...)
}

// MustImport imports orders, each of which must be new.
func (s *Service) MustImport(orders ...order.Incoming) {
	s.T.Helper()
	if len(orders) == 0 {
		return
	}
	results := testenv.Of(s.Orders.Import(context.WithoutCancel(s.T.Context()), order.Command(), orders)).Must(s.T)
	for i, result := range results {
		if result.Status != order.Created {
			s.T.Fatalf("order %d is %s: %s", i, result.Status, result.Reason)
		}
	}
}
