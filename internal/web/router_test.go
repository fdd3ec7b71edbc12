package web_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"merchantorders/internal/metrics"
	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
)

// routed is the response of the handlers in these tests.
type routed struct {
	Route string `json:"route"`
	ID    string `json:"id"`
}

// tell returns a handler that responds with the name of its route and the id in the
// path, quoted, because it may be invalid UTF-8.
func tell(route string) web.Handler {
	return func(w http.ResponseWriter, r *web.Request) error {
		return web.WriteJSON(w, http.StatusOK, routed{Route: route, ID: fmt.Sprintf("%+q", r.PathValue("id"))})
	}
}

// shop is three groups, one with the empty prefix.
func shop() []web.RouteGroup {
	return []web.RouteGroup{
		{Errors: form("rest"), Routes: []web.Route{public("GET", "/healthz", tell("health"))}},
		{Prefix: "/api", Errors: form("one"), MergeSlashes: true, BasicChallenge: true, Routes: []web.Route{
			public("GET", "/orders", tell("list")),
			public("GET", "/orders/{id}", tell("get")),
			public("PUT", "/orders/{id}", tell("put")),
			public("POST", "/orders/{id}/invoices", tell("upload")),
			public("DELETE", "/orders/{id}/invoices/{invoice}", tell("delete")).WithErrors(form("file")),
		}},
		{Prefix: "/v2", Errors: form("two"), Routes: []web.Route{
			public("GET", "/orders", tell("list 2")),
			public("PATCH", "/orders/{id}/accept", tell("accept")),
		}},
	}
}

// read decodes a body that is one JSON value.
func read[T any](t *testing.T, body string) T {
	t.Helper()
	var value T
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.DisallowUnknownFields()
	testenv.Equal(t, fmt.Sprintf("body %q", body), nil, decoder.Decode(&value))
	return value
}

// checkJSON checks the headers of a JSON response.
func checkJSON(t *testing.T, got reply) {
	t.Helper()
	for name, want := range map[string]string{
		"Content-Type": "application/json", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Location": "",
	} {
		testenv.Equal(t, name, want, got.header.Get(name))
	}
	if got.header.Get("X-Request-Id") == "" {
		t.Error("no request id")
	}
}

// TestCrossSite checks that a request that changes something is refused if a browser
// sent it from another site, before its token or its body is looked at.
// Proves decision 1 (other sites).
func TestCrossSite(t *testing.T) {
	t.Parallel()
	server := serve(t, tokens{}, shop()...)
	for _, test := range []struct {
		request string
		headers []string
		status  int
		form    string
	}{
		{"PUT /api/orders/5", nil, 200, ""},
		{"PUT /api/orders/5", []string{"Sec-Fetch-Site: same-origin"}, 200, ""},
		{"PUT /api/orders/5", []string{"Sec-Fetch-Site: none"}, 200, ""},
		{"PUT /api/orders/5", []string{"Origin: https://shop.example"}, 200, ""}, // the host of the request
		{"GET /api/orders/5", []string{"Sec-Fetch-Site: cross-site"}, 200, ""},
		{"HEAD /api/orders/5", []string{"Sec-Fetch-Site: cross-site"}, 200, ""},
		{"PUT /api/orders/5", []string{"Sec-Fetch-Site: cross-site"}, 403, "one"},
		{"PUT /api//orders/5/", []string{"Sec-Fetch-Site: same-site"}, 403, "one"},
		{"PUT /api/orders/5", []string{"Origin: https://evil.example"}, 403, "one"},
		{"PUT /api/orders/5", []string{"Origin: null"}, 403, "one"},
		{"DELETE /api/orders/5/invoices/6", []string{"Sec-Fetch-Site: cross-site"}, 403, "file"},
		{"PATCH /v2/orders/5/accept", []string{"Sec-Fetch-Site: cross-site"}, 403, "two"},
		{"POST /v2/nothing", []string{"Sec-Fetch-Site: cross-site"}, 403, "two"},
		{"POST /healthz", []string{"Sec-Fetch-Site: cross-site"}, 403, "rest"},
	} {
		got := server.ask(t, test.request, test.headers...)
		testenv.Equal(t, fmt.Sprintf("%s %q: status", test.request, test.headers), test.status, got.status)
		if test.status == 403 && read[failure](t, got.body) != (failure{test.form, 403}) {
			t.Errorf("%s %q: body %s", test.request, test.headers, got.body)
		}
	}
}

