package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// createdBody is the response to a new token.
type createdBody struct {
	Text     *string
	Token    tokenBody
	Replaced tokenBody
}

type tokenBody struct {
	ID         int64
	MerchantID *int64
	Scopes     []string
	Label      *string
	CreatedBy  *int64
	ExpiresAt  *string
	RevokedAt  *string
	Current    bool
}

// create sends a request for a new token and returns it.
func (s *service) create(as, path, body string) createdBody {
	s.T.Helper()
	got := s.Send(as, "POST", path, body)
	var created createdBody
	if err := json.Unmarshal([]byte(got.Body), &created); err != nil || got.Status != http.StatusCreated || created.Text == nil {
		s.T.Fatalf("POST %s %s: %d %s", path, body, got.Status, got.Body)
	}
	return created
}

// listed returns the ids of a list of tokens.
func (s *service) listed(as, path string) (ids []int64, next *int64) {
	s.T.Helper()
	got := s.Send(as, "GET", path, "")
	var list struct {
		Tokens []tokenBody
		Next   *int64
	}
	got.Decode(s.T, &list)
	for _, t := range list.Tokens {
		ids = append(ids, t.ID)
	}
	return ids, list.Next
}

// TestOwnTokens lets a merchant list, create, rotate and revoke its tokens.
// Proves decision 1 (a merchant's own tokens).
func TestOwnTokens(t *testing.T) {
	t.Parallel()
	s := start(t)
	const path = "/v2/tokens"
	manager := s.NewToken(apitest.MerchantID, order.ScopeTokens|order.ScopeOrdersRead) // id 4, after those of fill
	made := s.create(manager, path, `{"scopes":["orders:read"],"expires":"90d","label":"Αποθήκη"}`)
	if made.Token.ID != 5 || *made.Token.CreatedBy != 4 || *made.Token.Label != "Αποθήκη" || *made.Token.ExpiresAt != "2027-02-18T10:00:00Z" || made.Token.Current {
		t.Errorf("made %+v", made.Token)
	}
	s.Send(*made.Text, "GET", "/v2/orders/R-1", "").WantStatus(t, http.StatusOK)
	var own tokenBody
	s.Send(*made.Text, "GET", path+"/current", "").Decode(t, &own)
	if !own.Current || own.ID != 5 || !slices.Equal(own.Scopes, []string{"orders:read"}) || *own.ExpiresAt != "2027-02-18T10:00:00Z" {
		t.Errorf("its own: %+v", own)
	}
	s.Send(s.operator, "GET", path+"/current", "").Want(t, "an operator's", 403, coded("forbidden", "This is an operator's token; use a token of the merchant."))
	// Without a body: those of the default scopes that the manager has.
	if plain := s.create(manager, path, ""); !slices.Equal(plain.Token.Scopes, []string{"orders:read"}) || plain.Token.Label != nil || plain.Token.ExpiresAt != nil {
		t.Errorf("made %+v", plain.Token)
	}
	if ids, next := s.listed(manager, path); !slices.Equal(ids, []int64{1, 4, 5, 6}) || next != nil {
		t.Errorf("listed %v, next %v", ids, next)
	}
	if ids, next := s.listed(manager, path+"?limit=2&after=1"); !slices.Equal(ids, []int64{4, 5}) || next == nil || *next != 5 {
		t.Errorf("a page: %v, next %v", ids, next)
	}
	forbidden := coded("forbidden", "A token cannot grant scopes that it does not have.")
	s.Send(manager, "POST", path, `{"scopes":["orders:read","orders:write"]}`).Want(s.T, "more scopes", 403, forbidden)
	s.Send(manager, "POST", path+"/1/rotate", "").Want(s.T, "rotates a more powerful one", 403, forbidden)
	// Itself.
	rotated := s.create(manager, path+"/4/rotate", `{"overlap":"1h"}`)
	if !rotated.Replaced.Current || *rotated.Replaced.ExpiresAt != "2026-11-20T11:00:00Z" || rotated.Token.ExpiresAt != nil || len(rotated.Token.Scopes) != 2 {
		t.Errorf("rotated %+v", rotated)
	}
	s.At(3600 * time.Second)
	s.Send(manager, "GET", path, "").Want(s.T, "after the overlap", 401, v2Unauthorized)
	manager = *rotated.Text
	s.Send(manager, "DELETE", path+"/1", "").Want(s.T, "revoke", 200, `{"success":true}`)
	s.Send(manager, "DELETE", path+"/1", "").Want(s.T, "revoke again", 200, `{"success":true}`)
	s.Send(s.merchant, "GET", "/v2/orders/R-1", "").Want(s.T, "revoked", 401, v2Unauthorized)
	for state, want := range map[string][]int64{"active": {5, 6, 7}, "expired": {4}, "revoked": {1}} {
		if ids, _ := s.listed(manager, path+"?state="+state); !slices.Equal(ids, want) {
			t.Errorf("%s: %v, want %v", state, ids, want)
		}
	}
	// Those of others do not exist: 2 is of another merchant, 3 of the operator.
	notFound := coded("not_found", "The token was not found.")
	for _, id := range []string{"2", "3", "99", "0", "x", "05", "99999999999999999999", *made.Text} {
		s.Send(manager, "DELETE", path+"/"+id, "").Want(s.T, "revoke "+id, 404, notFound)
		s.Send(manager, "POST", path+"/"+id+"/rotate", "").Want(s.T, "rotate "+id, 404, notFound)
	}
	s.Send(manager, "POST", path+"/1/rotate", "").Want(s.T, "rotate a revoked one", 404, notFound)
	s.Send(s.other, "GET", "/v2/orders/X-1", "").WantStatus(t, http.StatusOK)
	s.Send(s.NewToken(apitest.MerchantID, order.ScopeTokens), "POST", path, "").Want(t, "no default scope", 400,
		coded("invalid_params", "scopes is required: the token of the request has none of the default scopes"))
}

