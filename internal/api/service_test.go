// Package api_test tests the interfaces for merchants, operators and files over HTTP,
// with a database and a disk, and compares whole responses.
package api_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/api/invoiceapi"
	"merchantorders/internal/api/operator"
	"merchantorders/internal/api/storageapi"
	v1 "merchantorders/internal/api/v1"
	v2 "merchantorders/internal/api/v2"
	"merchantorders/internal/api/webhookapi"
	"merchantorders/internal/docpages"
	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/metrics"
	"merchantorders/internal/order"
	"merchantorders/internal/server"
	"merchantorders/internal/store"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
	"merchantorders/internal/web/respcache"
	"merchantorders/internal/webhook"
	"merchantorders/openapi/openapitest"
)

const (
	baseURL    = "https://shop.example/mo"
	storageURL = baseURL + "/storage/eu/inv"
)

// otherMerchant is the id of a second merchant.
const otherMerchant = 400

var startOfTime = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// service is a running service with two merchants and their orders.
type service struct {
	t      *testing.T
	url    string
	orders *order.Service
	tokens *token.Registry
	// sessions are only made here: the console is not served.
	sessions *token.Sessions
	metrics  *metrics.Metrics

	webhooks webhook.Store
	files    string       // the folder of the stored files
	seconds  atomic.Int64 // since startOfTime
	log      bytes.Buffer // complete after stop
	stop     func()

	merchant, other, operator string // tokens
}

// setup says what a service is made of.
type setup struct {
	errorCodes v2.ErrorCodes
	store      func(order.Store) order.Store // nil: unchanged
	files      func(order.Files) order.Files // nil: unchanged
	verifier   web.Authenticator             // nil: the tokens of the database
	ready      func(context.Context) error   // nil: always ready
	fill       func(*service)                // nil: service.fill
	at         addresses                     // zero: baseURL
}

// addresses are the base URL of a service and the first segments of its files.
type addresses struct {
	base, region, bucket string
}

func (s *service) now() time.Time {
	return startOfTime.Add(time.Duration(s.seconds.Load()) * time.Second)
}

