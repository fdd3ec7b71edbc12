package api_test

import (
	"encoding/json"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/config"
	"merchantorders/internal/testenv"
)

// TestSandboxState brings orders into states, each way with the events of the
// marketplace, and repeats a request with its key.
func TestSandboxState(t *testing.T) {
	t.Parallel()
	s := startWith(t, apptest.Setup{Flags: config.Serve{Sandbox: true}})
	deliver := func() testenv.Response {
		return s.Send(s.merchant, "POST", "/v2/sandbox/orders/R-1/state", `{"state":"delivered-to-customer"}`, "Idempotency-Key", "deliver 1")
	}
	deliver().Want(t, "a way of four", 200, `{"success":true}`)
	s.expect("POST", "/v2/sandbox/orders/R-1/state", `{"state":"completed"}`, 200, `{"success":true}`)
	s.expect("POST", "/v2/sandbox/orders/R-1/state", `{"state":"completed"}`, 200, `{"success":true}`)
	if again := deliver(); again.Status != 200 || !again.Replayed() {
		t.Errorf("the same key: %+v", again)
	}
	s.expect("POST", "/v2/sandbox/orders/R-1/state", `{"state":"canceled"}`, 400, `{"error":{"code":"invalid_params","message":"state cannot be reached from completed"}}`)
	s.expect("POST", "/v2/sandbox/orders/R-2/state", `{"state":"rejected-by-merchant"}`, 200, `{"success":true}`)
	s.expect("POST", "/v2/sandbox/orders/X-1/state", `{"state":"canceled"}`, 404, `{"error":{"code":"10301","message":"The order with id X-1 was not found"}}`)

	var history struct {
		Events []struct {
			Actor, RequestID string
			TokenID          int64
			Data             struct{ From, To string }
		}
	}
	testenv.NoError(t, json.Unmarshal([]byte(s.Send(s.merchant, "GET", "/v2/orders/R-1/events", "").Body), &history))
	var got []string
	for _, e := range history.Events[1:] {
		got = append(got, e.Data.To)
		if e.Actor != "operator" || e.TokenID != 1 || e.RequestID == "" {
			t.Errorf("event %+v", e)
		}
	}
	testenv.Equal(t, "transitions", []string{"in-processing", "ready-for-shipment", "picked-by-courier", "delivered-to-customer", "completed"}, got)

	plain := start(t)
	plain.expect("POST", "/v2/sandbox/orders/R-1/state", `{"state":"canceled"}`, 404, `{"error":{"code":"not_found","message":"Nothing is served at this path."}}`)
}