// TestTokenRequestsRefused sends wrong fields to every endpoint that creates tokens, beside those of
// a wrong form, which TestHostileRequests has. No token is made.
// Proves decision 1 (wrong fields of a token).
func TestTokenRequestsRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Tokens.MaxLifetime = 8760 * time.Hour
	manager := s.NewToken(apitest.MerchantID, order.MerchantScopes)
	params := func(text string) string { return coded("invalid_params", text) }
	refused := map[string]string{
		`"label":"` + strings.Repeat("α", 101) + `"`: params("label must be text of at most 100 characters"),
		`"label":"\u009f"`:                           params("label must be on one line, without control characters"),
		`"expires":"1999-12-31"`:                     params("expires must be later than now"),
	}
	for _, value := range []string{`"0"`, `"0s"`, `"-1h"`, `"1ns"`, `3600`, `"1y"`, `"99999999999h"`, `"0d"`, `"90 d"`, `"2027-02-30"`, `"2027-1-31"`, `"0001-01-01"`, `"2027-01-31T00:00:00Z"`} {
		refused[`"expires":`+value] = params("expires must be a duration such as 2160h or 90d, or a day such as 2027-01-31")
	}
	for _, value := range []string{`"366d"`, `"2999-01-01"`, `"8760h1s"`} {
		refused[`"expires":`+value] = params("expires must be at most 8760h0m0s")
	}
	for _, value := range []string{`[]`, `[""]`, `["orders:read","audit"]`, `["Orders:Read"]`, `["orders:read",null]`} {
		refused[`"scopes":`+value] = params("scopes must be a list of orders:read, orders:write, invoices:write, tokens, webhooks")
	}
	for field, want := range refused {
		s.asOperator("POST", "/tokens", `{"merchantId":355,`+field+`}`, 400, want)
		s.Send(manager, "POST", "/v2/tokens", `{`+field+`}`).Want(s.T, field, 400, want)
		if strings.HasPrefix(field, `"expires"`) {
			s.Send(manager, "POST", "/v2/tokens/4/rotate", `{`+field+`}`).Want(s.T, field, 400, want)
			s.asOperator("POST", "/tokens/4/rotate", `{`+field+`}`, 400, want)
		}
	}
	short, parent, err := s.Tokens.Create(t.Context(), apitest.MerchantID, order.MerchantScopes, time.Hour)
	testenv.NoError(t, err)
	for _, path := range []string{"/v2/tokens", "/v2/tokens/4/rotate"} {
		s.Send(short, "POST", path, `{"expires":"90d"}`).WantText(t, 400, fmt.Sprintf(": the token of the request, %d, ends at %s, and no token that it makes ends later",
			parent.ID, parent.ExpiresAt.Format(time.RFC3339)))
		s.Send(manager, "POST", path, `{"merchantId":400}`).Want(s.T, path, 400, params("merchantId is not a known key"))
	}
	for _, value := range []string{`""`, `"-1s"`, `"soon"`} {
		s.asOperator("POST", "/tokens/4/rotate", `{"overlap":`+value+`}`, 400, params("overlap must be a duration such as 48h or 2d"))
	}
	s.asOperator("GET", "/tokens?operator=false", "", 400, params("operator must be true"))
	s.asOperator("GET", "/tokens?operator=true&merchantId=355", "", 400, params("operator must not be given together with merchantId"))
	if ids, _ := s.listed(s.operator, "/operator/tokens"); len(ids) != 5 {
		t.Errorf("tokens %v", ids)
	}
}

