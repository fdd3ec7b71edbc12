package commands_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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
	if _, err := client.WebhookEvents(r.Header, body, h.secret); err != nil {
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
// Proves decision 5 (webhooks: deliveries).
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
	testenv.Contains(t, "feed", feed, strings.Join(got, ","))
	testenv.Send(t, credential, "POST", s.BaseURL+"/v2/webhooks/1/test", "").WantText(t, 200, `"acknowledged":true`)
	testenv.Contains(t, "webhook of a test", hook.received(4)[3], `"seq":0,"type":"webhook.test","orderReference":""`)
	s.Stop(t)

	// The events that arrive while nobody delivers are delivered later.
	s = s.Folder.Serve(t, "--webhook-allow-private", "--no-webhooks")
	s.Import(t, document(3))
	s.Stop(t)
	testenv.Equal(t, "webhooks received", 4, len(hook.received(4)))
	s = s.Folder.Serve(t, "--webhook-allow-private")
	testenv.Contains(t, "webhook", hook.received(5)[4], `"seq":4,"type":"order.created","orderReference":"T-3"`)
}

// TestServeRefusesPrivateWebhooks checks that a server without the setting refuses
// addresses of its own network.
// Proves decision 5 (webhooks: addresses).
func TestServeRefusesPrivateWebhooks(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	credential := s.Folder.Token(t, "--merchant", "355", "--scopes", "webhooks,orders:read")
	for _, url := range []string{"http://127.0.0.1:8080/", "https://127.0.0.1/", "https://169.254.169.254/"} {
		testenv.Send(t, credential, "POST", s.BaseURL+"/v2/webhooks", `{"url":"`+url+`"}`).WantStatus(t, http.StatusBadRequest)
	}
}

