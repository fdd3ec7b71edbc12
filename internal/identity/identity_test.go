package identity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"merchantorders/internal/testenv"
)

// TestHangingProvider signs in with a provider that hangs: the others do not wait for the
// first one, ask once in all, and can sign in as soon as the provider responds.
func TestHangingProvider(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	resume := make(chan int)
	server := httptest.NewUnstartedServer(nil)
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(<-resume)
		_, _ = fmt.Fprintf(w, `{"issuer": %q, "authorization_endpoint": "https://id.example.com/", "token_endpoint": "https://id.example.com/"}`, server.URL)
	})
	server.Start()
	t.Cleanup(server.Close)
	p := &Provider{Issuer: server.URL, ClientID: "orders", Now: func() time.Time { return time.Unix(1_800_000_000, 0) }}
	begin := func(ctx context.Context) error {
		_, _, err := p.Begin(ctx, "https://orders.example.com", "/")
		return err
	}
	first := make(chan error)
	go func() { first <- begin(t.Context()) }()
	testenv.Eventually(t, "a request", func() bool { return requests.Load() == 1 })
	gone, leave := context.WithCancel(t.Context())
	leave()
	for range 3 {
		if err := begin(gone); !errors.Is(err, ErrUnavailable) || !errors.Is(err, context.Canceled) {
			t.Errorf("while it hangs: %v", err)
		}
	}
	resume <- http.StatusBadGateway
	testenv.Equal(t, "after a 502", ErrUnavailable, <-first)
	go func() { first <- begin(t.Context()) }()
	resume <- http.StatusOK
	testenv.NoError(t, <-first)
	testenv.NoError(t, begin(t.Context()))
	testenv.Equal(t, "requests", int64(2), requests.Load())
}
