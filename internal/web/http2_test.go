package web

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"merchantorders/internal/testenv"
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
		testenv.Equal(t, fmt.Sprintf("%s: %s", path, response.Proto), 2, response.ProtoMajor)
		return response.StatusCode
	}
	waited := make(chan int, 1)
	go func() { waited <- send("/wait", nil) }()
	half, writer := io.Pipe()
	go func() { _, _ = io.WriteString(writer, "half") }()
	testenv.Equal(t, "status", http.StatusBadRequest, send("/stalled", half))
	_ = writer.Close()
	close(release)
	testenv.Equal(t, "the other request: status", http.StatusOK, <-waited)
}
