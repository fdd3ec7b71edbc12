package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

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

	operatorToken = `{"error":{"code":"forbidden","message":"This is an operator's token; use a token of the merchant."}}`
	merchantToken = `{"error":{"code":"forbidden","message":"This is a merchant's token; use an operator's token."}}`
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

// Proves decision 1 (challenge; scopes, 403; 401; operator tokens), decision 5 (v2 files, one form;
// webhooks: requests; word codes), decision 6 (download).
func TestTokens(t *testing.T) {
	t.Parallel()
	s := start(t)
	expired, _, err := s.Tokens.Create(t.Context(), apitest.MerchantID, order.DefaultScopes, time.Second)
	testenv.NoError(t, err)
	s.At(2 * time.Second)
	revoked := s.NewToken(apitest.MerchantID, order.DefaultScopes)
	testenv.Of(s.Tokens.RevokeID(t.Context(), order.Command(), testenv.Of(s.Tokens.ID(t.Context(), revoked)).Must(t), order.Options[int64]{})).Must(t)
	unknown, _ := token.NewText(token.MerchantPrefix)
	for _, endpoint := range endpoints {
		unauthorized, forbidden, operators := v1Unauthorized, v1Forbidden, v1Forbidden
		if endpoint.v2 {
			unauthorized, forbidden, operators = v2Unauthorized, v2Forbidden, operatorToken
		}
		what := endpoint.method + " " + endpoint.path
		for _, text := range []string{"", "x", unknown, expired, revoked, s.merchant + "x", strings.ToUpper(s.merchant)} {
			got := s.Send(text, endpoint.method, endpoint.path, "ignored")
			got.Want(s.T, what, http.StatusUnauthorized, unauthorized)
			challenges := []string{`Bearer realm="merchant-orders"`}
			if text != "" {
				challenges[0] += `, error="invalid_token"`
			}
			if strings.HasPrefix(endpoint.path, "/api") {
				challenges = append(challenges, `Basic realm="merchant-orders", charset="UTF-8"`)
			}
			testenv.Equal(t, fmt.Sprintf("%s: WWW-Authenticate", what), challenges, got.Header.Values("WWW-Authenticate"))
		}
		others := s.NewToken(apitest.MerchantID, order.DefaultScopes&^endpoint.scope)
		s.Send(others, endpoint.method, endpoint.path, "ignored").Want(s.T, what, http.StatusForbidden, forbidden)
		s.Send(s.operator, endpoint.method, endpoint.path, "ignored").Want(s.T, what, http.StatusForbidden, operators)
		alone := s.Send(s.NewToken(apitest.MerchantID, endpoint.scope), endpoint.method, endpoint.path, "")
		if alone.Status == http.StatusUnauthorized || alone.Status == http.StatusForbidden {
			t.Errorf("%s with the scope %s alone: %d", what, endpoint.scope, alone.Status)
		}
	}
}
