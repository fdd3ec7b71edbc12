package web

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// TestHTTP2StalledBody checks that the deadline of a body that does not arrive ends its
// request, and not the others of the connection.
func TestHTTP2StalledBody(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/wait" {
			<-release
			return
		}
		r, body := withRequestBody(w, r)
		body.setTimeout(50 * time.Millisecond)
		if _, err := io.Copy(io.Discard, r.Body); err == nil {
			t.Error("half a body was read whole")
		}
		w.WriteHeader(http.StatusBadRequest)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	send := func(path string, body io.Reader) int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, body)
		if err != nil {
			t.Error(err)
			return 0
		}
		response, err := server.Client().Do(request)
		if err != nil {
			return 0
		}
		defer func() { _ = response.Body.Close() }()
		if response.ProtoMajor != 2 {
			t.Errorf("%s: %s", path, response.Proto)
		}
		return response.StatusCode
	}
	waited := make(chan int, 1)
	go func() { waited <- send("/wait", nil) }()
	half, writer := io.Pipe()
	go func() { _, _ = io.WriteString(writer, "half") }()
	if status := send("/stalled", half); status != http.StatusBadRequest {
		t.Errorf("status %d", status)
	}
	_ = writer.Close()
	close(release)
	if status := <-waited; status != http.StatusOK {
		t.Errorf("the other request: status %d", status)
	}
}