// TestOperatorTokenChanges rotates tokens, filters their list, and revokes all of a
// merchant.
// Proves decision 1 (list of tokens).
func TestOperatorTokenChanges(t *testing.T) {
	t.Parallel()
	s := start(t)
	made := s.create(s.operator, "/operator/tokens", `{"merchantId":355,"label":"ERP","expires":"48h"}`)
	rotated := s.create(s.operator, fmt.Sprintf("/operator/tokens/%d/rotate", made.Token.ID), `{"overlap":"0s","expires":"1h"}`)
	if *rotated.Token.MerchantID != 355 || *rotated.Token.Label != "ERP" || *rotated.Token.CreatedBy != 3 || *rotated.Token.ExpiresAt != "2026-11-20T11:00:00Z" ||
		*rotated.Replaced.ExpiresAt != "2026-11-20T10:00:00Z" {
		t.Errorf("rotated %+v", rotated)
	}
	s.Send(*made.Text, "GET", "/v2/orders/R-1", "").Want(s.T, "the old one", 401, v2Unauthorized)
	few := s.create(s.operator, "/operator/tokens", `{"operator":true,"scopes":["tokens"]}`)
	s.Send(*few.Text, "POST", "/operator/tokens", `{"operator":true}`).Want(t, "more scopes", 403,
		coded("forbidden", "A token cannot grant scopes that it does not have."))
	s.create(*few.Text, "/operator/tokens", `{"merchantId":355,"label":"Erp"}`) // id 7: any merchant's token
	for query, want := range map[string][]int64{
		"merchantId=355": {1, 4, 5, 7}, "operator=true": {3, 6}, "state=expired": {4}, "label=ER": {4, 5}, "scope=audit": {3},
		"scope=tokens&operator=true&limit=1": {3}, "limit=2&after=5": {6, 7}, "merchantId=999": nil, "operator=&label=": {1, 2, 3, 4, 5, 6, 7},
	} {
		if ids, next := s.listed(s.operator, "/operator/tokens?"+query); !slices.Equal(ids, want) || (next != nil) != (query == "scope=tokens&operator=true&limit=1") {
			t.Errorf("%s: %v, want %v, next %v", query, ids, want, next)
		}
	}
	s.asOperator("DELETE", "/merchants/355/tokens", "", 200, `{"success":true,"revoked":[1,4,5,7]}`)
	s.asOperator("DELETE", "/merchants/355/tokens", "", 200, `{"success":true,"revoked":[]}`)
	for _, id := range []string{"999", "0", "x"} {
		s.asOperator("DELETE", "/merchants/"+id+"/tokens", "", 404, coded("not_found", "The merchant was not found."))
	}
	s.Send(s.merchant, "GET", "/v2/orders/R-1", "").Want(s.T, "revoked", 401, v2Unauthorized)
	s.Send(s.other, "GET", "/v2/orders/X-1", "").WantStatus(t, http.StatusOK)
	// A repeated rotation with its key rotates once, and does not show the text again.
	var rotations []testenv.Response
	for range 2 {
		rotations = append(rotations, s.operatorWithKey("k", "POST", "/tokens/2/rotate", ""))
	}
	if rotations[0].Status != 201 || !rotations[1].Replayed() || !strings.HasPrefix(rotations[1].Body, `{"text":null,`) {
		t.Errorf("rotations: %d %s, %d %s", rotations[0].Status, rotations[0].Body, rotations[1].Status, rotations[1].Body)
	}
}

// TestRevokeChildren revokes an operator's token with what it made.
func TestRevokeChildren(t *testing.T) {
	t.Parallel()
	s := start(t)
	var parent, child struct {
		Text  string
		Token struct{ ID int64 }
	}
	s.Send(s.operator, "POST", "/operator/tokens", `{"operator":true,"scopes":["tokens"]}`).Decode(t, &parent)
	s.Send(parent.Text, "POST", "/operator/tokens", `{"merchantId":355}`).Decode(t, &child)
	path := fmt.Sprintf("/operator/tokens/%d?children=", parent.Token.ID)
	for _, wrong := range []string{path + "yes", path + "true&other=1", path + "true&children=true"} {
		s.Send(s.operator, "DELETE", wrong, "").WantText(t, 400, "invalid_params")
	}
	s.Send(child.Text, "GET", "/v2/orders", "").WantStatus(t, 200)
	for _, want := range []string{fmt.Sprintf(`[%d,%d]`, parent.Token.ID, child.Token.ID), `[]`} {
		s.Send(s.operator, "DELETE", path+"true", "").Want(t, "revocation", 200, `{"success":true,"revoked":`+want+`}`)
	}
	s.Send(child.Text, "GET", "/v2/orders", "").WantStatus(t, 401)
	s.Send(parent.Text, "GET", "/operator/tokens", "").WantStatus(t, 401)
}
