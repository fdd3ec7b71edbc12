package web_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"merchantorders/internal/web"
)

func fine(context.Context) error { return nil }

func TestHealth(t *testing.T) {
	t.Parallel()
	server := serve(t, tokens{}, web.HealthRoutes(fine, web.NewMetrics()))
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
	server := serve(t, tokens{}, web.HealthRoutes(broken, web.NewMetrics()))
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
	server := serve(t, tokens{}, web.HealthRoutes(func(context.Context) error { panic("on purpose") }, web.NewMetrics()))
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
	server := serve(t, tokens{}, web.HealthRoutes(fine, metrics))
	got := server.ask(t, "GET /metrics")
	if got.status != 200 || !strings.HasPrefix(got.header.Get("Content-Type"), "text/plain") {
		t.Errorf("status %d, headers %v", got.status, got.header)
	}
	if !strings.Contains(got.body, "\nmerchant_orders_uploaded_bytes_total 5\n") {
		t.Errorf("metrics %s", got.body)
	}
}
