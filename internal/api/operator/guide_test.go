package operator

import (
	"net/http/httptest"
	"strconv"
	"testing"

	"merchantorders/docs/docstest"
	"merchantorders/internal/ingest"
	"merchantorders/internal/order"
	"merchantorders/internal/web"
)

// TestGuideHasEveryError compares the table of the page with the refusals.
func TestGuideHasEveryError(t *testing.T) {
	t.Parallel()
	// These messages name a field.
	want := []string{named(t, &ingest.DocumentError{}), named(t, &order.ImportError{ImportResult: order.ImportResult{Status: order.Conflict}})}
	status, body := encodeError(httptest.NewRequest("POST", "/operator/orders", nil), &order.TransitionError{From: order.Completed, To: order.Canceled, By: order.ActorOperator})
	want = append(want, strconv.Itoa(status)+" "+body.(web.CodedBody).Error.Code+" names the current state and the allowed ones")
	for _, refusal := range refusals {
		want = append(want, strconv.Itoa(refusal.Status)+" "+refusal.Code+" "+refusal.Message)
	}
	docstest.SameErrors(t, "operator.md", "Errors", want)
}

func named(t *testing.T, err error) string {
	t.Helper()
	status, body := encodeError(httptest.NewRequest("POST", "/operator/orders", nil), err)
	coded, ok := body.(web.CodedBody)
	if !ok {
		t.Fatalf("%v has the body %v", err, body)
	}
	return strconv.Itoa(status) + " " + coded.Error.Code + " names the field"
}
