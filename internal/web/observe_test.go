package web_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"merchantorders/internal/metrics"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
	"merchantorders/internal/web"
)

// Proves decision 5 (request id, log).
func TestRequestID(t *testing.T) {
	t.Parallel()
	merchantToken, _ := token.NewText(token.MerchantPrefix)
	operatorToken, _ := token.NewText(token.OperatorPrefix)
	server := serve(t, tokens{}, shop()...)
	made := make(map[string]bool)
	var want []string
	for _, test := range []struct {
		sent     string
		accepted bool
	}{
		{"abc", true},
		{"0190b2f4-7c1e-7b3a-9d2f-3a5b6c7d8e9f", true},
		{"A.b_c-9", true},
		{"mobile-1", true},
		{"mop-1", true},
		{strings.Repeat("x", 64), true},
		{strings.Repeat("x", 65), false},
		{"", false},
		{"a b", false},
		{`a"b`, false},
		{"a=b", false},
		{"a\tb", false},
		{"ä", false},
		{"\xff", false},
		{"mo_", false},
		{"mop_x", false},
		{merchantToken, false},
		{operatorToken, false},
		{"id-" + merchantToken, false},
		{merchantToken[:20], false},
	} {
		got := server.ask(t, "GET /healthz", "X-Request-Id: "+test.sent)
		id := got.header.Get("X-Request-Id")
		want = append(want, id)
		testenv.Equal(t, fmt.Sprintf("%q is kept", test.sent), id == test.sent, test.accepted)
		if !test.accepted && (len(id) < 20 || made[id]) {
			t.Errorf("the new id %q is not new", id)
		}
		made[id] = true
	}
	if got := server.ask(t, "GET /nothing").header.Get("X-Request-Id"); got == "" {
		t.Error("a 404 has no id")
	} else {
		want = append(want, got)
	}
	server.stop()
	var logged []string
	for _, line := range server.log.Lines(t, "request") {
		logged = append(logged, line["request"].(string))
	}
	testenv.Equal(t, "ids in the log", want, logged)
}

func TestLogEntry(t *testing.T) {
	t.Parallel()
	verifier := tokens{"all": {ID: 7, MerchantID: 355, Scopes: order.DefaultScopes}, "operator": {ID: 8, Scopes: order.ScopeOrdersIngest}}
	server := serve(t, deadToken{verifier, 9}, guarded())
	server.ask(t, "GET /read", "X-Request-Id: 1", "Authorization: Bearer all")
	server.ask(t, "HEAD /read", "X-Request-Id: 2", "Authorization: Bearer all")
	server.ask(t, "GET /read", "X-Request-Id: 3", "Authorization: Bearer operator")
	server.ask(t, "GET /read", "X-Request-Id: 4", "Authorization: Bearer unknown")
	server.ask(t, "BREW /read", "X-Request-Id: 5")
	server.ask(t, "GET /nothing", "X-Request-Id: 6")
	server.ask(t, "GET /read", "X-Request-Id: 7", "Authorization: Bearer dead")
	server.stop()
	body := int64(len("{\"form\":\"rest\",\"error\":401}\n"))
	line := func(id, method, route string, status, bytes int64) map[string]any {
		return map[string]any{
			"level": "INFO", "msg": "request", "request": id, "method": method, "route": route,
			"status": float64(status), "bytes": float64(bytes), "ms": 1.5,
		}
	}
	with := func(line map[string]any, merchant, token int64) map[string]any {
		line["merchant"], line["token"] = float64(merchant), float64(token)
		return line
	}
	from := func(line map[string]any) map[string]any {
		line["client"] = "127.0.0.1"
		return line
	}
	refused := func(detail string, line map[string]any) map[string]any {
		line["detail"] = detail
		return line
	}
	const noToken = "What is sent is no token of this service: those of merchants begin with mo_, without quotes or brackets."
	dead := refused(noToken, line("7", "GET", "/read", 401, body))
	dead["token"] = 9.0
	want := []map[string]any{
		with(line("1", "GET", "/read", 200, int64(len("355\n"))), 355, 7),
		with(line("2", "HEAD", "/read", 200, 0), 355, 7),
		refused("This is an operator's token; use a token of the merchant.", from(with(line("3", "GET", "/read", 403, body), 0, 8))),
		refused(noToken, from(line("4", "GET", "/read", 401, body))),
		refused("This path takes GET, HEAD.", line("5", "other", "/read", 405, body)),
		refused("Nothing is at this path.", line("6", "GET", "unmatched", 404, body)),
		from(dead),
	}
	got := server.log.Lines(t, "request")
	for _, line := range got {
		delete(line, "time")
	}
	testenv.Equal(t, "log", want, got)
}

