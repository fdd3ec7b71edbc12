package web_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"merchantorders/internal/metrics"
	"merchantorders/internal/server"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// patience is how long a test waits before it fails.
const patience = 2 * time.Minute

// running is a server on its own port.
type running struct {
	address string
	log     *testenv.Log
	metrics *metrics.Metrics
	stop    func() // stops the server and waits until it has ended; may be called again
}

// serve runs a server until the test ends.
func serve(t *testing.T, verifier web.Authenticator, groups ...web.RouteGroup) *running {
	t.Helper()
	return serveLogging(t, web.RequestLog{}, verifier, groups...)
}

// serveLogging is serve with settings of the request log.
func serveLogging(t *testing.T, requestLog web.RequestLog, verifier web.Authenticator, groups ...web.RouteGroup) *running {
	t.Helper()
	listener := testenv.Of(net.Listen("tcp", "127.0.0.1:0")).Must(t)
	r := &running{address: listener.Addr().String(), log: new(testenv.Log), metrics: metrics.New()}
	log := slog.New(slog.NewJSONHandler(r.log, nil))
	router := web.NewRouter(web.RouterConfig{Authenticator: verifier}, groups...)
	requestLog.Logger = log
	handler := web.Observe(router, form("top"), requestLog, r.metrics, ticking())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- server.Serve(ctx, listener, handler, log, server.Options{Connections: 1000, Idle: 30 * time.Second})
	}()
	r.stop = sync.OnceFunc(func() {
		cancel()
		testenv.Equal(t, "serve", nil, <-ended)
	})
	t.Cleanup(r.stop)
	return r
}

// ticking returns a clock that advances 1.5 ms with each reading.
func ticking() func() time.Time {
	var mu sync.Mutex
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(1500 * time.Microsecond)
		return now
	}
}

// reply is a response.
type reply struct {
	status int
	header http.Header
	body   string
	cut    bool // the connection closed within the body
}

// ask sends a request, line for line, and reads the response.
func (r *running) ask(t *testing.T, requestLine string, headers ...string) reply {
	t.Helper()
	lines := append([]string{requestLine + " HTTP/1.1", "Host: shop.example", "Connection: close"}, headers...)
	return r.send(t, strings.Join(lines, "\r\n")+"\r\n\r\n")
}

// send sends a text and reads one response. The reply is only cut if there is none.
func (r *running) send(t *testing.T, text string) reply {
	t.Helper()
	conn := testenv.Of(net.Dial("tcp", r.address)).Must(t)
	defer conn.Close()
	testenv.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	testenv.Of(io.WriteString(conn, text)).Must(t)
	method, _, _ := strings.Cut(text, " ")
	return readReply(t, bufio.NewReader(conn), method)
}

// readReply reads one response to a method from a connection.
func readReply(t *testing.T, from *bufio.Reader, method string) reply {
	t.Helper()
	response, err := http.ReadResponse(from, &http.Request{Method: method})
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return reply{cut: true}
	}
	testenv.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	if response.Close {
		response.Header.Set("Connection", "close") // which http.ReadResponse removes
	}
	return reply{status: response.StatusCode, header: response.Header, body: string(body), cut: err != nil}
}

// failure is the body of an error in these tests.
type failure struct {
	Form  string `json:"form"`
	Error int    `json:"error"`
}

// form returns an ErrorEncoder whose name tells which group encoded an error.
func form(name string) web.ErrorEncoder {
	return func(_ *http.Request, err error) (int, any) {
		status := web.Status(err)
		return status, failure{Form: name, Error: status}
	}
}

// tokens is an Authenticator of a few tokens, by text.
type tokens map[string]token.Token

func (v tokens) Authenticate(_ context.Context, text string, _ netip.Addr) (token.Grant, error) {
	t, ok := v[text]
	if !ok {
		return token.Grant{}, token.ErrUnknown
	}
	return token.Grant{Token: t}, nil
}

// public returns a route without authentication.
func public(method, path string, handle web.Handler) web.Route {
	return web.PublicRoute(method, path, handle)
}

// TestStreamsThatBeginWhileTheServerStops asks for an export of a server that stops: it may
// be asked for again.
func TestStreamsThatBeginWhileTheServerStops(t *testing.T) {
	t.Parallel()
	stopping, stop := context.WithCancel(t.Context())
	stop()
	router := web.NewRouter(web.RouterConfig{Authenticator: tokens{}}, web.RouteGroup{Errors: form("rest"), Routes: []web.Route{
		public("GET", "/export", func(w http.ResponseWriter, r *web.Request) error {
			s, end := web.OpenResponse(w, r)
			defer end()
			<-s.Context().Done()
			return fmt.Errorf("read orders: %w", s.Context().Err())
		}),
	}})
	w := httptest.NewRecorder()
	router.ServeHTTP(w, httptest.NewRequest("GET", "/export", http.NoBody).WithContext(web.WithStopping(t.Context(), stopping)))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("status %d, header %v", w.Code, w.Header())
	}
}
