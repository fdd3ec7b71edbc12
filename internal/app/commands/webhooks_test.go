package commands_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"merchantorders/client"
	"merchantorders/internal/app/apptest"
)

// hookServer records the bodies that it receives. It verifies their signatures.
type hookServer struct {
	t      *testing.T
	mu     sync.Mutex
	secret string
	bodies []string
}

func (h *hookServer) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, err := client.VerifyWebhook(r.Header, body, h.secret); err != nil {
		h.t.Errorf("%s: %v", body, err)
	}
	h.bodies = append(h.bodies, string(body))
}

// received waits until there are n bodies and returns them.
func (h *hookServer) received(n int) []string {
	h.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		h.mu.Lock()
		bodies := h.bodies
		h.mu.Unlock()
		if len(bodies) >= n {
			return bodies
		}
		if time.Now().After(end) {
			h.t.Fatalf("received %q in a minute", bodies)
		}
	}
}

// TestServeWebhooks delivers over HTTP what the feed has, before and after a restart
// with the delivery turned off.
func TestServeWebhooks(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, "--webhook-allow-private")
	hook := &hookServer{t: t}
	receiver := httptest.NewServer(hook)
	t.Cleanup(receiver.Close)
	credential := s.Folder.Token(t, "--merchant", "355", "--scopes", "webhooks,orders:read,orders:write")
	status, response := call(t, "POST", s.BaseURL+"/v2/webhooks", credential, `{"url":"`+receiver.URL+`"}`)
	var added struct{ Secret string }
	if err := json.Unmarshal([]byte(response), &added); status != http.StatusCreated || err != nil {
		t.Fatalf("%d %s", status, response)
	}
	hook.secret = added.Secret
	s.Import(t, document(1), document(2))
	call(t, "PATCH", s.BaseURL+"/v2/orders/T-1/accept", credential, "")
	got := hook.received(3)
	_, feed := get(t, s.BaseURL+"/v2/events", credential)
	if !strings.Contains(feed, strings.Join(got, ",")) {
		t.Errorf("received %s\nthe feed is %s", got, feed)
	}
	status, response = call(t, "POST", s.BaseURL+"/v2/webhooks/1/test", credential, "")
	if tested := hook.received(4)[3]; status != 200 || !strings.Contains(response, `"acknowledged":true`) ||
		!strings.Contains(tested, `"seq":0,"type":"webhook.test","orderReference":""`) {
		t.Errorf("test: %d %s, received %s", status, response, tested)
	}
	s.Stop(t)

	// The events that arrive while nobody delivers are delivered later.
	s = s.Folder.Serve(t, "--webhook-allow-private", "--no-webhooks")
	s.Import(t, document(3))
	s.Stop(t)
	if got := hook.received(4); len(got) != 4 {
		t.Errorf("received %s", got)
	}
	s = s.Folder.Serve(t, "--webhook-allow-private")
	if got := hook.received(5); !strings.Contains(got[4], `"seq":4,"type":"order.created","orderReference":"T-3"`) {
		t.Errorf("received %s", got)
	}
}

// TestServeRefusesPrivateWebhooks checks that a server without the setting refuses
// addresses of its own network.
func TestServeRefusesPrivateWebhooks(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	credential := s.Folder.Token(t, "--merchant", "355", "--scopes", "webhooks")
	for _, url := range []string{"http://127.0.0.1:8080/", "https://127.0.0.1/", "https://169.254.169.254/"} {
		if status, response := call(t, "POST", s.BaseURL+"/v2/webhooks", credential, `{"url":"`+url+`"}`); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", url, status, response)
		}
	}
}
