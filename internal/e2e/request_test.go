package e2e

import (
	"context"
	"encoding/base64"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// request is what a client sends.
type request struct {
	method string
	path   string // with its query
	body   string
	header http.Header // without Authorization, the request has the merchant's token
	stream io.Reader   // a body sent in chunks, instead of body
}

func get(path string) request       { return request{method: http.MethodGet, path: path} }
func put(path, body string) request { return request{method: http.MethodPut, path: path, body: body} }
func patch(path, body string) request {
	return request{method: http.MethodPatch, path: path, body: body}
}
func post(path, body string) request { return request{method: http.MethodPost, path: path, body: body} }
func remove(path string) request     { return request{method: http.MethodDelete, path: path} }

const noAuth = "-"

func bearer(token string) string { return "Bearer " + token }

// basic is the Authorization header of a user with a password.
func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// as returns the request with an Authorization header, or with noAuth; empty: with the
// merchant's token.
func (r request) as(auth string) request {
	r.header = r.headers()
	switch auth {
	case "":
		r.header.Del("Authorization")
	case noAuth:
		r.header["Authorization"] = nil
	default:
		r.header.Set("Authorization", auth)
	}
	return r
}

func (r request) by(token string) request { return r.as(bearer(token)) }

// with returns the request with one more header.
func (r request) with(name, value string) request {
	r.header = r.headers()
	r.header.Add(name, value)
	return r
}

// headers returns a copy of the headers.
func (r request) headers() http.Header {
	if r.header == nil {
		return http.Header{}
	}
	return r.header.Clone()
}

// response is what the service sends back.
type response struct {
	request request
	status  int
	header  http.Header
	body    string
}

// send sends a request and returns the response as it came.
func (s *service) send(t testing.TB, r request) response {
	t.Helper()
	a, err := s.trySend(t.Context(), r)
	if err != nil {
		t.Fatalf("%s: %v", a, err)
	}
	return a
}

// trySend is send for goroutines beside that of the test.
func (s *service) trySend(ctx context.Context, r request) (response, error) {
	body := r.stream
	if body == nil {
		body = strings.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, s.Address(r.path), body)
	if err != nil {
		return response{request: r}, err
	}
	req.Header = r.headers()
	got, err := s.client.Do(req)
	return response{r, got.Status, got.Header, got.Body}, err
}

// do sends a request and sees that its response keeps to what holds for all.
func (s *service) do(t testing.TB, r request) response {
	t.Helper()
	a := s.send(t, r)
	if a.header.Get("X-Request-Id") == "" {
		t.Errorf("%s has no X-Request-Id", a)
	}
	if a.status >= 300 && a.status < 400 && a.status != http.StatusNotModified {
		t.Errorf("%s is a redirect", a)
	}
	if a.header.Get("X-Content-Type-Options") != "nosniff" && a.isJSON() {
		t.Errorf("%s lets a browser guess its type", a)
	}
	if a.status >= 400 {
		a.wantErrorForm(t)
	}
	return a
}

// isJSON reports whether the response has to be JSON: all but files and metrics.
func (a response) isJSON() bool {
	file := strings.HasPrefix(a.request.path, "/storage/") || strings.HasPrefix(a.request.path, "/metrics")
	return a.status >= 400 || !file
}

// inside are words that no response with an error may have in it.
var inside = regexp.MustCompile(`(?i)\b(sql|sqlite|constraint|goroutine|panic|errno|no such file|postgres)|\.go:\d`)

// wantErrorForm sees that an error has the form of the part of the service
// that the path belongs to.
func (a response) wantErrorForm(t testing.TB) {
	t.Helper()
	a.wantJSONType(t)
	if a.request.method == http.MethodHead {
		if a.body != "" {
			t.Errorf("%s has a body", a)
		}
		return
	}
	form := `{"message":"..."}`
	path, _, _ := strings.Cut(a.request.path+"/", "?")
	inV2 := strings.HasPrefix(path, "/v2/")
	flatInV2 := strings.Contains(path, "/invoices") && at(t, a.body, "error") == ""
	if inV2 && !flatInV2 || strings.HasPrefix(path, "/operator/") {
		form = `{"error":{"code":"...","message":"..."}}`
	}
	wantJSON(t, a.String(), a.body, form)
	if found := inside.FindString(a.body); found != "" {
		t.Errorf("%s reveals internals: %q in %s", a, found, a.body)
	}
}

// wantJSONType sees that the response says that it is JSON.
func (a response) wantJSONType(t testing.TB) {
	t.Helper()
	if kind, _, err := mime.ParseMediaType(a.header.Get("Content-Type")); err != nil || kind != "application/json" {
		t.Errorf("%s: Content-Type is %q, want application/json", a, a.header.Get("Content-Type"))
	}
}

// want sees that the response has a status and a JSON body.
func (a response) want(t testing.TB, status int, body string) {
	t.Helper()
	if a.status != status {
		t.Errorf("%s: status %d, want %d: %s", a, a.status, status, a.short())
		return
	}
	a.wantJSONType(t)
	wantJSON(t, a.String(), a.body, body)
}

// ok returns the body of a response that has to be good.
func (a response) ok(t testing.TB) string {
	t.Helper()
	if a.status != http.StatusOK {
		t.Fatalf("%s: status %d: %s", a, a.status, a.short())
	}
	return a.body
}

// String names the response by its request.
func (a response) String() string { return a.request.method + " " + a.request.path }

func (a response) short() string { return a.body[:min(len(a.body), 500)] }
