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

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/metrics"
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

func TestRouter(t *testing.T) {
	t.Parallel()
	served := func(route, id string) any { return routed{Route: route, ID: fmt.Sprintf("%+q", id)} }
	missing := func(form string) any { return failure{Form: form, Error: 404} }
	type response struct {
		Status int
		Allow  []string
		Body   any
	}
	for _, test := range []struct {
		request string
		want    response
	}{
		{"GET /healthz", response{200, nil, served("health", "")}},
		{"GET /api/orders", response{200, nil, served("list", "")}},
		{"GET /v2/orders", response{200, nil, served("list 2", "")}},
		{"GET /api/orders?page=1", response{200, nil, served("list", "")}},
		{"GET /api/orders?path=/../x//y", response{200, nil, served("list", "")}},
		{"GET /api/orders/5", response{200, nil, served("get", "5")}},
		{"PUT /api/orders/5", response{200, nil, served("put", "5")}},
		{"PATCH /v2/orders/SF-1/accept", response{200, nil, served("accept", "SF-1")}},
		{"GET http://shop.example/api/orders", response{200, nil, served("list", "")}},

		// One slash at the end is ignored.
		{"GET /api/orders/", response{200, nil, served("list", "")}},
		{"GET /api/orders/?page=1", response{200, nil, served("list", "")}},
		{"PUT /api/orders/5/", response{200, nil, served("put", "5")}},
		{"POST /api/orders/5/invoices/", response{200, nil, served("upload", "5")}},
		{"GET /healthz/", response{200, nil, served("health", "")}},

		// A run of slashes is one in a group that merges them.
		{"GET /api/orders//", response{200, nil, served("list", "")}},
		{"GET /api/orders///", response{200, nil, served("list", "")}},
		{"GET /api//orders", response{200, nil, served("list", "")}},
		{"PUT /api///orders//5//", response{200, nil, served("put", "5")}},
		{"GET /api//orders//a%2F%2Fb?page=//", response{200, nil, served("get", "a//b")}},
		{"GET /api//orders/%2F", response{404, nil, missing("one")}},
		{"POST /v2//orders", response{404, nil, missing("two")}},
		{"GET /api//", response{404, nil, missing("one")}},
		{"GET /healthz//", response{404, nil, missing("rest")}},
		{"GET /api%2F/orders", response{404, nil, missing("rest")}},

		// Unclean paths have no route and are not redirected.
		{"GET /api//../v2/orders", response{404, nil, missing("one")}},
		{"GET //api/orders", response{404, nil, missing("rest")}},
		{"GET //", response{404, nil, missing("rest")}},
		{"GET /api/./orders", response{404, nil, missing("one")}},
		{"GET /api/../v2/orders", response{404, nil, missing("one")}},
		{"PUT /api/orders/../orders/5", response{404, nil, missing("one")}},
		{"GET /v2/../../etc/passwd", response{404, nil, missing("two")}},
		{"GET /api/orders/..", response{404, nil, missing("one")}},
		{"GET /..", response{404, nil, missing("rest")}},

		// Escaped characters are part of their segment.
		{"GET /api/orders/%2e%2e", response{200, nil, served("get", "..")}},
		{"GET /api/orders/%2e%2e/", response{200, nil, served("get", "..")}},
		{"GET /api/%2e%2e/%2e%2e/etc/passwd", response{404, nil, missing("one")}},
		{"GET /api/orders/a%2Fb", response{200, nil, served("get", "a/b")}},
		{"GET /api/orders/a%2Fb/", response{200, nil, served("get", "a/b")}},
		{"GET /api/orders/a%2F", response{200, nil, served("get", "a/")}},
		{"GET /api/orders/%2F", response{404, nil, missing("one")}}, // ServeMux does not match a slash alone
		{"GET /api/orders/%2F%2Fhost", response{200, nil, served("get", "//host")}},
		{"GET /api/orders/a%5Cb", response{200, nil, served("get", `a\b`)}},
		{"GET /api/orders/a%00b", response{200, nil, served("get", "a\x00b")}},
		{"GET /api/orders/%ff%fe", response{200, nil, served("get", "\xff\xfe")}},
		{"GET /api/orders/%FF", response{200, nil, served("get", "\xff")}},
		{"GET /api/orders/%0d%0aX:1", response{200, nil, served("get", "\r\nX:1")}},
		{"GET /api/orders/a%3Fb%23c", response{200, nil, served("get", "a?b#c")}},
		{"GET /api/orders/%E2%82%AC", response{200, nil, served("get", "€")}},
		{"GET /api/orders/a;b", response{200, nil, served("get", "a;b")}},
		{"GET /v2%2Forders", response{404, nil, missing("rest")}},

		// Each group encodes the errors of its paths.
		{"GET /", response{404, nil, missing("rest")}},
		{"GET /favicon.ico", response{404, nil, missing("rest")}},
		{"GET /api", response{404, nil, missing("one")}},
		{"GET /api/", response{404, nil, missing("one")}},
		{"POST /api", response{404, nil, missing("one")}},
		{"GET /apis", response{404, nil, missing("rest")}},
		{"GET /API/orders", response{404, nil, missing("rest")}},
		{"GET /api/Orders", response{404, nil, missing("one")}},
		{"DELETE /api/nothing", response{404, nil, missing("one")}},
		{"GET /api/orders/5/invoices/6/7", response{404, nil, missing("one")}},
		{"GET /v2", response{404, nil, missing("two")}},
		{"GET /v2/orders/SF-1/accept/now", response{404, nil, missing("two")}},
		{"GET /v2x/orders", response{404, nil, missing("rest")}},

		// Targets that are not paths.
		{"OPTIONS *", response{404, nil, missing("rest")}},
		{"GET *", response{404, nil, missing("rest")}},
		{"CONNECT shop.example:80", response{404, nil, missing("rest")}},
		{"GET http://shop.example", response{404, nil, missing("rest")}},

		// Paths that have routes, but not for this method.
		{"DELETE /api/orders", response{405, []string{"GET, HEAD"}, failure{"one", 405}}},
		{"DELETE /api/orders/", response{405, []string{"GET, HEAD"}, failure{"one", 405}}},
		{"PATCH /api/orders/5", response{405, []string{"GET, HEAD, PUT"}, failure{"one", 405}}},
		{"GET /api/orders/5/invoices", response{405, []string{"POST"}, failure{"one", 405}}},
		{"GET /api/orders/5/invoices/6", response{405, []string{"DELETE"}, failure{"file", 405}}}, // as other errors of the path
		{"GET /v2/orders/SF-1/accept", response{405, []string{"PATCH"}, failure{"two", 405}}},
		{"PUT /v2/orders/SF-1/accept", response{405, []string{"PATCH"}, failure{"two", 405}}},
		{"POST /healthz", response{405, []string{"GET, HEAD"}, failure{"rest", 405}}},
		{"OPTIONS /api/orders", response{405, []string{"GET, HEAD"}, failure{"one", 405}}},
		{"TRACE /api/orders", response{405, []string{"GET, HEAD"}, failure{"one", 405}}},
		{"CONNECT /api/orders", response{405, []string{"GET, HEAD"}, failure{"one", 405}}},
		{"BREW /api/orders", response{405, []string{"GET, HEAD"}, failure{"one", 405}}},
		{"get /api/orders", response{405, []string{"GET, HEAD"}, failure{"one", 405}}},
	} {
		t.Run(test.request, func(t *testing.T) {
			t.Parallel()
			server := serve(t, tokens{}, shop()...)
			got := server.ask(t, test.request)
			var body any
			if got.status == http.StatusOK {
				body = read[routed](t, got.body)
			} else {
				body = read[failure](t, got.body)
			}
			if diff := cmp.Diff(test.want, response{got.status, got.header.Values("Allow"), body}); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
			checkJSON(t, got)
		})
	}
}

