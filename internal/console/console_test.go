package console_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"merchantorders/internal/api/operator"
	"merchantorders/internal/console"
	"merchantorders/internal/filestore/disk"
	"merchantorders/internal/ingest"
	"merchantorders/internal/ingest/ingesttest"
	"merchantorders/internal/metrics"
	"merchantorders/internal/order"
	"merchantorders/internal/server"
	"merchantorders/internal/store"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
	"merchantorders/internal/webhook"
)

// The merchants of a service.
const (
	ours   = ingesttest.MerchantID
	theirs = 400
)

// startOfTime is when a service starts, a few hours after its newest order.
var startOfTime = time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)

// service is the console over a database and files in a folder.
type service struct {
	t        testing.TB
	url      string
	orders   *order.Service
	tokens   *token.Registry
	sessions *token.Sessions
	seconds  atomic.Int64 // since startOfTime
	files    *disk.Store
	webhooks *webhook.Service
	posted   atomic.Int64 // messages of webhooks
	stop     func()       // begins to stop the server

	token, otherToken string // of ours and theirs, with all scopes of merchants
}

func (s *service) now() time.Time {
	return startOfTime.Add(time.Duration(s.seconds.Load()) * time.Second)
}

func (s *service) pass(d time.Duration) { s.seconds.Add(int64(d / time.Second)) }

// start returns a service with two merchants, and with orders of the documents.
func start(t testing.TB, documents ...[]byte) *service {
	t.Helper()
	return startAt(t, "", documents...)
}

// startAt is start for a service with a base URL, as behind a proxy.
func startAt(t testing.TB, baseURL string, documents ...[]byte) *service {
	t.Helper()
	s := &service{t: t}
	dir := t.TempDir()
	db, err := store.OpenSQLite(t.Context(), filepath.Join(dir, "orders.db"), store.Options{Now: s.now})
	s.noError(err)
	t.Cleanup(func() { _ = db.Close() })
	files, err := disk.Open(filepath.Join(dir, "files"))
	s.noError(err)
	t.Cleanup(func() { _ = files.Close() })
	s.files = files
	log := slog.New(slog.DiscardHandler)
	s.orders = order.NewService(db, files, s.now, log)
	s.tokens = token.NewRegistry(db, s.now)
	s.sessions = token.NewSessions(db, s.tokens)
	// The first token is ours: tests name it in paths.
	for _, id := range []int64{ours, theirs} {
		s.noError(s.orders.AddMerchant(t.Context(), id, "Store "+string(rune('A'+id%2)), order.MerchantOptions{}))
	}
	s.token, s.otherToken = s.newToken(ours, order.MerchantScopes), s.newToken(theirs, order.MerchantScopes)
	s.add(documents...)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	s.noError(err)
	s.url = "http://" + listener.Addr().String()
	if baseURL == "" {
		baseURL = s.url
	}
	metrics := metrics.New()
	s.webhooks = webhook.NewService(webhook.ServiceOptions{Store: db, Now: s.now, Poster: s, Encoder: s})
	pages, signIn := console.Console{
		Orders: s.orders, Sessions: s.sessions, Tokens: s.tokens, Metrics: metrics, Log: log, BaseURL: baseURL,
		Webhooks: s.webhooks, Audience: console.Merchants | console.Operators,
		ParseChange: operator.ParseChange,
	}.Routes()
	root := server.NewHealth(server.Readiness{}).Routes(nil)
	root.Routes = append(root.Routes, signIn...)
	router := web.NewRouter(web.RouterConfig{Authenticator: s.tokens, Refuser: s.orders}, pages, root)
	handler := web.Observe(router, router.EncodeError, web.RequestLog{Logger: log}, metrics, s.now)
	serving, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(serving, listener, handler, log, server.Options{Connections: 100}) }()
	s.stop = stop
	t.Cleanup(func() {
		stop()
		s.noError(<-ended)
	})
	return s
}

// Post implements webhook.Poster: every receiver refuses messages.
func (s *service) Post(context.Context, webhook.Message) webhook.Result {
	s.posted.Add(1)
	return webhook.Result{Status: http.StatusTeapot, Error: "the receiver responded with status 418", Response: "<b>no</b>"}
}

// Event implements webhook.Encoder.
func (s *service) Event(order.EventRecord) ([]byte, error) { return []byte("{}"), nil }

