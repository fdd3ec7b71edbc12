package api_test

import (
	"net/http"
	"strings"
	"testing"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/order"
)

// TestLoginLinks makes login links, and asks for them in every wrong way.
func TestLoginLinks(t *testing.T) {
	t.Parallel()
	s := start(t, setup{})
	const path = "/operator/merchants/355/login-link"
	for _, row := range []struct {
		path, body string
		status     int
		text       string
	}{
		{path, `{}`, http.StatusCreated, `"scopes":["orders:read","orders:write","invoices:write"],"expiresAt":"2026-11-20T10:15:00Z"`},
		{path, `{"scopes":["tokens","webhooks"]}`, http.StatusCreated, `"scopes":["tokens","webhooks"]`},
		{path, `{"scopes":[]}`, http.StatusBadRequest, "scopes must be a list of"},
		{path, `{"scopes":null}`, http.StatusBadRequest, "scopes must be a list of"},
		{path, `{"scopes":["audit"]}`, http.StatusBadRequest, "scopes must be a list of"},
		{path, `{"scope":["tokens"]}`, http.StatusBadRequest, "scope is not a known key"},
		{path, ``, http.StatusBadRequest, "invalid_payload"},
		{path, `[]`, http.StatusBadRequest, "invalid_payload"},
		{"/operator/merchants/999/login-link", `{}`, http.StatusNotFound, "The merchant was not found."},
		{"/operator/merchants/x/login-link", `{}`, http.StatusNotFound, "The merchant was not found."},
		{"/operator/merchants/0/login-link", `{}`, http.StatusNotFound, "The merchant was not found."},
	} {
		got := s.ask(s.operator, http.MethodPost, row.path, row.body)
		if got.status != row.status || !strings.Contains(string(got.body), row.text) {
			t.Errorf("%s %s: %d %s, want %d with %s", row.path, row.body, got.status, got.body, row.status, row.text)
		}
	}
	others, _, err := s.tokens.CreateOperator(t.Context(), order.OperatorScopes&^order.ScopeTokens, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{others, s.token(apitest.MerchantID, order.MerchantScopes)} {
		if got := s.ask(text, http.MethodPost, path, `{}`); got.status != http.StatusForbidden {
			t.Errorf("without the scope: %d %s", got.status, got.body)
		}
	}
	key := http.Header{"Idempotency-Key": {"link"}}
	first := s.send(s.operator, http.MethodPost, path, strings.NewReader(`{}`), key)
	again := s.send(s.operator, http.MethodPost, path, strings.NewReader(`{}`), key)
	if !strings.Contains(string(first.body), `"url":"`) || again.status != http.StatusCreated || !strings.Contains(string(again.body), `"url":null`) {
		t.Errorf("the first request got %s, its repetition %d %s", first.body, again.status, again.body)
	}
}