// read decodes a body that is one JSON value.
func read[T any](t *testing.T, body string) T {
	t.Helper()
	var value T
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&value); err != nil {
		t.Errorf("body %q: %v", body, err)
	}
	return value
}

// checkJSON checks the headers of a JSON response.
func checkJSON(t *testing.T, got reply) {
	t.Helper()
	for name, want := range map[string]string{
		"Content-Type": "application/json; charset=utf-8", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Location": "",
	} {
		if value := got.header.Get(name); value != want {
			t.Errorf("%s is %q, want %q", name, value, want)
		}
	}
	if got.header.Get("X-Request-Id") == "" {
		t.Error("no request id")
	}
}

func TestHeadIsGetWithoutBody(t *testing.T) {
	t.Parallel()
	server := serve(t, tokens{}, shop()...)
	for _, path := range []string{"/api/orders", "/api/orders/5", "/api/nothing", "/healthz", "/api//orders", "/"} {
		get, head := server.ask(t, "GET "+path), server.ask(t, "HEAD "+path)
		if head.status != get.status || head.body != "" || head.header.Get("Content-Length") != get.header.Get("Content-Length") {
			t.Errorf("%s: GET %+v, HEAD %+v", path, get, head)
		}
		checkJSON(t, head)
	}
	if got := server.ask(t, "HEAD /api/orders/5/invoices"); got.status != 405 || got.header.Get("Allow") != "POST" || got.body != "" {
		t.Errorf("HEAD where only POST is served: %+v", got)
	}
}

// TestCrossSite checks that a request that changes something is refused if a browser
// sent it from another site, before its token or its body is looked at.
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
		if got.status != test.status {
			t.Errorf("%s %q: status %d, want %d", test.request, test.headers, got.status, test.status)
		}
		if test.status == 403 && read[failure](t, got.body) != (failure{test.form, 403}) {
			t.Errorf("%s %q: body %s", test.request, test.headers, got.body)
		}
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
		if got := body.(failure).Form; got != want {
			t.Errorf("%s: form %s, want %s", request, got, want)
		}
	}
}

// TestInternalErrors checks that the text of an internal error goes to the log and
// not to the client.
func TestInternalErrors(t *testing.T) {
	t.Parallel()
	fail := func(http.ResponseWriter, *web.Request) error { return errors.New("SELECT secret FROM orders") }
	unwritable := func(w http.ResponseWriter, _ *web.Request) error { return web.WriteJSON(w, 200, func() {}) }
	server := serve(t, tokens{}, web.RouteGroup{Errors: form("rest"), Routes: []web.Route{
		public("GET", "/fail", fail), public("GET", "/unwritable", unwritable),
	}})
	for _, path := range []string{"/fail", "/unwritable"} {
		got := server.ask(t, "GET "+path)
		if diff := cmp.Diff(failure{"rest", 500}, read[failure](t, got.body)); diff != "" || got.status != 500 {
			t.Errorf("%s: status %d, body (-want +got):\n%s", path, got.status, diff)
		}
	}
	server.stop()
	if lines := server.log.lines(t, "request"); len(lines) != 2 || lines[0]["error"] != "SELECT secret FROM orders" || lines[0]["level"] != "ERROR" {
		t.Errorf("log %v", lines)
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
