package commands_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"merchantorders/client"
	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
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
func (h *hookServer) received(n int) (bodies []string) {
	h.t.Helper()
	testenv.Eventually(h.t, fmt.Sprintf("%d messages are received", n), func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		bodies = h.bodies
		return len(bodies) >= n
	})
	return bodies
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
	var added struct{ Secret string }
	testenv.Send(t, credential, "POST", s.BaseURL+"/v2/webhooks", `{"url":"`+receiver.URL+`"}`).Decode(t, &added)
	hook.secret = added.Secret
	s.Import(t, document(1), document(2))
	testenv.Send(t, credential, "PATCH", s.BaseURL+"/v2/orders/T-1/accept", "")
	got := hook.received(3)
	feed := testenv.Send(t, credential, "GET", s.BaseURL+"/v2/events", "").Body
	if !strings.Contains(feed, strings.Join(got, ",")) {
		t.Errorf("received %s\nthe feed is %s", got, feed)
	}
	testenv.Send(t, credential, "POST", s.BaseURL+"/v2/webhooks/1/test", "").WantText(t, 200, `"acknowledged":true`)
	if tested := hook.received(4)[3]; !strings.Contains(tested, `"seq":0,"type":"webhook.test","orderReference":""`) {
		t.Errorf("test: received %s", tested)
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
		testenv.Send(t, credential, "POST", s.BaseURL+"/v2/webhooks", `{"url":"`+url+`"}`).WantStatus(t, http.StatusBadRequest)
	}
}