// TestWebhookCommands manages a webhook with commands alone, and sends to it.
func TestWebhookCommands(t *testing.T) {
	t.Parallel()
	f := folder(t)
	f.Merchant(t, 355)
	f.Run(t, string(document(1)), "import", "-").WantText(t, 0)
	hook := &hookServer{t: t}
	receiver := httptest.NewServer(hook)
	t.Cleanup(receiver.Close)
	webhook := func(code int, want string, args ...string) string {
		t.Helper()
		got := f.Run(t, "", append([]string{"webhook"}, args...)...)
		got.WantText(t, code, want)
		return strings.TrimSpace(got.Stdout)
	}
	hook.secret = webhook(0, "whsec_", "add", "--merchant", "355", "--url", receiver.URL, "--types", "order.created", "--after", "0",
		"--description", "Αποθήκη", "--webhook-allow-private", "--as", "maria", "--ticket", "T-9")
	webhook(1, `there is no merchant 9: see "merchant-orders merchant list"`, "list", "--merchant", "9")
	webhook(1, `there is no merchant 9: see "merchant-orders merchant list"`, "add", "--merchant", "9", "--url", "https://hooks.example.com/")
	webhook(0, `"state":"active"`, "list", "--json", "--state", "active")
	webhook(0, "Αποθήκη", "list", "--merchant", "355")
	testenv.Equal(t, "failed webhooks", "", webhook(0, "", "list", "--merchant", "355", "--state", "failed", "--json"))
	webhook(0, "acknowledged webhook.test with status 200", "test", "1", "--webhook-allow-private")
	webhook(1, "has not acknowledged webhook.test: error address, status -", "test", "1")
	webhook(0, `"error":null`, "redeliver", "1", "--event", "1", "--json", "--webhook-allow-private")
	webhook(1, "the merchant has no event with that number", "redeliver", "1", "--event", "9")
	webhook(0, "webhook 1 of merchant 355: disabled, acknowledged 0", "disable", "1")
	webhook(0, "webhook 1 of merchant 355: disabled, acknowledged 1", "replay", "1", "--after", "1")
	webhook(0, `"state":"active"`, "enable", "1", "--json")
	hook.secret = webhook(0, "whsec_", "rotate", "1", "--overlap", "0s")
	webhook(0, "acknowledged", "test", "1", "--webhook-allow-private")
	webhook(0, "Old secret until  -", "show", "1")
	testenv.Lacks(t, "webhook show", webhook(0, `"deliveries":[{"id":4,`, "show", "1", "--json"), "whsec_")
	webhook(0, "webhook 1 of merchant 355 is removed", "remove", "1")
	webhook(1, "there is no webhook 1", "show", "1")
	hook.secret = webhook(0, "whsec_", "add", "--merchant", "all", "--url", receiver.URL, "--after", "0", "--webhook-allow-private")
	webhook(0, "all       active  0/0", "list", "--merchant", "all")
	const cursor = "--after (MERCHANT_ORDERS_AFTER): must be a cursor of the events of all merchants, or 0, for a webhook of all merchants"
	webhook(2, cursor, "add", "--merchant", "all", "--url", "https://hooks.example.com/", "--after", "1")
	webhook(2, cursor, "replay", "2", "--after", "1")
	webhook(2, "--merchant (MERCHANT_ORDERS_MERCHANT): is required for a webhook of all merchants", "redeliver", "2", "--event", "1")
	webhook(0, "acknowledged order.created", "redeliver", "2", "--event", "1", "--merchant", "355", "--webhook-allow-private")
	webhook(0, "355       1      1       order.created", "show", "2")
	webhook(0, "webhook 2 of merchant all is removed", "remove", "2")
	hook.received(4)
	headers := filepath.Join(t.TempDir(), "headers")
	testenv.NoError(t, os.WriteFile(headers, []byte("X-Api-Key: secret-1\nauthorization: Bearer secret-2\n"), 0o600))
	secrets := []string{"MERCHANT_ORDERS_HEADERS_FILE=" + headers, "MERCHANT_ORDERS_PASSWORD=secret-3"}
	withSecrets := func(args ...string) {
		t.Helper()
		got := apptest.RunIn(t, secrets, "", append([]string{"webhook", "--data", f.Data}, args...)...)
		if got.Code != 0 || got.Stderr != "" {
			t.Errorf("%q: %+v", args, got)
		}
	}
	const shown, none = `"include":"order","batch":100,"headerNames":["Authorization","X-Api-Key"],"username":"gate"`, `"include":null,"batch":100,"headerNames":[],"username":null`
	withSecrets("add", "--merchant", "355", "--url", "https://hooks.example.com/", "--include", "order", "--batch", "100", "--username", "gate")
	webhook(0, shown, "show", "3", "--json")
	webhook(0, "Authorization X-Api-Key", "show", "3")
	webhook(0, none, "change", "3", "--json", "--include", "", "--headers", "", "--username", "")
	webhook(0, "webhook 3 of merchant 355: active", "change", "3", "--types", "order.created,order.updated", "--description", "ERP")
	withSecrets("change", "3", "--url", "https://erp.example.com/", "--include", "order", "--username", "gate")
	got := webhook(0, `"url":"https://erp.example.com/","description":"ERP","types":["order.created","order.updated"],`+shown, "show", "3", "--json")
	webhook(0, `"types":[]`, "change", "3", "--types", "", "--json")
	webhook(0, `"batch":1,`, "change", "3", "--batch", "1", "--json")
	for _, batch := range []string{"0", "101"} {
		webhook(2, "--batch (MERCHANT_ORDERS_BATCH): must be from 1 to 100", "change", "3", "--batch", batch)
	}
	testenv.Lacks(t, "webhook show", got, "secret-")
	for _, flags := range [][]string{nil, {"--json"}, {"--webhook-allow-private"}} {
		webhook(2, "--url (MERCHANT_ORDERS_URL): or another flag that changes the webhook is required", append([]string{"change", "3"}, flags...)...)
	}
	webhook(2, "--username (MERCHANT_ORDERS_USERNAME): and --password must be given together", "change", "3", "--username", "gate")
	webhook(2, "--headers (MERCHANT_ORDERS_HEADERS): must be 1 to 1000 printable ASCII", "change", "3", "--headers", "X-A:")
	f.Run(t, "", "webhook", "change", "3", "--headers", "X-A: secret-4").WantText(t, 0, "can see --headers in the process list")
	audit := f.Run(t, "", "audit", "--json", "--action", "webhook.added")
	audit.WantText(t, 0, "by=maria ticket=T-9")
}
