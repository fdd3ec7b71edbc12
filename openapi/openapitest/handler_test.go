package openapitest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
)

// fakeTest is a testing.TB whose cleanups a test can run.
type fakeTest struct {
	testing.TB
	cleanups []func()
	failed   bool
}

// Cleanup implements testing.TB.
func (e *fakeTest) Cleanup(f func()) { e.cleanups = append(e.cleanups, f) }

// Errorf implements testing.TB.
func (e *fakeTest) Errorf(string, ...any) { e.failed = true }

func (e *fakeTest) end() {
	for _, f := range e.cleanups {
		f()
	}
}

// checkByHandler sends a request to a checked handler.
func checkByHandler(t *testing.T, watch func(http.Handler) http.Handler, status int, body string) {
	t.Helper()
	reject(t, watch(respondWith(t, status, body)), http.DefaultTransport)
}

// checkByTransport sends a request with a checked client.
func checkByTransport(t *testing.T, tb testing.TB, status int, body string) {
	t.Helper()
	reject(t, respondWith(t, status, body), CheckTransport(tb, http.DefaultTransport))
}

func respondWith(t *testing.T, status int, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		testenv.Of(io.Copy(io.Discard, r.Body)).WantError(t, "copy", nil)
		for name, values := range valid().Header {
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
	request := testenv.Of(http.NewRequestWithContext(t.Context(), "PATCH", server.URL+"/v2/orders/SF-1/reject", strings.NewReader(`{"status":"D"}`))).Must(t)
	request.Header.Set("Authorization", "Bearer mo_x")
	response, err := transport.RoundTrip(request)
	testenv.NoError(t, err)
	if text, err := io.ReadAll(response.Body); err != nil || !strings.HasPrefix(string(text), `{"success":`) {
		t.Errorf("the client reads %q, %v", text, err)
	}
	_ = response.Body.Close()
}
