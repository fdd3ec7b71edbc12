package v1

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/strict"
	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
)

func TestErrorEncoder(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err    error
		status int
		want   string
	}{
		{web.ErrUnauthorized, 401, `{"message":"Unauthorized"}`},
		{web.ErrForbidden, 403, `{"message":"Forbidden"}`},
		{web.ErrRouteNotFound, 404, `{"message":"Not Found"}`},
		{&web.MethodError{Allow: "GET"}, 405, `{"message":"Method Not Allowed"}`},
		{&strict.ParamError{Name: "page", Problem: "is given twice"}, 400, `{"message":"Invalid request params."}`},
		{order.ErrInvalidRange, 400, `{"message":"Invalid request params."}`},
		{strict.ErrInvalidPayload, 400, `{"message":"Invalid payload."}`},
		{errInvalidAction, 400, `{"message":"Invalid Action"}`},
		{order.ErrNotFound, 404, `{"message":"The order with id 12 was not found"}`},
		{order.ErrCannotAccept, 400, `{"message":"Cannot Accept Order"}`},
		{order.ErrCannotReject, 400, `{"message":"Cannot Reject Order"}`},
		{order.ErrInvalidReason, 400, `{"message":"Reason Is Not Valid"}`},
		{order.ErrUnavailable, 503, `{"message":"Service Unavailable"}`},
		{errors.New("SELECT secret FROM orders"), 500, `{"message":"Internal Server Error"}`},
	}
	for _, test := range tests {
		r := httptest.NewRequest("GET", "/api/orders/12", nil)
		r.SetPathValue("orderId", "12")
		for _, err := range []error{test.err, fmt.Errorf("wrapped: %w", test.err)} {
			status, body := encodeError(r, err)
			if got := encode(t, body); status != test.status || got != test.want {
				t.Errorf("%v: %d %s, want %d %s", err, status, got, test.status, test.want)
			}
		}
	}
}

// TestNotFoundEchoes checks that the message repeats the id as it was sent, but cut
// and as valid text.
func TestNotFoundEchoes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		id, want string
	}{
		{"abc", "abc"},
		{"-1", "-1"},
		{"007", "007"},
		{"99999999999999999999", "99999999999999999999"},
		{"α/β \"γ\"\x00", "α/β \"γ\"\x00"},
		{"<b>", "<b>"},
		{"a\xffb", "a\ufffdb"},
		{"\xff\xfe", "\ufffd\ufffd"},
		{strings.Repeat("ω", 300), strings.Repeat("ω", 256)},
	}
	for _, test := range tests {
		r := httptest.NewRequest("GET", "/api/orders/x", nil)
		r.SetPathValue("orderId", test.id)
		_, body := encodeError(r, order.ErrNotFound)
		if want := encode(t, web.MessageBody{Message: "The order with id " + test.want + " was not found"}); encode(t, body) != want {
			t.Errorf("%q: %s, want %s", test.id, encode(t, body), want)
		}
	}
}

func encode(t *testing.T, body any) string {
	t.Helper()
	text, err := json.Marshal(body)
	testenv.NoError(t, err)
	return string(text)
}
