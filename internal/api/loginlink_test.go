package api_test

import (
	"net/http"
	"strings"
	"testing"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestLoginLinks makes login links, and asks for them in every wrong way.
func TestLoginLinks(t *testing.T) {
	t.Parallel()
	s := start(t)
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
		got := s.Send(s.operator, http.MethodPost, row.path, row.body)
		if got.Status != row.status || !strings.Contains(string(got.Body), row.text) {
			t.Errorf("%s %s: %d %s, want %d with %s", row.path, row.body, got.Status, got.Body, row.status, row.text)
		}
	}
	others := s.NewOperatorToken(order.OperatorScopes &^ order.ScopeTokens)
	for _, text := range []string{others, s.NewToken(apitest.MerchantID, order.MerchantScopes)} {
		s.Send(text, http.MethodPost, path, `{}`).WantStatus(t, http.StatusForbidden)
	}
	make := func() testenv.Response {
		return s.Send(s.operator, http.MethodPost, path, `{}`, "Idempotency-Key", "link")
	}
	first, again := make(), make()
	if !strings.Contains(first.Body, `"url":"`) || again.Status != http.StatusCreated || !strings.Contains(again.Body, `"url":null`) {
		t.Errorf("the first request got %s, its repetition %d %s", first.Body, again.Status, again.Body)
	}
}
