package api_test

import (
	"fmt"
	"strings"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// operatorWithKey sends a request of the operator with an Idempotency-Key.
func (s *service) operatorWithKey(key, method, path, body string) testenv.Response {
	s.T.Helper()
	return s.Send(s.operator, method, "/operator"+path, body, "Idempotency-Key", key)
}

// TestOperatorKeys repeats every write of an operator with its key: the response is a
// replay although the write would have another outcome, and another request with the
// key is refused.
// Proves decision 8 (whose key; replay).
func TestOperatorKeys(t *testing.T) {
	t.Parallel()
	s := start(t)
	for i, w := range []struct {
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
	} {
		key := fmt.Sprintf("key %d", i)
		first := s.operatorWithKey(key, w.method, w.path, w.body)
		again := s.operatorWithKey(key, w.method, w.path, w.body)
		if first.Status != w.status || first.Replayed() {
			t.Errorf("%s: %d %s", w.path, first.Status, first.Body)
		}
		if again.Status != first.Status || again.Body != first.Body || again.Header.Get("ETag") != first.Header.Get("ETag") ||
			again.Replayed() != (w.status < 300) {
			t.Errorf("%s again: %d %s, replayed %v", w.path, again.Status, again.Body, again.Replayed())
		}
		if other := s.operatorWithKey(key, "POST", "/merchants", `{"id":13,"name":"Other"}`); w.status < 300 && other.Status != 422 {
			t.Errorf("%s, another request: %d %s", w.path, other.Status, other.Body)
		}
	}
	// The keys of merchants are others.
	if a := s.withKey("key 1", "PATCH", "/v2/orders/R-2/accept", ""); a.Status != 200 || a.Replayed() {
		t.Errorf("a merchant's: %d %s", a.Status, a.Body)
	}
	s.operatorWithKey(strings.Repeat("k", 256), "POST", "/merchants", `{"id":14,"name":"x"}`).WantStatus(t, 400)
	testenv.Equal(t, "R-1", order.InProcessing, s.state("R-1"))
}

// TestTokenIsNotRecorded checks that the replay of a creation does not have the text
// of the token: it is not stored.
// Proves decision 8 (replay).
func TestTokenIsNotRecorded(t *testing.T) {
	t.Parallel()
	s := start(t)
	create := func() testenv.Response {
		return s.operatorWithKey("k", "POST", "/tokens", `{"merchantId":355,"scopes":["orders:read"]}`)
	}
	first, again := create(), create()
	text, rest, _ := strings.Cut(strings.TrimPrefix(first.Body, `{"text":"`), `"`)
	if first.Status != 201 || s.Send(text, "GET", "/v2/orders/R-1", "").Status != 200 {
		t.Fatalf("%d %s", first.Status, first.Body)
	}
	if again.Status != 201 || !again.Replayed() || again.Body != `{"text":null`+rest {
		t.Errorf("again: %d %s", again.Status, again.Body)
	}
}

// TestOperatorIfMatch checks the precondition of an operator's change of an order.
// Proves decision 8 (If-Match).
func TestOperatorIfMatch(t *testing.T) {
	t.Parallel()
	s := start(t)
	move := func(tag, state string) testenv.Response {
		return s.Send(s.operator, "POST", "/operator/merchants/355/orders/R-1/state", `{"state":"`+state+`"}`, "If-Match", tag)
	}
	tag := s.Send(s.merchant, "GET", "/v2/orders/R-1", "").Header.Get("ETag")
	moved := move(tag, "in-processing")
	if moved.Status != 200 {
		t.Fatalf("%d %s", moved.Status, moved.Body)
	}
	move(tag, "ready-for-shipment").Want(t, "an old version", 412, coded("precondition_failed", "The order has changed."))
	testenv.Equal(t, "ETag after the change", moved.Header.Get("ETag"), s.Send(s.merchant, "GET", "/v2/orders/R-1", "").Header.Get("ETag"))
	move(moved.Header.Get("ETag"), "ready-for-shipment").WantStatus(t, 200)
}

// TestKeyCoversQuery revokes a token, and then with what it made: under the same key that is
// another request.
func TestKeyCoversQuery(t *testing.T) {
	t.Parallel()
	s := start(t)
	key := []string{"Idempotency-Key", "k"}
	s.Send(s.operator, "DELETE", "/operator/tokens/1", "", key...).WantStatus(t, 200)
	s.Send(s.operator, "DELETE", "/operator/tokens/1?children=true", "", key...).WantStatus(t, 422)
	if again := s.Send(s.operator, "DELETE", "/operator/tokens/1", "", key...); !again.Replayed() {
		t.Errorf("the same request again: %d %s", again.Status, again.Body)
	}
}