// deadToken is an Authenticator to which a token with the text dead has expired.
type deadToken struct {
	web.Authenticator
	id int64
}

func (d deadToken) Authenticate(ctx context.Context, text string, from netip.Addr) (token.Grant, error) {
	if text == "dead" {
		return token.Grant{}, &token.InvalidError{ID: d.id}
	}
	return d.Authenticator.Authenticate(ctx, text, from)
}

// TestLogHasNoSecrets searches the whole log for what the clients sent.
func TestLogHasNoSecrets(t *testing.T) {
	t.Parallel()
	secret, _ := token.NewText(token.MerchantPrefix)
	verifier := tokens{secret: {ID: 7, MerchantID: 355, Scopes: order.DefaultScopes}}
	groups := append(shop(), web.RouteGroup{Prefix: "/guarded", Errors: form("guarded"), Routes: guarded().Routes})
	groups[0].Routes = append(groups[0].Routes, public("GET", "/panic/{id}", func(http.ResponseWriter, *web.Request) error {
		panic("on purpose")
	}))
	server := serveLogging(t, web.RequestLog{NoAddresses: true}, verifier, groups...)
	for _, path := range []string{
		"/guarded/read", "/api/orders/REF-SECRET", "/REF-SECRET", "/api//REF-SECRET", "/panic/REF-SECRET", "/api/orders/%FF%00REF-SECRET",
	} {
		for _, method := range []string{"GET", "METHODSECRET"} {
			server.ask(t, method+" "+path+"?email=query@secret.example&token="+secret,
				"Authorization: Bearer "+secret, "X-Request-Id: "+secret, "User-Agent: agent-secret", "Referer: http://referer.secret/",
				"Cookie: cookie=secret", "X-Forwarded-For: 203.0.113.77")
			server.ask(t, method+" "+path, "Authorization: Basic "+basic("user@secret.example:"+secret))
			server.ask(t, method+" "+path, "Authorization: Basic broken-"+secret)
		}
	}
	server.stop()
	logged := server.log.String()
	testenv.Equal(t, "log lines", 36, strings.Count(logged, `"msg":"request"`))
	for _, word := range []string{
		"secret", "SECRET", secret, secret[3:], basic("user@secret.example:" + secret), "203.0.113.77", "%FF", "127.0.0.1",
	} {
		if i := strings.Index(logged, word); i >= 0 {
			t.Errorf("%q is in the log: %s", word, logged[max(0, i-100):min(len(logged), i+100)])
		}
	}
}