// TestOwnOrigin sends a form of a page of the service through a proxy that puts its own Host
// into requests, from a browser without Sec-Fetch-Site.
func TestOwnOrigin(t *testing.T) {
	t.Parallel()
	router := web.NewRouter(web.RouterConfig{Authenticator: tokens{}, Origin: "https://orders.example.com"}, shop()...)
	for origin, want := range map[string]int{"https://orders.example.com": 200, "http://orders.example.com": 403, "https://evil.example": 403} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("PUT", "http://127.0.0.1:8080/api/orders/5", http.NoBody)
		r.Header.Set("Origin", origin)
		router.ServeHTTP(w, r)
		testenv.Equal(t, origin+": status", want, w.Code)
	}
}

// TestEncodeError checks the form of errors that no handler returns, such as a panic.
func TestEncodeError(t *testing.T) {
	t.Parallel()
	router := web.NewRouter(web.RouterConfig{}, shop()...)
	for request, want := range map[string]string{
		"GET /api/orders":                    "one",
		"DELETE /api/orders/5/invoices/6":    "file",
		"DELETE /api//orders/5/invoices/6/":  "file",
		"DELETE /api/orders/5/invoices/6/7":  "one",
		"PATCH /v2/orders/5/accept":          "two",
		"GET /healthz":                       "rest",
		"PUT /api/orders/5/invoices/6?a=b//": "file",
	} {
		method, target, _ := strings.Cut(request, " ")
		_, body := router.EncodeError(httptest.NewRequest(method, target, nil), errors.New("test"))
		testenv.Equal(t, request+": form", want, body.(failure).Form)
	}
}

// TestErrorBodyFails checks that the response is a 500 if the body of an error cannot
// be encoded.
func TestErrorBodyFails(t *testing.T) {
	t.Parallel()
	broken := func(*http.Request, error) (int, any) { return 404, func() {} }
	server := serve(t, tokens{}, web.RouteGroup{Errors: broken})
	if got := server.ask(t, "GET /nothing"); got.status != 500 || got.body != "" {
		t.Errorf("%+v", got)
	}
}

// FuzzPath checks that every path gets a JSON response and no redirect.
func FuzzPath(f *testing.F) {
	for _, seed := range []string{
		"/", "*", "/api", "//", "/api/orders", "/api/orders/", "/api/orders//", "/api/../x", "/api/%2e%2e/x", "/api/orders/%2F", "/api/orders/%00",
		"/v2/orders/%ff/accept", "/%61pi/orders", "http://x/api", "http://x", "/api/orders?;", "/api/orders#x", "/./", "/..", "/api/orders/.",
	} {
		f.Add("GET", seed)
		f.Add("PUT", seed)
		f.Add("CONNECT", seed)
	}
	router := web.NewRouter(web.RouterConfig{}, shop()...)
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	handler := web.Observe(router, form("top"), web.RequestLog{Logger: log}, metrics.New(), ticking())
	f.Fuzz(func(t *testing.T, method, path string) {
		request, err := http.ReadRequest(bufio.NewReader(strings.NewReader(method + " " + path + " HTTP/1.1\r\nHost: x\r\n\r\n")))
		if err != nil {
			return
		}
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, request)
		switch recorder.Code {
		case 200, 404, 405:
		default:
			t.Errorf("%s %q: status %d", method, path, recorder.Code)
		}
		if !json.Valid(recorder.Body.Bytes()) {
			t.Errorf("%s %q: body %q", method, path, recorder.Body)
		}
	})
}
