package web_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"merchantorders/internal/metrics"
	"merchantorders/internal/metrics/metricstest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
)

// TestMetricsAreBounded checks that requests with invented paths and methods do not
// create new series.
func TestMetricsAreBounded(t *testing.T) {
	t.Parallel()
	server := serve(t, tokens{}, append(shop(), web.RouteGroup{Prefix: "/guarded", Errors: form("g"), Routes: guarded().Routes})...)
	for i := range 40 {
		for _, path := range []string{
			"/api/orders/%d", "/api/nothing/%d", "/made-up-%d", "/api//%d", "/v2/orders/%d/accept", "/guarded/read?token=%d",
		} {
			path = fmt.Sprintf(path, i)
			server.ask(t, fmt.Sprintf("METHOD%d %s", i, path))
			server.ask(t, "GET "+path)
		}
	}
	server.stop()
	lines := metricstest.Series(t, server.metrics, "merchant_orders_requests_total")
	allowed := regexp.MustCompile(`^merchant_orders_requests_total\{class="(other|read)",method="(GET|other)",` +
		`route="(/api/orders/\{id\}|/v2/orders/\{id\}/accept|/guarded/read|unmatched)",status="(200|401|404|405)"\} [0-9]+$`)
	for _, line := range lines {
		if !allowed.MatchString(line) {
			t.Errorf("unexpected series %s", line)
		}
	}
	testenv.Equal(t, "series", 8, len(lines))
	metricstest.Want(t, server.metrics, `merchant_orders_requests_total{class="other",method="GET",route="unmatched",status="404"} 120`)
	metricstest.Want(t, server.metrics, `merchant_orders_requests_total{class="other",method="other",route="/api/orders/{id}",status="405"} 40`)
	metricstest.Want(t, server.metrics, `merchant_orders_request_seconds_count{class="read",route="/guarded/read"} 40`)
}

// TestClasses checks which requests count as reads, writes and streams.
func TestClasses(t *testing.T) {
	t.Parallel()
	nothing := func(http.ResponseWriter, *web.Request) error { return nil }
	server := serve(t, tokens{}, web.RouteGroup{Errors: form("x"), Routes: []web.Route{
		public("GET", "/page", nothing), public("POST", "/page", nothing), public("POST", "/files", nothing).AsUpload(),
		public("GET", "/file", nothing).AsStream(), public("GET", "/probe", nothing).ForMonitoring(),
		web.StreamRoute("/import", web.Merchants(order.DefaultScopes), nil), web.WriteRoute(http.MethodPost, "/upload", web.Merchants(order.DefaultScopes), nil).AsUpload(),
	}})
	for _, request := range []string{"GET /page", "HEAD /page", "POST /page", "DELETE /page", "POST /files", "GET /file", "GET /probe", "POST /import", "POST /upload"} {
		server.ask(t, request)
	}
	server.stop()
	for _, want := range []string{
		`class="read",route="/page"} 2`, `class="write",route="/page"} 1`, `class="other",route="/page"} 1`, `class="stream",route="/files"} 1`,
		`class="stream",route="/file"} 1`, `class="monitoring",route="/probe"} 1`, `class="stream",route="/import"} 1`, `class="stream",route="/upload"} 1`,
	} {
		metricstest.Want(t, server.metrics, "merchant_orders_request_seconds_count{"+want)
	}
	metricstest.Want(t, server.metrics, `merchant_orders_request_seconds_sum{class="read",route="/page"} 0.003`)
}

// TestErrorKinds checks how failed requests are counted.
func TestErrorKinds(t *testing.T) {
	t.Parallel()
	kinds := map[string]error{
		"unavailable": fmt.Errorf("the database is %w", order.ErrUnavailable), "damaged_file": order.ErrInvoiceDamaged,
		"upload": fmt.Errorf("%w: %w", order.ErrUploadFailed, order.ErrUnavailable), "internal": errors.New("something else"),
	}
	var routes []web.Route
	for kind, err := range kinds {
		routes = append(routes, public("GET", "/"+kind, func(http.ResponseWriter, *web.Request) error { return err }))
	}
	routes = append(routes,
		public("GET", "/panic", func(http.ResponseWriter, *web.Request) error { panic("on purpose") }),
		public("GET", "/aborted", func(http.ResponseWriter, *web.Request) error { panic(http.ErrAbortHandler) }),
		public("GET", "/missing", func(http.ResponseWriter, *web.Request) error { return web.ErrRouteNotFound }))
	server := serve(t, tokens{}, web.RouteGroup{Errors: form("x"), Routes: routes})
	for _, route := range routes {
		server.ask(t, "GET "+route.Path())
	}
	server.stop()
	for _, kind := range []string{"unavailable", "damaged_file", "upload", "internal", "panic", "aborted"} {
		metricstest.Want(t, server.metrics, `merchant_orders_errors_total{kind="`+kind+`"} 1`)
	}
	for _, kind := range []string{"client_closed", "overloaded", "storage", "timeout"} {
		metricstest.Want(t, server.metrics, `merchant_orders_errors_total{kind="`+kind+`"} 0`)
	}
}

// TestUploadsInProgress checks that an upload counts from its authentication to its
// response, and that other writes do not.
func TestUploadsInProgress(t *testing.T) {
	t.Parallel()
	metrics := metrics.New()
	var during []string
	handle := func(*web.Request) (web.Response, error) {
		during = append(during, metricstest.Series(t, metrics, "merchant_orders_uploads_in_progress")...)
		return web.Response{}, order.ErrUnavailable
	}
	verifier := tokens{"all": {ID: 7, MerchantID: 355, Scopes: order.DefaultScopes}}
	router := web.NewRouter(web.RouterConfig{Authenticator: verifier, Metrics: metrics}, web.RouteGroup{
		Errors: form("x"),
		Routes: []web.Route{
			web.WriteRoute(http.MethodPost, "/upload", web.Merchants(order.DefaultScopes), handle).AsUpload(), web.WriteRoute("POST", "/write", web.Merchants(order.DefaultScopes), handle),
		},
	})
	for _, path := range []string{"/upload", "/write"} {
		request := httptest.NewRequest("POST", path, nil)
		request.Header.Set("Authorization", "Bearer all")
		router.ServeHTTP(httptest.NewRecorder(), request)
	}
	testenv.Equal(t, "during an upload and another write", "[merchant_orders_uploads_in_progress 1 merchant_orders_uploads_in_progress 0]", fmt.Sprint(during))
	metricstest.Want(t, metrics, "merchant_orders_uploads_in_progress 0")
}
