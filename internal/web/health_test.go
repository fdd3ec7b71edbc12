package web_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"merchantorders/internal/web"
)

func fine(context.Context) error { return nil }

// ready is a readiness without a required storage.
func ready(database, storage func(context.Context) error) web.Readiness {
	return web.Readiness{Database: database, Storage: storage}
}

// TestReadyWithoutStorage checks what /readyz says while only the storage is out of
// reach.
func TestReadyWithoutStorage(t *testing.T) {
	t.Parallel()
	broken := func(context.Context) error { return errors.New("dial tcp s3.internal: refused") }
	for _, test := range []struct {
		readiness web.Readiness
		status    int
		body      string
	}{
		{ready(fine, broken), 200, `{"status":"ready","storage":"unavailable"}`},
		{web.Readiness{Database: fine, Storage: broken, StorageRequired: true}, 503, `{"message":"Service Unavailable","storage":"unavailable"}`},
		{ready(broken, broken), 503, `{"message":"Service Unavailable"}`},
		{web.Readiness{Database: fine, Storage: fine, StorageRequired: true}, 200, `{"status":"ready"}`},
	} {
		server := serve(t, tokens{}, web.NewHealth(test.readiness).Routes(web.NewMetrics()))
		got := server.ask(t, "GET /readyz")
		if got.status != test.status || strings.TrimSpace(got.body) != test.body || (got.header.Get("Retry-After") != "") != (test.status == 503) {
			t.Errorf("want %d %s: %+v", test.status, test.body, got)
		}
		server.stop()
		if line := server.log.lines(t, "request")[0]; (line["error"] != nil) != strings.Contains(test.body, "navailable") {
			t.Errorf("log line %v", line)
		}
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	server := serve(t, tokens{}, web.NewHealth(ready(fine, fine)).Routes(web.NewMetrics()))
	for _, test := range []struct {
		request string
		status  int
		body    string
		allow   string
	}{
		{"GET /healthz", 200, `{"status":"ok"}`, ""},
		{"GET /readyz", 200, `{"status":"ready"}`, ""},
		{"GET /readyz/", 200, `{"status":"ready"}`, ""},
		{"HEAD /readyz", 200, ``, ""},
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
		got := server.ask(t, test.request, "Authorization: Bearer nonsense")
		if got.status != test.status || strings.TrimSpace(got.body) != test.body || got.header.Get("Allow") != test.allow {
			t.Errorf("%s: %+v", test.request, got)
		}
		checkJSON(t, got)
	}
}

func TestNotReady(t *testing.T) {
	t.Parallel()
	broken := func(context.Context) error { return errors.New("dial tcp db.internal: refused") }
	server := serve(t, tokens{}, web.NewHealth(ready(broken, fine)).Routes(web.NewMetrics()))
	got := server.ask(t, "GET /readyz")
	if got.status != 503 || got.body != "{\"message\":\"Service Unavailable\"}\n" || got.header.Get("Retry-After") == "" {
		t.Errorf("%+v", got)
	}
	if got := server.ask(t, "GET /healthz"); got.status != 200 {
		t.Errorf("the process serves: %+v", got)
	}
	server.stop()
	lines := server.log.lines(t, "request")
	if len(lines) != 2 || !strings.Contains(lines[0]["error"].(string), "db.internal") {
		t.Errorf("the log does not say why: %v", lines)
	}
}

func TestReadyPanics(t *testing.T) {
	t.Parallel()
	server := serve(t, tokens{}, web.NewHealth(ready(func(context.Context) error { panic("on purpose") }, fine)).Routes(web.NewMetrics()))
	for range 2 {
		if got := server.ask(t, "GET /readyz"); got.status != 503 {
			t.Errorf("%+v", got)
		}
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	metrics := web.NewMetrics()
	metrics.Upload(web.UploadStored, 5)
	server := serve(t, tokens{}, web.NewHealth(ready(fine, fine)).Routes(metrics))
	got := server.ask(t, "GET /metrics")
	if got.status != 200 || !strings.HasPrefix(got.header.Get("Content-Type"), "text/plain") {
		t.Errorf("status %d, headers %v", got.status, got.header)
	}
	if !strings.Contains(got.body, "\nmerchant_orders_uploaded_bytes_total 5\n") {
		t.Errorf("metrics %s", got.body)
	}
}

// TestReadyDetails checks what /readyz says on the port for operators.
func TestReadyDetails(t *testing.T) {
	t.Parallel()
	broken := func(context.Context) error { return errors.New("dial tcp db.internal: refused") }
	stopping := func() bool { return true }
	for _, test := range []struct {
		name      string
		readiness web.Readiness
		status    int
		body      string
	}{
		{"ready", ready(fine, fine), 200, `{"status":"ready","checks":{"server":"ok","database":"ok","storage":"ok"}}`},
		{"no storage", ready(fine, broken), 200,
			`{"status":"ready","storage":"unavailable","checks":{"server":"ok","database":"ok","storage":"the storage is unavailable: dial tcp db.internal: refused"}}`},
		{"no database", ready(broken, fine), 503,
			`{"message":"Service Unavailable","checks":{"server":"ok","database":"dial tcp db.internal: refused","storage":"ok"}}`},
		{"stopping", web.Readiness{Database: fine, Storage: fine, Stopping: stopping}, 503,
			`{"message":"Service Unavailable","checks":{"server":"the server is stopping","database":"ok","storage":"ok"}}`},
	} {
		health := web.NewHealth(test.readiness)
		got := serve(t, tokens{}, health.DetailedRoutes(nil)).ask(t, "GET /readyz")
		if got.status != test.status || strings.TrimSpace(got.body) != test.body {
			t.Errorf("%s: want %d %s: %+v", test.name, test.status, test.body, got)
		}
		short := serve(t, tokens{}, health.Routes(nil))
		if got := short.ask(t, "GET /readyz"); got.status != test.status || strings.Contains(got.body, "checks") {
			t.Errorf("%s, short: %+v", test.name, got)
		}
		level := "INFO"
		if strings.HasPrefix(test.name, "no ") { // unlike a planned stop
			level = "ERROR"
		}
		if lines := short.log.lines(t, "request"); len(lines) != 1 || lines[0]["level"] != level {
			t.Errorf("%s: want one line of level %s: %v", test.name, level, lines)
		}
		if got := short.ask(t, "GET /metrics"); got.status != 404 {
			t.Errorf("metrics that are not served: %+v", got)
		}
	}
}
