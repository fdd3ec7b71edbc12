package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"merchantorders/internal/order"
)

// operatorWithKey sends a request of the operator with an Idempotency-Key.
func (s *service) operatorWithKey(key, method, path, body string) response {
	s.t.Helper()
	return s.send(s.operator, method, "/operator"+path, strings.NewReader(body), http.Header{"Idempotency-Key": {key}})
}

// TestOperatorKeys repeats every write of an operator with its key: the response is a
// replay although the write would have another outcome, and another request with the
// key is refused.
func TestOperatorKeys(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	writes := []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/orders", document("K-1", 6000, ""), 201},
		{"POST", "/merchants/355/orders/R-1/state", `{"state":"in-processing"}`, 200},
		{"POST", "/merchants", `{"id":12,"name":"Νέο"}`, 200},
		{"PATCH", "/merchants/400", `{"name":"Renamed"}`, 200},
		{"POST", "/merchants/400/suspend", `{"reason":"unpaid"}`, 200},
		{"POST", "/merchants/400/resume", "", 200},
		{"DELETE", "/tokens/2", "", 200},
		{"POST", "/orders", document("K-2", 6001, `,"discount":-1`), 400},
		{"POST", "/merchants/355/orders/missing/state", `{"state":"canceled"}`, 404},
	}
	for i, w := range writes {
		key := fmt.Sprintf("key %d", i)
		first := s.operatorWithKey(key, w.method, w.path, w.body)
		again := s.operatorWithKey(key, w.method, w.path, w.body)
		if first.status != w.status || first.replayed() {
			t.Errorf("%s: %d %s", w.path, first.status, first.body)
		}
		if again.status != first.status || again.body != first.body || again.header.Get("ETag") != first.header.Get("ETag") ||
			again.replayed() != (w.status < 300) {
			t.Errorf("%s again: %d %s, replayed %v", w.path, again.status, again.body, again.replayed())
		}
		if other := s.operatorWithKey(key, "POST", "/merchants", `{"id":13,"name":"Other"}`); w.status < 300 && other.status != 422 {
			t.Errorf("%s, another request: %d %s", w.path, other.status, other.body)
		}
	}
	// The keys of merchants are others.
	if a := s.withKey("key 1", "PATCH", "/v2/orders/R-2/accept", ""); a.status != 200 || a.replayed() {
		t.Errorf("a merchant's: %d %s", a.status, a.body)
	}
	if a := s.operatorWithKey(strings.Repeat("k", 256), "POST", "/merchants", `{"id":14,"name":"x"}`); a.status != 400 {
		t.Errorf("a malformed key: %d %s", a.status, a.body)
	}
	if got := s.state("R-1"); got != order.InProcessing {
		t.Errorf("R-1 is %s", got)
	}
}

// TestTokenIsNotRecorded checks that the replay of a creation does not have the text
// of the token: it is not stored.
func TestTokenIsNotRecorded(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	create := func() response {
		return s.operatorWithKey("k", "POST", "/tokens", `{"merchantId":355,"scopes":["orders:read"]}`)
	}
	first, again := create(), create()
	text, rest, _ := strings.Cut(strings.TrimPrefix(first.body, `{"text":"`), `"`)
	if first.status != 201 || s.ask(text, "GET", "/v2/orders/R-1", "").status != 200 {
		t.Fatalf("%d %s", first.status, first.body)
	}
	if again.status != 201 || !again.replayed() || again.body != `{"text":null`+rest {
		t.Errorf("again: %d %s", again.status, again.body)
	}
}

// TestOperatorIfMatch checks the precondition of an operator's change of an order.
func TestOperatorIfMatch(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	move := func(tag, state string) response {
		return s.send(s.operator, "POST", "/operator/merchants/355/orders/R-1/state", strings.NewReader(`{"state":"`+state+`"}`),
			http.Header{"If-Match": {tag}})
	}
	tag := s.ask(s.merchant, "GET", "/v2/orders/R-1", "").header.Get("ETag")
	moved := move(tag, "in-processing")
	if moved.status != 200 {
		t.Fatalf("%d %s", moved.status, moved.body)
	}
	s.compare("an old version", move(tag, "ready-for-shipment"), 412, coded("precondition_failed", "The order has changed."))
	if now := s.ask(s.merchant, "GET", "/v2/orders/R-1", "").header.Get("ETag"); now != moved.header.Get("ETag") {
		t.Errorf("ETag %s after the change, now %s", moved.header.Get("ETag"), now)
	}
	if a := move(moved.header.Get("ETag"), "ready-for-shipment"); a.status != 200 {
		t.Errorf("the current version: %d %s", a.status, a.body)
	}
}