// start starts a service that runs until the test ends.
func start(t *testing.T, with setup) *service {
	t.Helper()
	s := &service{t: t, metrics: metrics.New()}
	dir := t.TempDir()
	db, err := store.OpenSQLite(t.Context(), filepath.Join(dir, "orders.db"), store.Options{Now: s.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s.files = filepath.Join(dir, "files")
	disk, err := disk.Open(s.files)
	if err != nil {
		t.Fatal(err)
	}
	var orders order.Store = db
	var files order.Files = disk
	log := slog.New(slog.NewJSONHandler(&s.log, nil))
	s.orders = order.NewService(orders, files, s.now, log)
	s.tokens = token.NewRegistry(db, s.now)
	s.sessions = token.NewSessions(db, s.tokens)
	s.webhooks = db
	if with.fill != nil {
		with.fill(s)
	} else {
		s.fill()
	}
	// Faults begin after the data is there.
	if with.store != nil {
		orders = with.store(orders)
	}
	if with.files != nil {
		files = with.files(files)
	}
	s.serve(order.NewService(orders, files, s.now, log), with, log)
	return s
}

// poster is an endpoint of webhooks that acknowledges every message.
type poster struct{}

func (poster) Post(context.Context, webhook.Message) webhook.Result {
	return webhook.Result{Status: http.StatusNoContent}
}

func (s *service) webhookService() *webhook.Service {
	return webhook.NewService(webhook.ServiceOptions{Store: s.webhooks, Poster: poster{}, Encoder: v2.EventEncoder{}, Now: s.now})
}

// serve starts the server.
func (s *service) serve(orders *order.Service, with setup, log *slog.Logger) {
	if with.ready == nil {
		with.ready = func(context.Context) error { return nil }
	}
	if with.verifier == nil {
		with.verifier = s.tokens
	}
	at := with.at
	if at.base == "" {
		at = addresses{base: baseURL, region: "eu", bucket: "inv"}
	}
	storageURL := at.base + "/storage/" + at.region + "/" + at.bucket
	config := web.RouterConfig{Authenticator: with.verifier, ResponseCache: respcache.New(1<<20, s.now), Refuser: orders}
	invoices := invoiceapi.Endpoints{Orders: orders, Metrics: s.metrics, StorageURL: storageURL}
	stored := storageapi.API{Orders: orders, Metrics: s.metrics}
	webhooks := webhookapi.API{Webhooks: s.webhookService()}
	router := web.NewRouter(config,
		v1.API{Endpoints: invoices, BaseURL: at.base}.Routes(),
		v2.API{
			Endpoints: invoices, BaseURL: at.base, ErrorCodes: with.errorCodes, Webhooks: webhooks, Tokens: s.tokens, Log: log,
		}.Routes(),
		stored.Routes(), stored.LinkRoutes(),
		operator.API{
			Orders: orders, Tokens: s.tokens, Log: log, Webhooks: webhooks, Sessions: s.sessions, BaseURL: at.base,
			OrderView: func(o order.Order) any { return v2.NewOrderView(o, storageURL) }, EventViews: v2.NewEventViews,
		}.Routes(),
		docpages.DocumentRoutes(),
		docpages.PageRoutes(at.base),
		server.NewHealth(server.Readiness{Database: with.ready, Storage: func(context.Context) error { return nil }}).Routes(s.metrics),
	)
	watch := openapitest.CheckHandler(s.t)
	server := httptest.NewServer(watch(web.Observe(router, router.EncodeError, web.RequestLog{Logger: log}, s.metrics, s.now)))
	s.t.Cleanup(server.Close)
	s.url, s.stop = server.URL, server.Close
}

// noError ends the test if there is an error.
func (s *service) noError(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// fill adds two merchants with a token each, the orders of apitest, and some
// registered ones: with the legacy ids 101 to 109, and X-1 of the other
// merchant with 201.
func (s *service) fill() {
	s.t.Helper()
	ctx := s.t.Context()
	s.noError(s.orders.AddMerchant(ctx, apitest.MerchantID, apitest.MerchantName, order.MerchantOptions{}))
	s.noError(s.orders.AddMerchant(ctx, otherMerchant, "Other", order.MerchantOptions{}))
	var err error
	s.merchant = s.token(apitest.MerchantID, order.DefaultScopes)
	s.other = s.token(otherMerchant, order.DefaultScopes)
	s.operator, _, err = s.tokens.CreateOperator(ctx, order.OperatorScopes, 0)
	s.noError(err)

	batch := []order.Incoming{apitest.Incoming(apitest.Rich()), apitest.Incoming(apitest.Minimal())}
	for i := int64(1); i <= 9; i++ {
		batch = append(batch, apitest.Incoming(registered(apitest.MerchantID, 100+i, fmt.Sprintf("R-%d", i))))
	}
	batch = append(batch, apitest.Incoming(registered(otherMerchant, 201, "X-1")))
	outcomes, err := s.orders.Import(ctx, batch, order.Source{})
	s.noError(err)
	for i, outcome := range outcomes {
		if outcome.Status != order.Created {
			s.t.Fatalf("order %d: %v %s", i, outcome.Status, outcome.Reason)
		}
	}
}

// registered returns a plain registered order.
func registered(merchantID, number int64, reference string) order.Order {
	o := apitest.Minimal()
	o.MerchantID, o.LegacyID, o.Reference, o.Currency = merchantID, number, reference, "EUR"
	return o
}

// token creates a token.
func (s *service) token(merchantID int64, scopes order.Scope) string {
	s.t.Helper()
	text, _, err := s.tokens.Create(context.WithoutCancel(s.t.Context()), merchantID, scopes, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

// response is an HTTP response.
type response struct {
	status int
	header http.Header
	body   string
}

// ask sends a request with a token, unless that is empty.
func (s *service) ask(token, method, path, body string) response {
	s.t.Helper()
	return s.send(token, method, path, strings.NewReader(body), nil)
}

func (s *service) send(token, method, path string, body io.Reader, header http.Header) response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	// Otherwise the client would request compression by itself and hide it.
	r.Header.Set("Accept-Encoding", "identity")
	for name, values := range header {
		r.Header[name] = values
	}
	got, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = got.Body.Close() }()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return response{status: got.StatusCode, header: got.Header, body: strings.TrimSuffix(string(text), "\n")}
}

// expect sends a request of the merchant and compares status and body.
func (s *service) expect(method, path, body string, status int, want string) response {
	s.t.Helper()
	got := s.ask(s.merchant, method, path, body)
	s.compare(method+" "+path, got, status, want)
	return got
}

func (s *service) compare(what string, got response, status int, want string) {
	s.t.Helper()
	if got.status != status {
		s.t.Errorf("%s: status %d, want %d: %s", what, got.status, status, got.body)
	}
	if diff := cmp.Diff(want, got.body); diff != "" {
		s.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// state returns the state of an order in the database.
func (s *service) state(reference string) order.State {
	s.t.Helper()
	o, err := s.orders.Get(s.t.Context(), apitest.MerchantID, order.ByReference(reference))
	if err != nil {
		s.t.Fatal(err)
	}
	return o.State
}

// storedFiles returns the names of all files on the disk, staged ones too.
func (s *service) storedFiles() []string {
	s.t.Helper()
	var names []string
	err := filepath.WalkDir(s.files, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			names = append(names, entry.Name())
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return names
}
