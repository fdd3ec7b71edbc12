package api_test

import (
	"fmt"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/testenv"
)

// trace is what an event or a log line tells about a change.
type trace struct {
	Order, Request string
	Token          int64
}

// logLines returns the lines of the log with a message. The service has stopped.
func (s *service) logLines(message string) []map[string]any {
	s.T.Helper()
	s.Stop()
	return s.Log.Lines(s.T, message)
}

// TestChangesAreTraced checks that the event and the log line of every change name
// its order, its token and its request, and that other log lines name no order.
func TestChangesAreTraced(t *testing.T) {
	t.Parallel()
	s := start(t)
	var want []trace
	const merchant, operator = 1, 3
	change := func(token int64, reference, method, path, body string, status int) {
		t.Helper()
		text := s.merchant
		if token == operator {
			text = s.operator
		}
		got := s.Send(text, method, path, body)
		if got.Status != status {
			t.Fatalf("%s %s: %d %s", method, path, got.Status, got.Body)
		}
		if status < 300 {
			want = append(want, trace{reference, got.Header.Get("X-Request-Id"), token})
		}
	}
	change(merchant, "R-1", "PATCH", "/v2/orders/R-1/accept", "", 200)
	change(merchant, "R-1", "PATCH", "/v2/orders/R-1/accept", "", 400)
	change(merchant, "R-2", "PUT", "/api/orders/102", `{"status":"D"}`, 200)
	change(merchant, "R-1", "POST", "/v2/orders/R-1/invoices", apptest.UploadBody("a.pdf", []byte("x")), 200)
	change(merchant, "R-1", "DELETE", "/api/orders/101/invoices/1", "", 200)
	change(operator, "R-1", "POST", "/operator/merchants/355/orders/R-1/state", `{"state":"ready-for-shipment"}`, 200)
	change(operator, "NEW-1", "POST", "/operator/orders", document("NEW-1", 5000, ""), 201)

	var feed struct {
		Events []struct {
			OrderReference string
			TokenID        int64
			RequestID      string
		}
	}
	s.Send(s.merchant, "GET", "/v2/events?limit=1000", "").Decode(t, &feed)
	var events, logged []trace
	for _, e := range feed.Events {
		if e.RequestID != "" { // no request made the orders of the test
			events = append(events, trace{e.OrderReference, e.RequestID, e.TokenID})
		}
	}
	for _, line := range s.logLines("request") {
		if line["order"] != nil {
			logged = append(logged, trace{line["order"].(string), line["request"].(string), int64(line["token"].(float64))})
		}
	}
	testenv.Equal(t, "events", want, events)
	testenv.Equal(t, "log", want, logged)
}

// TestTokensAreTraced checks that the log says who created and revoked a token, and
// that a request with the revoked token is logged with its id and its address.
func TestTokensAreTraced(t *testing.T) {
	t.Parallel()
	s := start(t)
	got := s.Send(s.operator, "POST", "/operator/tokens", `{"merchantId":355,"scopes":["orders:read"]}`)
	var made struct {
		Text  string
		Token struct{ ID int64 }
	}
	got.Decode(t, &made)
	s.Send(made.Text, "PATCH", "/v2/orders/R-1/accept", "")
	revoked := s.Send(s.operator, "DELETE", fmt.Sprintf("/operator/tokens/%d", made.Token.ID), "")
	s.Send(made.Text, "GET", "/v2/orders/R-1", "")
	for message, want := range map[string]map[string]any{
		"token created": {"created": 4.0, "merchant": 355.0, "scopes": "orders:read", "by": "operator", "token": 3.0, "request": got.Header.Get("X-Request-Id")},
		"token revoked": {"revoked": 4.0, "by": "operator", "token": 3.0, "request": revoked.Header.Get("X-Request-Id")},
	} {
		lines := s.logLines(message)
		if len(lines) != 1 {
			t.Fatalf("%s: %v", message, lines)
		}
		for _, name := range []string{"time", "level", "msg"} {
			delete(lines[0], name)
		}
		testenv.Equal(t, message, want, lines[0])
	}
	refused := make(map[float64]bool)
	for _, line := range s.logLines("request") {
		if status := line["status"].(float64); status == 401 || status == 403 {
			refused[status] = line["token"] == 4.0 && line["client"] == "127.0.0.1"
		}
	}
	if !refused[401] || !refused[403] {
		t.Errorf("refused requests whose log line names token and address: %v", refused)
	}
	testenv.Lacks(t, "log", s.Log.String(), made.Text)
}
