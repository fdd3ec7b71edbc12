package api_test

import "testing"

// TestKeysOfAnswers uses one key for a single answer and for a request with several: they
// do not share keys.
func TestKeysOfAnswers(t *testing.T) {
	t.Parallel()
	s := start(t)
	key := []string{"Idempotency-Key", "k"}
	s.Send(s.merchant, "PATCH", "/v2/orders/R-1/accept", "", key...).Want(t, "one", 200, success2)
	s.Send(s.merchant, "POST", "/v2/orders/answers", `[{"orderReference":"R-2","answer":"accept"}]`, append(key, "Content-Type", "application/json")...).
		WantText(t, 200, `"status":"changed"`)
	s.Send(s.merchant, "PATCH", "/v2/orders/R-2/reject", `{"reason":"damaged"}`, key...).WantStatus(t, 422)
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
