package v2

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
		want   string // with Samples, the default
		table  string // empty: the same
	}{
		{web.ErrUnauthorized, 401, `{"error":{"code":"unauthorized","message":"The token is missing or not valid."}}`, ""},
		{web.ErrForbidden, 403, `{"error":{"code":"forbidden","message":"The token does not allow this."}}`, ""},
		{web.ErrRouteNotFound, 404, `{"error":{"code":"not_found","message":"Nothing is served at this path."}}`, ""},
		{&web.MethodError{Allow: "GET"}, 405, `{"error":{"code":"method_not_allowed","message":"This path does not take that method."}}`, ""},
		{&strict.ParamError{Name: "page", Problem: "is given twice"}, 400, `{"error":{"code":"invalid_params","message":"page is given twice"}}`, ""},
		{order.ErrInvalidRange, 400, `{"error":{"code":"invalid_params","message":"the range ends before it begins"}}`, ""},
		{strict.ErrInvalidPayload, 400, `{"error":{"code":"invalid_payload","message":"Invalid payload."}}`, ""},
		{errInvalidAction, 400, `{"error":{"code":"10305","message":"Invalid Action"}}`, ""},
		{order.ErrNotFound, 404, `{"error":{"code":"10301","message":"The order with id SF-1 was not found"}}`, ""},
		{order.ErrCannotAccept, 400, `{"error":{"code":"10304","message":"Cannot Accept Order"}}`, `{"error":{"code":"10303","message":"Cannot Accept Order"}}`},
		{order.ErrCannotReject, 400, `{"error":{"code":"10304","message":"Cannot Reject Order"}}`, ""},
		{order.ErrInvalidReason, 400, `{"error":{"code":"10301","message":"The reason is not valid"}}`, `{"error":{"code":"10306","message":"The reason is not valid"}}`},
		{order.ErrUnavailable, 503, `{"error":{"code":"unavailable","message":"The service cannot answer for now."}}`, ""},
		{errors.New("SELECT secret FROM orders"), 500, `{"error":{"code":"internal","message":"The service failed to answer."}}`, ""},
	}
	for _, test := range tests {
		r := httptest.NewRequest("GET", "/v2/orders/SF-1", nil)
		r.SetPathValue("orderReference", "SF-1")
		for _, codes := range []ErrorCodes{"", Samples, Table} {
			want := test.want
			if codes == Table && test.table != "" {
				want = test.table
			}
			for _, err := range []error{test.err, fmt.Errorf("wrapped: %w", test.err)} {
				status, body := errorEncoder(codes)(r, err)
				if got := encode(t, body); status != test.status || got != want {
					t.Errorf("%v, codes %q: %d %s, want %d %s", err, codes, status, got, test.status, want)
				}
			}
		}
	}
}

// TestNotFoundEchoes checks that the message repeats the reference as it was sent, but cut
// and as valid text.
func TestNotFoundEchoes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		reference, want string
	}{
		{"SF-1", "SF-1"},
		{"..", ".."},
		{"α/β \"γ\"\x00", "α/β \"γ\"\x00"},
		{"<b>", "<b>"},
		{"a\xffb", "a\ufffdb"},
		{strings.Repeat("ω", 300), strings.Repeat("ω", 256)},
	}
	for _, test := range tests {
		r := httptest.NewRequest("GET", "/v2/orders/x", nil)
		r.SetPathValue("orderReference", test.reference)
		_, body := errorEncoder(Samples)(r, order.ErrNotFound)
		want := encode(t, web.NewCodedBody("10301", "The order with id "+test.want+" was not found"))
		if encode(t, body) != want {
			t.Errorf("%q: %s, want %s", test.reference, encode(t, body), want)
		}
	}
}

func encode(t *testing.T, body any) string {
	t.Helper()
	text, err := json.Marshal(body)
	testenv.NoError(t, err)
	return string(text)
}