// Test implements webhook.Encoder.
func (s *service) Test(time.Time) ([]byte, string, error) { return []byte("{}"), "webhook.test", nil }

// noError ends the test after an error.
func (s *service) noError(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *service) newToken(merchantID int64, scopes order.Scope) string {
	s.t.Helper()
	text, _, err := s.tokens.Create(context.Background(), merchantID, scopes, 0)
	s.noError(err)
	return text
}

// removeFile removes a stored file, as a broken disk does.
func (s *service) removeFile(path string) error { return s.files.Remove(context.Background(), path) }

// add imports orders.
func (s *service) add(documents ...[]byte) {
	s.t.Helper()
	var batch []order.Incoming
	for _, document := range documents {
		incoming, err := ingest.Parse(document)
		s.noError(err)
		batch = append(batch, incoming)
	}
	if len(batch) == 0 {
		return
	}
	results, err := s.orders.Import(context.Background(), batch, order.Source{})
	s.noError(err)
	for i, result := range results {
		if result.Status != order.Created {
			s.t.Fatalf("order %d is %s: %s", i, result.Status, result.Reason)
		}
	}
}

// newOrder returns a document of a registered order with a reference.
func newOrder(n int, reference string, change ...func(map[string]any)) []byte {
	return ingesttest.Document(n, append([]func(map[string]any){func(document map[string]any) {
		document["reference"], document["state"] = reference, "registered"
		document["createdAt"] = startOfTime.Add(-time.Duration(n) * time.Minute).Format(time.RFC3339)
		document["expiresAt"] = startOfTime.Add(40 * time.Hour).Format(time.RFC3339)
	}}, change...)...)
}

// ofMerchant makes an order that of another merchant.
func ofMerchant(id int64) func(map[string]any) {
	return func(document map[string]any) { document["merchantId"] = id }
}

// browser is a browser without scripts. It does not follow redirects.
type browser struct {
	s      *service
	client *http.Client
	header http.Header // of every request
}

// page is a response.
type page struct {
	status int
	header http.Header
	body   string
}

// location returns where a redirect leads.
func (p page) location() string { return p.header.Get("Location") }

func (s *service) browser() *browser {
	jar, err := cookiejar.New(nil)
	s.noError(err)
	return &browser{s: s, header: http.Header{}, client: &http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// signedIn returns a browser in which a person has signed in with a token.
func (s *service) signedIn(text string) *browser {
	s.t.Helper()
	b := s.browser()
	if got := b.post("/", url.Values{"token": {text}}); got.status != http.StatusSeeOther {
		s.t.Fatalf("sign in: %d %s", got.status, got.body)
	}
	return b
}

func (b *browser) get(path string) page {
	b.s.t.Helper()
	return b.send(http.MethodGet, path, "", nil)
}

func (b *browser) post(path string, form url.Values) page {
	b.s.t.Helper()
	return b.send(http.MethodPost, path, "application/x-www-form-urlencoded", strings.NewReader(form.Encode()))
}

func (b *browser) send(method, path, contentType string, body io.Reader) page {
	b.s.t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), method, b.s.url+path, body)
	b.s.noError(err)
	for name, values := range b.header {
		request.Header[name] = values
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	response, err := b.client.Do(request)
	b.s.noError(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	b.s.noError(err)
	return page{response.StatusCode, response.Header, string(text)}
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="(key|revision)" value="([^"]*)">`)

// form returns the hidden fields of the form with an action on a page.
func (p page) form(t testing.TB, action string) url.Values {
	t.Helper()
	_, rest, found := strings.Cut(p.body, `action="`+action+`"`)
	if !found {
		t.Fatalf("no form for %s in %s", action, p.body)
	}
	rest, _, _ = strings.Cut(rest, "</form>")
	values := make(url.Values)
	for _, field := range hiddenField.FindAllStringSubmatch(rest, -1) {
		values.Set(field[1], field[2])
	}
	return values
}

// expect reports a page that has another status, or lacks a text.
func (p page) expect(t testing.TB, status int, texts ...string) {
	t.Helper()
	if p.status != status {
		t.Errorf("status %d, want %d: %s", p.status, status, p.body)
	}
	for _, text := range texts {
		if !strings.Contains(p.body, text) {
			t.Errorf("%q is not in %s", text, p.body)
		}
	}
}
