package api_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

const (
	v1Unauthorized = `{"message":"Unauthorized"}`
	v1Forbidden    = `{"message":"Forbidden"}`
	v2Unauthorized = `{"error":{"code":"unauthorized","message":"The token is missing or not valid."}}`
	v2Forbidden    = `{"error":{"code":"forbidden","message":"The token does not allow this."}}`
)

// endpoints are all endpoints for merchants, with the scope that each needs.
var endpoints = []struct {
	method, path string
	scope        order.Scope
	v2           bool // its 401 and 403 have a web.CodedBody
}{
	{"GET", "/api/orders", order.ScopeOrdersRead, false},
	{"GET", "/api/orders/101", order.ScopeOrdersRead, false},
	{"PUT", "/api/orders/101", order.ScopeOrdersWrite, false},
	{"POST", "/api/orders/101/invoices", order.ScopeInvoicesWrite, false},
	{"DELETE", "/api/orders/101/invoices/1", order.ScopeInvoicesWrite, false},
	{"GET", "/v2/orders", order.ScopeOrdersRead, true},
	{"GET", "/v2/orders/R-1", order.ScopeOrdersRead, true},
	{"GET", "/v2/orders/R-1/events", order.ScopeOrdersRead, true},
	{"GET", "/v2/events", order.ScopeOrdersRead, true},
	{"PATCH", "/v2/orders/R-1/accept", order.ScopeOrdersWrite, true},
	{"PATCH", "/v2/orders/R-1/reject", order.ScopeOrdersWrite, true},
	{"POST", "/v2/orders/R-1/invoices", order.ScopeInvoicesWrite, false},
	{"DELETE", "/v2/orders/R-1/invoices/1", order.ScopeInvoicesWrite, false},
	{"POST", "/v2/orders/R-1/invoices/1/link", order.ScopeOrdersRead, false},
	{"GET", "/v2/tokens", order.ScopeTokens, true},
	{"POST", "/v2/tokens", order.ScopeTokens, true},
	{"POST", "/v2/tokens/99/rotate", order.ScopeTokens, true},
	{"DELETE", "/v2/tokens/99", order.ScopeTokens, true},
	{"GET", "/v2/webhooks", order.ScopeWebhooks, true},
	{"POST", "/v2/webhooks", order.ScopeWebhooks, true},
	{"GET", "/v2/webhooks/1", order.ScopeWebhooks, true},
	{"PATCH", "/v2/webhooks/1", order.ScopeWebhooks, true},
	{"DELETE", "/v2/webhooks/1", order.ScopeWebhooks, true},
	{"POST", "/v2/webhooks/1/secret", order.ScopeWebhooks, true},
	{"POST", "/v2/webhooks/1/test", order.ScopeWebhooks, true},
	{"POST", "/v2/webhooks/1/redeliver", order.ScopeWebhooks, true},
	{"POST", "/v2/webhooks/1/replay", order.ScopeWebhooks, true},
	{"GET", "/v2/webhooks/1/deliveries", order.ScopeWebhooks, true},
	{"GET", "/storage/eu/inv/invoices/R-1/a.pdf", order.ScopeOrdersRead, false},
}

func TestTokens(t *testing.T) {
	t.Parallel()
	s := start(t)
	expired, _, err := s.Tokens.Create(t.Context(), apitest.MerchantID, order.DefaultScopes, time.Second)
	testenv.NoError(t, err)
	s.At(2 * time.Second)
	revoked := s.NewToken(apitest.MerchantID, order.DefaultScopes)
	if _, err := s.Tokens.Revoke(t.Context(), revoked); err != nil {
		t.Fatal(err)
	}
	unknown, _ := token.NewText(token.MerchantPrefix)
	for _, endpoint := range endpoints {
		unauthorized, forbidden := v1Unauthorized, v1Forbidden
		if endpoint.v2 {
			unauthorized, forbidden = v2Unauthorized, v2Forbidden
		}
		what := endpoint.method + " " + endpoint.path
		for _, text := range []string{"", "x", unknown, expired, revoked, s.merchant + "x", strings.ToUpper(s.merchant)} {
			got := s.Send(text, endpoint.method, endpoint.path, "ignored")
			got.Want(s.T, what, http.StatusUnauthorized, unauthorized)
			challenges := []string{`Bearer realm="merchant-orders"`}
			if strings.HasPrefix(endpoint.path, "/api") {
				challenges = append(challenges, `Basic realm="merchant-orders", charset="UTF-8"`)
			}
			if diff := cmp.Diff(challenges, got.Header.Values("WWW-Authenticate")); diff != "" {
				t.Errorf("%s: WWW-Authenticate (-want +got):\n%s", what, diff)
			}
		}
		others := s.NewToken(apitest.MerchantID, order.DefaultScopes&^endpoint.scope)
		s.Send(others, endpoint.method, endpoint.path, "ignored").Want(s.T, what, http.StatusForbidden, forbidden)
		s.Send(s.operator, endpoint.method, endpoint.path, "ignored").Want(s.T, what, http.StatusForbidden, forbidden)
		alone := s.Send(s.NewToken(apitest.MerchantID, endpoint.scope), endpoint.method, endpoint.path, "")
		if alone.Status == http.StatusUnauthorized || alone.Status == http.StatusForbidden {
			t.Errorf("%s with the scope %s alone: %d", what, endpoint.scope, alone.Status)
		}
	}
}

