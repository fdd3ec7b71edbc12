package web_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
)

// TestFaults asks a sandbox for each fault.
func TestFaults(t *testing.T) {
	t.Parallel()
	var served atomic.Int32
	var waited atomic.Int64
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		served.Add(1)
		body, _ := io.ReadAll(r.Body)
		_ = http.NewResponseController(w).Flush() // as after a long request body
		_, _ = w.Write(body)
	})
	wait := func(_ context.Context, d time.Duration) { waited.Add(int64(d)) }
	server := httptest.NewUnstartedServer(web.WithFaults(handler, web.EncodeCoded, wait))
	server.Config.ErrorLog = nil
	server.Start()
	defer server.Close()
	for _, test := range []struct {
		fault  string
		status int // 0: the connection is closed
		body   string
		served int32
	}{
		{"", 200, "sent", 1},
		{"slow", 200, "sent", 1},
		{"429", 429, `{"error":{"code":"too_many_requests","message":"Too many requests in a short time."}}`, 0},
		{"503", 503, `{"error":{"code":"unavailable","message":"The service cannot answer for now."}}`, 0},
		{"reset", 0, "", 0},
		{"lost", 0, "", 1},
		{"Slow", 400, `{"error":{"code":"invalid_params","message":"X-Sandbox-Fault must be slow, 429, 503, reset or lost"}}`, 0},
		{"slow, reset", 400, `{"error":{"code":"invalid_params","message":"X-Sandbox-Fault must be slow, 429, 503, reset or lost"}}`, 0},
	} {
		served.Store(0)
		r := testenv.Of(http.NewRequestWithContext(t.Context(), http.MethodPut, server.URL, strings.NewReader("sent"))).Must(t)
		r.Header.Set(web.FaultHeader, test.fault)
		status, body := 0, ""
		if response, err := server.Client().Do(r); err == nil {
			content, _ := io.ReadAll(response.Body)
			_ = response.Body.Close()
			status, body = response.StatusCode, strings.TrimSpace(string(content))
			testenv.Equal(t, fmt.Sprintf("%q: Retry-After", test.fault), response.Header.Get("Retry-After") != "", status == 503 || status == 429)
		}
		if status != test.status || body != test.body || served.Load() != test.served {
			t.Errorf("%q: %d %s, served %d times", test.fault, status, body, served.Load())
		}
	}
	testenv.Equal(t, "slow responses waited", 5*time.Second, time.Duration(waited.Load()))
}
