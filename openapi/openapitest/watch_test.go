package openapitest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// endedTest stands for a test that comes to its end before the real one does.
type endedTest struct {
	testing.TB
	cleanups []func()
	failed   bool
}

// Cleanup implements testing.TB.
func (e *endedTest) Cleanup(f func()) { e.cleanups = append(e.cleanups, f) }

// Errorf implements testing.TB.
func (e *endedTest) Errorf(string, ...any) { e.failed = true }

func (e *endedTest) end() {
	for _, f := range e.cleanups {
		f()
	}
}

// serveOnce asks a watched handler over HTTP to reject an order.
func serveOnce(t *testing.T, watch func(http.Handler) http.Handler, status int, body string) {
	t.Helper()
	reject(t, watch(answering(t, status, body)), http.DefaultTransport)
}

// askOnce asks a handler over HTTP to reject an order, with a watched client.
func askOnce(t *testing.T, watching testing.TB, status int, body string) {
	t.Helper()
	reject(t, answering(t, status, body), WatchTransport(watching, http.DefaultTransport))
}

func answering(t *testing.T, status int, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		for name, values := range good().Header {
			if name != "Content-Length" {
				w.Header()[name] = values
			}
		}
		if status != 0 {
			w.WriteHeader(status)
		}
		_, _ = io.WriteString(w, body)
	})
}

func reject(t *testing.T, handler http.Handler, transport http.RoundTripper) {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), "PATCH", server.URL+"/v2/orders/SF-1/reject", strings.NewReader(`{"status":"D"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer mo_x")
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(response.Body); err != nil || !strings.HasPrefix(string(text), `{"success":`) {
		t.Errorf("the client reads %q, %v", text, err)
	}
	_ = response.Body.Close()
}
