package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/metrics"
	"merchantorders/internal/server"
	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
)

// observed is a group of routes with its request log.
type observed struct {
	handler http.Handler
	log     bytes.Buffer
}

func observe(groups ...web.RouteGroup) *observed {
	o := new(observed)
	log := web.RequestLog{Logger: slog.New(slog.NewJSONHandler(&o.log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	o.handler = web.Observe(web.NewRouter(web.RouterConfig{}, groups...), web.EncodeMessage, log, metrics.New(), time.Now)
	return o
}

// ask sends a request with a token, which the routes do not need.
func (o *observed) ask(t *testing.T, requestLine string) *httptest.ResponseRecorder {
	t.Helper()
	text := requestLine + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer nonsense\r\n\r\n"
	request := testenv.Of(http.ReadRequest(bufio.NewReader(strings.NewReader(text)))).Must(t)
	recorder := httptest.NewRecorder()
	o.handler.ServeHTTP(recorder, request.WithContext(t.Context()))
	return recorder
}

// requests returns the lines of the request log.
func (o *observed) requests(t *testing.T) (lines []map[string]any) {
	t.Helper()
	for line := range strings.Lines(o.log.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("log line %q: %v", line, err)
		}
		if fields["msg"] == "request" {
			lines = append(lines, fields)
		}
	}
	return lines
}

func fine(context.Context) error { return nil }

// ready is a readiness without a required storage.
func ready(database, storage func(context.Context) error) server.Readiness {
	return server.Readiness{Database: database, Storage: storage}
}

// TestReadyWithoutStorage checks what /readyz says while only the storage is out of
// reach.
// Proves decision 5 (/readyz).
func TestReadyWithoutStorage(t *testing.T) {
	t.Parallel()
	broken := func(context.Context) error { return errors.New("dial tcp s3.internal: refused") }
	for _, test := range []struct {
		readiness server.Readiness
		status    int
		body      string
	}{
		{ready(fine, broken), 200, `{"status":"ready","storage":"unavailable"}`},
		{server.Readiness{Database: fine, Storage: broken, StorageRequired: true}, 503, `{"message":"Service Unavailable","storage":"unavailable"}`},
		{ready(broken, broken), 503, `{"message":"Service Unavailable"}`},
		{server.Readiness{Database: fine, Storage: fine, StorageRequired: true}, 200, `{"status":"ready"}`},
	} {
		routes := observe(server.NewHealth(test.readiness).Routes(metrics.New()))
		got := routes.ask(t, "GET /readyz")
		if got.Code != test.status || strings.TrimSpace(got.Body.String()) != test.body || (got.Header().Get("Retry-After") != "") != (test.status == 503) {
			t.Errorf("want %d %s: %+v", test.status, test.body, got)
		}
		testenv.Equal(t, "log line", strings.Contains(test.body, "navailable"), routes.requests(t)[0]["error"] != nil)
		testenv.Equal(t, "the process serves", 200, routes.ask(t, "GET /healthz").Code)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	routes := observe(server.NewHealth(ready(fine, fine)).Routes(metrics.New()))
	for _, test := range []struct {
		request string
		status  int
		body    string
		allow   string
	}{
		{"GET /healthz", 200, `{"status":"ok"}`, ""},
		{"GET /readyz", 200, `{"status":"ready"}`, ""},
		{"GET /readyz/", 200, `{"status":"ready"}`, ""},
		{"HEAD /readyz", 200, `{"status":"ready"}`, ""}, // net/http leaves the body out
		{"POST /healthz", 405, `{"message":"Method Not Allowed"}`, "GET, HEAD"},
		{"DELETE /metrics", 405, `{"message":"Method Not Allowed"}`, "GET, HEAD"},
		{"GET /", 404, `{"message":"Not Found"}`, ""},
		{"POST /", 404, `{"message":"Not Found"}`, ""},
		{"GET /favicon.ico", 404, `{"message":"Not Found"}`, ""},
		{"GET /healthz/x", 404, `{"message":"Not Found"}`, ""},
		{"GET //healthz", 404, `{"message":"Not Found"}`, ""},
		{"GET /../healthz", 404, `{"message":"Not Found"}`, ""},
		{"OPTIONS *", 404, `{"message":"Not Found"}`, ""},
	} {
		got := routes.ask(t, test.request)
		if got.Code != test.status || strings.TrimSpace(got.Body.String()) != test.body || got.Header().Get("Allow") != test.allow {
			t.Errorf("%s: %+v", test.request, got)
		}
		for name, want := range map[string]string{
			"Content-Type": "application/json", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Location": "",
		} {
			testenv.Equal(t, fmt.Sprintf("%s: %s", test.request, name), want, got.Header().Get(name))
		}
	}
}

func TestReadyPanics(t *testing.T) {
	t.Parallel()
	routes := observe(server.NewHealth(ready(func(context.Context) error { panic("on purpose") }, fine)).Routes(metrics.New()))
	for range 2 {
		testenv.Equal(t, "answer", 503, routes.ask(t, "GET /readyz").Code)
	}
}

// TestReadyDetails checks what /readyz says on the port for operators.
func TestReadyDetails(t *testing.T) {
	t.Parallel()
	broken := func(context.Context) error { return errors.New("dial tcp db.internal: refused") }
	stopping := func() bool { return true }
	for _, test := range []struct {
		name      string
		readiness server.Readiness
		status    int
		body      string
	}{
		{"ready", ready(fine, fine), 200, `{"status":"ready","checks":{"server":"ok","database":"ok","storage":"ok"}}`},
		{"no storage", ready(fine, broken), 200,
			`{"status":"ready","storage":"unavailable","checks":{"server":"ok","database":"ok","storage":"the storage is unavailable: dial tcp db.internal: refused"}}`},
		{"no database", ready(broken, fine), 503,
			`{"message":"Service Unavailable","checks":{"server":"ok","database":"dial tcp db.internal: refused","storage":"ok"}}`},
		{"stopping", server.Readiness{Database: fine, Storage: fine, Stopping: stopping}, 503,
			`{"message":"Service Unavailable","checks":{"server":"the server is stopping","database":"ok","storage":"ok"}}`},
	} {
		health := server.NewHealth(test.readiness)
		got := observe(health.DetailedRoutes(nil)).ask(t, "GET /readyz")
		if got.Code != test.status || strings.TrimSpace(got.Body.String()) != test.body {
			t.Errorf("%s: want %d %s: %+v", test.name, test.status, test.body, got)
		}
		short := observe(health.Routes(nil))
		if got := short.ask(t, "GET /readyz"); got.Code != test.status || strings.Contains(got.Body.String(), "checks") {
			t.Errorf("%s, short: %+v", test.name, got)
		}
		level := "DEBUG"
		if strings.HasPrefix(test.name, "no ") { // unlike a planned stop
			level = "ERROR"
		}
		if lines := short.requests(t); len(lines) != 1 || lines[0]["level"] != level {
			t.Errorf("%s: want one line of level %s: %v", test.name, level, lines)
		}
		testenv.Equal(t, "metrics that are not served", 404, short.ask(t, "GET /metrics").Code)
	}
}
