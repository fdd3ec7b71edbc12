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
		server := serve(t, tokens{}, web.HealthRoutes(test.readiness, web.NewMetrics()))
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
	server := serve(t, tokens{}, web.HealthRoutes(ready(fine, fine), web.NewMetrics()))
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
	server := serve(t, tokens{}, web.HealthRoutes(ready(broken, fine), web.NewMetrics()))
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
	server := serve(t, tokens{}, web.HealthRoutes(ready(func(context.Context) error { panic("on purpose") }, fine), web.NewMetrics()))
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
	server := serve(t, tokens{}, web.HealthRoutes(ready(fine, fine), metrics))
	got := server.ask(t, "GET /metrics")
	if got.status != 200 || !strings.HasPrefix(got.header.Get("Content-Type"), "text/plain") {
		t.Errorf("status %d, headers %v", got.status, got.header)
	}
	if !strings.Contains(got.body, "\nmerchant_orders_uploaded_bytes_total 5\n") {
		t.Errorf("metrics %s", got.body)
	}
}