// Proves decision 5 (faults, 503).
func TestPanic(t *testing.T) {
	t.Parallel()
	begin := func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "half ")
		_ = http.NewResponseController(w).Flush()
	}
	server := serve(t, tokens{}, web.RouteGroup{Prefix: "/x", Errors: form("x"), Routes: []web.Route{
		public("GET", "/before", func(http.ResponseWriter, *web.Request) error { panic("password") }),
		public("GET", "/within", func(w http.ResponseWriter, _ *web.Request) error { begin(w); panic("password") }),
		public("GET", "/nil", func(w http.ResponseWriter, r *web.Request) error {
			var none http.Handler
			none.ServeHTTP(w, r.Request)
			return nil
		}),
		public("GET", "/abort", func(w http.ResponseWriter, _ *web.Request) error { begin(w); panic(http.ErrAbortHandler) }),
		public("GET", "/abort/early", func(http.ResponseWriter, *web.Request) error { panic(http.ErrAbortHandler) }),
	}}, web.RouteGroup{Errors: form("rest")})

	for _, path := range []string{"/x/before", "/x/nil"} {
		got := server.ask(t, "GET "+path)
		if got.status != 500 || read[failure](t, got.body) != (failure{"top", 500}) {
			t.Errorf("%s: %+v", path, got)
		}
		checkJSON(t, got)
	}
	for _, path := range []string{"/x/within", "/x/abort"} {
		if got := server.ask(t, "GET "+path); got.status != 200 || got.body != "half " || !got.cut {
			t.Errorf("%s: %+v", path, got)
		}
	}
	if got := server.ask(t, "GET /x/abort/early"); !got.cut || got.status != 0 {
		t.Errorf("aborted before it began: %+v", got)
	}
	// The server continues.
	testenv.Equal(t, "after the panics", 404, server.ask(t, "GET /nothing").status)
	server.stop()

	type fields struct{ Route, Level, Status, Error any }
	var got []fields
	for _, line := range server.log.Lines(t, "request") {
		got = append(got, fields{line["route"], line["level"], line["status"], line["error"]})
	}
	want := []fields{
		{"/x/before", "ERROR", 500.0, "a handler panicked"},
		{"/x/nil", "ERROR", 500.0, "a handler panicked"},
		{"/x/within", "ERROR", 200.0, "a handler panicked"},
		{"/x/abort", "ERROR", 200.0, "the response was aborted"},
		{"/x/abort/early", "ERROR", 0.0, "the response was aborted"},
		{"unmatched", "INFO", 404.0, nil},
	}
	testenv.Equal(t, "log", want, got)
	panics := server.log.Lines(t, "panic")
	if len(panics) != 3 {
		t.Fatalf("%d panics in the log", len(panics))
	}
	for _, line := range panics {
		if line["request"] == "" || !strings.Contains(line["stack"].(string), "observe_test.go") {
			t.Errorf("panic without its stack: %v", line)
		}
	}
}

// TestClientDisconnects checks that an error because the client has given the request up is
// logged as a warning with status 499.
func TestClientDisconnects(t *testing.T) {
	t.Parallel()
	ctx, reset := context.WithCancel(t.Context()) // as the client of a stream with HTTP/2 does
	log := new(testenv.Log)
	router := web.NewRouter(web.RouterConfig{Authenticator: tokens{}}, web.RouteGroup{Errors: form("rest"), Routes: []web.Route{
		public("GET", "/wait", func(_ http.ResponseWriter, r *web.Request) error {
			reset()
			return fmt.Errorf("read orders: %w", r.Context().Err())
		}),
	}})
	handler := web.Observe(router, form("top"), web.RequestLog{Logger: slog.New(slog.NewJSONHandler(log, nil))}, metrics.New(), ticking())
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/wait", http.NoBody).WithContext(ctx))
	lines := log.Lines(t, "request")
	if len(lines) != 1 || lines[0]["status"] != 499.0 || lines[0]["level"] != "WARN" || lines[0]["error"] != "read orders: context canceled" {
		t.Errorf("log %v", lines)
	}
}

func TestEmptyResponseIsOK(t *testing.T) {
	t.Parallel()
	server := serve(t, tokens{}, web.RouteGroup{Errors: form("rest"), Routes: []web.Route{
		public("GET", "/silent", func(http.ResponseWriter, *web.Request) error { return nil }),
		public("GET", "/plain", func(w http.ResponseWriter, _ *web.Request) error { _, err := io.WriteString(w, "ok"); return err }),
		public("GET", "/early", func(w http.ResponseWriter, _ *web.Request) error {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusNoContent)
			return nil
		}),
	}})
	want := map[string]float64{"/silent": 200, "/plain": 200, "/early": 204}
	for _, path := range slices.Sorted(maps.Keys(want)) {
		server.ask(t, "GET "+path)
	}
	server.stop()
	got := make(map[string]float64)
	for _, line := range server.log.Lines(t, "request") {
		got[line["route"].(string)] = line["status"].(float64)
	}
	testenv.Equal(t, "status in the log", want, got)
}