func TestBasic(t *testing.T) {
	t.Parallel()
	s := start(t)
	basic := func(user, password string) testenv.Response {
		pair := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
		return s.Send("", "GET", "/api/orders/101", "", "Authorization", "Basic "+pair)
	}
	for _, user := range []string{"", "shop@example.com"} {
		basic(user, s.merchant).WantStatus(t, http.StatusOK)
	}
	basic(s.merchant, "x").Want(s.T, "the token as user", http.StatusUnauthorized, v1Unauthorized)
}

// TestForeignOrders checks that another merchant's order gets the same response as
// one that does not exist, apart from the id in the message.
func TestForeignOrders(t *testing.T) {
	t.Parallel()
	s := start(t)
	upload := uploadBody("a.pdf", "content")
	posted := s.Send(s.other, "POST", "/api/orders/201/invoices", upload)
	if posted.Status != http.StatusOK {
		t.Fatalf("%d %s", posted.Status, posted.Body)
	}
	tests := []struct {
		method, path string // with ID for the order
		body         string
		ids          [2]string // foreign, missing
	}{
		{"GET", "/api/orders/ID", "", [2]string{"201", "999"}},
		{"PUT", "/api/orders/ID", `{"status":"G"}`, [2]string{"201", "999"}},
		{"PUT", "/api/orders/ID", `{"status":"D"}`, [2]string{"201", "999"}},
		{"POST", "/api/orders/ID/invoices", upload, [2]string{"201", "999"}},
		{"DELETE", "/api/orders/ID/invoices/1", "", [2]string{"201", "999"}},
		{"GET", "/v2/orders/ID", "", [2]string{"X-1", "Y-1"}},
		{"GET", "/v2/orders/ID/events", "", [2]string{"X-1", "Y-1"}},
		{"PATCH", "/v2/orders/ID/accept", "", [2]string{"X-1", "Y-1"}},
		{"PATCH", "/v2/orders/ID/reject", "", [2]string{"X-1", "Y-1"}},
		{"POST", "/v2/orders/ID/invoices", upload, [2]string{"X-1", "Y-1"}},
		{"DELETE", "/v2/orders/ID/invoices/1", "", [2]string{"X-1", "Y-1"}},
		{"POST", "/v2/orders/ID/invoices/1/link", "", [2]string{"X-1", "Y-1"}},
		{"GET", "/storage/eu/inv/invoices/ID/a.pdf", "", [2]string{"X-1", "Y-1"}},
	}
	for _, test := range tests {
		var seen [2]string
		for i, id := range test.ids {
			got := s.Send(s.merchant, test.method, strings.ReplaceAll(test.path, "ID", id), test.body)
			for _, varies := range []string{"Date", "X-Request-Id"} {
				got.Header.Del(varies)
			}
			if got.Status != http.StatusNotFound {
				t.Errorf("%s %s %s: %d", test.method, test.path, id, got.Status)
			}
			var text strings.Builder
			_ = got.Header.Write(&text)
			seen[i] = text.String() + strings.ReplaceAll(got.Body, id, "ID")
		}
		if seen[0] != seen[1] {
			t.Errorf("%s %s tells foreign from missing:\n%s\n%s", test.method, test.path, seen[0], seen[1])
		}
	}
}
