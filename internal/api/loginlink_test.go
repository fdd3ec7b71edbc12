package api_test

import (
	"net/http"
	"strings"
	"testing"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestLoginLinkTrace makes a login link and uses it: the audit log has both, with the token
// that made the link, the requests and the address, and no secret.
func TestLoginLinkTrace(t *testing.T) {
	t.Parallel()
	s := start(t)
	made := s.Send(s.operator, http.MethodPost, "/operator/merchants/355/login-link", `{}`, "X-Request-Id", "made-1")
	made.WantStatus(t, http.StatusCreated)
	var link struct{ URL string }
	made.Decode(t, &link)
	s.Send("", http.MethodPost, link.URL[strings.Index(link.URL, "/console/"):], "", "X-Request-Id", "used-1").WantStatus(t, http.StatusSeeOther)
	var issuer int64
	for action, want := range map[string]string{
		"login_link.created": "made-1 355 login_link.created operator  scopes=orders:read,orders:write,invoices:write",
		"token.created":      "used-1 355 token.created merchant  by=login-link scopes=orders:read,orders:write,invoices:write",
	} {
		entries := s.audit("merchantId=355&action=" + action)
		if len(entries) == 0 || entries[0].TokenID == nil || entries[0].RequestID == nil || entries[0].Address == nil {
			t.Fatalf("%s: %+v", action, entries)
		}
		e := entries[0]
		if got := *e.RequestID + " " + e.String(); got != want || *e.Address != "127.0.0.1" || issuer != 0 && issuer != *e.TokenID {
			t.Errorf("%s: %q of token %d, from %s, want %q", action, got, *e.TokenID, *e.Address, want)
		}
		issuer = *e.TokenID
		testenv.Lacks(t, "audit log", s.Send(s.operator, "GET", "/operator/audit", "").Body, link.URL[strings.LastIndex(link.URL, "/")+1:])
	}
	var list struct{ Tokens []struct{ CreatedBy *int64 } }
	s.Send(s.operator, "GET", "/operator/tokens?merchantId=355&label=login", "").Decode(t, &list)
	if len(list.Tokens) != 1 || list.Tokens[0].CreatedBy == nil || *list.Tokens[0].CreatedBy != issuer {
		t.Errorf("the token of the session: %+v", list)
	}
}

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
	// A merchant's token invites with its own scopes at most.
	keeper := s.NewToken(apitest.MerchantID, order.ScopeTokens|order.ScopeOrdersRead)
	for body, want := range map[string]string{
		`{"name":"Νίκος","scopes":["orders:read"]}`: `"name":"Νίκος","scopes":["orders:read"]`,
		`{"name":"Νίκος"}`:                          `"code":"forbidden"`,
		`{"name":"a\nb"}`:                           "name must be on one line",
		`{"name":["Νίκος"]}`:                        "name must be text or null",
	} {
		testenv.Contains(t, body, s.Send(keeper, http.MethodPost, "/v2/login-link", body).Body, want)
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
