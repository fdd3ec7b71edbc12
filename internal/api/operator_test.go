package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
	"merchantorders/openapi/openapitest"
)

// asOperator sends a request of the operator and compares status and body.
func (s *service) asOperator(method, path, body string, status int, want string) {
	s.T.Helper()
	s.Send(s.operator, method, "/operator"+path, body).Want(s.T, method+" "+path+" "+body, status, want)
}

func coded(code, message string) string {
	text, _ := json.Marshal(message)
	return `{"error":{"code":"` + code + `","message":` + string(text) + `}}`
}

// document returns an order document with extra members.
func document(reference string, number int, extra string) string {
	return fmt.Sprintf(`{"merchantId":355,"reference":%q,"orderId":%d,"createdAt":"2026-11-20T08:15:30+02:00","total":1390,
		"customer":{"userId":0,"email":"b@example.com","phone":null,"firstName":"A","lastName":"B"},
		"shippingAddress":{"street":"Ερμού","streetNumber":"1","city":"Αθήνα","postCode":"10563","country":"Greece","countryCode":"GR"},
		"lineItems":[{"id":1,"productName":"x","unitPrice":1390,"quantity":1}]%s}`, reference, number, extra)
}

// Proves decision 7 (size).
func TestOperatorOrders(t *testing.T) {
	t.Parallel()
	s := start(t)
	added := func(result string, number int, reference string) string {
		return fmt.Sprintf(`{"result":%q,"merchantId":355,"orderId":%d,"orderReference":%q}`, result, number, reference)
	}
	s.asOperator("POST", "/orders", document("N-1", 5000, ""), 201, added("created", 5000, "N-1"))
	s.asOperator("POST", "/orders", document("N-1", 5000, ""), 200, added("unchanged", 5000, "N-1"))
	s.Send(s.merchant, "GET", "/v2/orders/N-1", "").WantText(t, http.StatusOK, `"createdAt":"2026-11-20 06:15:30"`)

	for _, conflict := range map[string]string{
		"other content":  document("N-1", 5000, `,"notes":"changed"`),
		"a taken number": document("N-2", 5000, ""),
		"a taken name":   document("X-1", 5001, ""),
	} {
		s.Send(s.operator, "POST", "/operator/orders", conflict).WantText(t, http.StatusConflict, `{"error":{"code":"conflict","message":"`)
	}
	for body, field := range map[string]string{
		document("N-3", 1, `,"totl":5`):                                   "totl",
		document("N 3", 1, ""):                                            "reference",
		document("N-3", 1, `,"discount":-1`):                              "discount",
		strings.Replace(document("N-3", 1, ""), "355", "999", 1):          "merchantId",
		strings.Replace(document("N-3", 1, ""), `quantity":1`, `q":1`, 1): "lineItems[0].q",
		document("N-3", 1, `,"notes":"a","notes":"a"`):                    "notes",
		"[]":                           "object",
		"":                             "object",
		document("N-3", 1, "") + " {}": "object",
	} {
		refused := s.Send(s.operator, "POST", "/operator/orders", body)
		refused.WantText(t, http.StatusBadRequest, `{"error":{"code":"invalid_document","message":"`, field)
	}
	tooLong := document("N-4", 1, "") + strings.Repeat(" ", 4<<20)
	s.asOperator("POST", "/orders", tooLong, 400, coded("invalid_payload", "Invalid payload."))
	s.expect("GET", "/v2/orders/N-4", "", 404, v2NotFound("N-4"))
}

// Proves decision 2 (all 121 pairs of states, by the marketplace).
func TestOperatorTransitions(t *testing.T) {
	t.Parallel()
	s := start(t)
	const path = "/merchants/355/orders/R-1/state"
	moved := func(state string) string { return `{"success":true,"state":"` + state + `"}` }
	notMoved := func(from, to, allowed string) string {
		return coded("invalid_move", "An order in the state "+from+" cannot move to "+to+": "+allowed+".")
	}
	next := map[string]string{
		"in-processing": "it can move to ready-for-shipment, canceled", "ready-for-shipment": "it can move to picked-by-courier, canceled",
		"picked-by-courier":     "it can move to delivered-to-pickup-point, delivered-to-customer, delivery-failed",
		"delivered-to-customer": "it can move to completed, return-canceled", "return-canceled": "it can move to completed",
		"completed": "the state is final",
	}
	notFound := coded("not_found", "The order was not found.")
	s.asOperator("POST", path, `{"state":"completed"}`, 409, notMoved("registered", "completed", "it can move to in-processing, rejected-by-merchant, canceled"))
	for _, state := range []string{"in-processing", "ready-for-shipment", "picked-by-courier", "delivered-to-customer", "return-canceled", "completed"} {
		s.asOperator("POST", path, `{"state":"`+state+`"}`, 200, moved(state))
		s.asOperator("POST", path, `{"state":"`+state+`"}`, 409, notMoved(state, state, next[state]))
	}
	testenv.Equal(t, "R-1", order.Completed, s.state("R-1"))
	state := coded("invalid_params", "state must be one of registered, in-processing, ready-for-shipment, picked-by-courier, delivered-to-pickup-point, delivery-failed, rejected-by-merchant, canceled, completed, delivered-to-customer, return-canceled")
	s.asOperator("POST", path, `{"state":"C"}`, 400, state)
	s.asOperator("POST", path, `{"state":""}`, 400, state)
	s.asOperator("POST", path, `{"state":"completed","force":true}`, 400, coded("invalid_params", "force is not a known key"))
	s.asOperator("POST", path, "{}", 400, coded("invalid_params", "state is required"))
	for _, missing := range []string{
		"/merchants/355/orders/Y-1/state", "/merchants/355/orders/X-1/state", "/merchants/400/orders/R-1/state",
		"/merchants/x/orders/R-1/state", "/merchants/0355/orders/R-1/state", "/merchants/99999999999999999999/orders/R-1/state",
		"/merchants/355/orders/%00/state",
	} {
		s.asOperator("POST", missing, `{"state":"canceled"}`, 404, notFound)
	}
}

func TestOperatorMerchants(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.asOperator("POST", "/merchants", `{"id":12,"name":"Νέο"}`, 200, `{"success":true,"id":12,"name":"Νέο"}`)
	s.asOperator("POST", "/merchants", `{"id":12,"name":"Νέο"}`, 200, `{"success":true,"id":12,"name":"Νέο"}`)
	s.asOperator("POST", "/merchants", `{"id":12,"name":"Άλλο"}`, 409, coded("conflict", "A merchant with that id has another name."))
	s.asOperator("GET", "/merchants", "", 200, `{"merchants":[`+merchantBody(12, "Νέο", "null", "null")+`,`+
		merchantBody(355, "Κατάστημα & Υιοί", "null", "null")+`,`+merchantBody(400, "Other", "null", "null")+`],"next":null}`)
}

func TestOperatorTokens(t *testing.T) {
	t.Parallel()
	s := start(t)
	type tokenView struct {
		ID         int64
		MerchantID *int64
		Scopes     []string
		Hint       string
		ExpiresAt  *string
		RevokedAt  *string
	}
	create := func(body string) (string, tokenView) {
		t.Helper()
		got := s.Send(s.operator, "POST", "/operator/tokens", body)
		var made struct {
			Text  string
			Token tokenView
		}
		got.Decode(t, &made)
		return made.Text, made.Token
	}
	text, made := create(`{"merchantId":355,"scopes":["orders:read","invoices:write"],"expires":"2027-02-18"}`)
	if diff := cmp.Diff([]string{"orders:read", "invoices:write"}, made.Scopes); diff != "" || *made.MerchantID != 355 ||
		made.ExpiresAt == nil || *made.ExpiresAt != "2027-02-18T00:00:00Z" {
		t.Errorf("made %+v", made)
	}
	s.Send(text, "GET", "/v2/orders/R-1", "").WantStatus(t, http.StatusOK)
	s.Send(text, "PATCH", "/v2/orders/R-1/accept", "").Want(s.T, "not its scope", 403, v2Forbidden)

	_, all := create(`{"merchantId":355}`)
	if len(all.Scopes) != 3 || all.ExpiresAt != nil {
		t.Errorf("made %+v", all)
	}
	second, operators := create(`{"operator":true}`)
	if !strings.HasPrefix(second, token.OperatorPrefix) || operators.MerchantID != nil || len(operators.Scopes) != len(order.OperatorScopes.Names()) {
		t.Errorf("made %+v", operators)
	}
	s.Send(second, "GET", "/operator/merchants", "").WantStatus(t, http.StatusOK)

	s.asOperator("DELETE", fmt.Sprintf("/tokens/%d", made.ID), "", 200, `{"success":true}`)
	s.asOperator("DELETE", fmt.Sprintf("/tokens/%d", made.ID), "", 200, `{"success":true}`)
	s.Send(text, "GET", "/v2/orders/R-1", "").Want(s.T, "revoked", 401, v2Unauthorized)
	for _, id := range []string{"999", "0", "x", "99999999999999999999", second} {
		s.asOperator("DELETE", "/tokens/"+id, "", 404, coded("not_found", "The token was not found."))
	}

	list := s.Send(s.operator, "GET", "/operator/tokens", "")
	testenv.Lacks(t, "list of tokens", list.Body, text, second, s.merchant, s.operator)
	var tokens struct{ Tokens []tokenView }
	if err := json.Unmarshal([]byte(list.Body), &tokens); err != nil || len(tokens.Tokens) != 6 {
		t.Fatalf("%v: %s", err, list.Body)
	}
	for _, one := range tokens.Tokens {
		if (one.RevokedAt != nil) != (one.ID == made.ID) || !strings.HasPrefix(one.Hint, "mo") {
			t.Errorf("listed %+v", one)
		}
	}
}

// operatorScopes are the scopes of operations, by a part of their method and path: the first
// that is there counts.
var operatorScopes = []struct {
	part  string
	scope order.Scope
}{
	{"/webhooks", order.ScopeWebhooks}, {"/audit", order.ScopeAudit}, {"/customers", order.ScopeCustomerData}, {"/tokens", order.ScopeTokens}, {"/login-link", order.ScopeTokens},
	{"POST /operator/orders/transitions", order.ScopeOrdersTransition}, {"{merchantId}/orders", order.ScopeOrdersTransition}, {"POST /operator/orders", order.ScopeOrdersIngest},
	{"GET /operator/orders", order.ScopeOrdersRead}, {"/events", order.ScopeOrdersRead}, {"/overview", order.ScopeOrdersRead}, {"/merchants", order.ScopeMerchants},
}

// TestOperatorAccess checks that only operators have access, and to each operation only with
// its scope.
// Proves decision 1 (operator tokens), decision 5 (webhooks: requests).
func TestOperatorAccess(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, o := range openapitest.Published().Operations("operator") {
		path, what := regexp.MustCompile(`\{\w+\}`).ReplaceAllString(o.Path, "1"), o.Method+" "+o.Path
		s.Send("", o.Method, path, "{}").Want(t, what, 401, v2Unauthorized)
		s.Send(s.merchant, o.Method, path, "{}").Want(t, what, 403, merchantToken)
		r := testenv.NewRequest(t, "", o.Method, s.URL+path, strings.NewReader("{}"))
		r.SetBasicAuth("x", s.operator) // a browser would remember it
		testenv.Do(t, http.DefaultTransport.RoundTrip, r).Want(t, what, 401, v2Unauthorized)
		for _, row := range operatorScopes {
			if strings.Contains(what, row.part) {
				s.Send(s.NewOperatorToken(order.OperatorScopes&^row.scope), o.Method, path, "{}").WantStatus(t, 403)
				break
			}
		}
	}
	s.asOperator("PUT", "/orders", "", 405, coded("method_not_allowed", "This path does not take that method."))
	s.asOperator("GET", "/x", "", 404, coded("not_found", "Nothing is served at this path."))
}

// TestOperatorTokenRefusals has what tokens of merchants cannot have; see TestTokenRequestsRefused.
func TestOperatorTokenRefusals(t *testing.T) {
	t.Parallel()
	s := start(t)
	params := func(text string) string { return coded("invalid_params", text) }
	merchantID := params("merchantId must be a whole number from 1")
	operators := params("operator must be true, without merchantId")
	tests := map[string]string{
		`{}`:                                 merchantID,
		`{"operator":false}`:                 operators,
		`{"operator":true,"merchantId":355}`: operators,
		`{"operator":true,"scopes":["orders:write"]}`: params("scopes must be a list of orders:read, tokens, webhooks, orders:ingest, orders:transition, merchants, audit, customers"),
	}
	for body, want := range tests {
		s.asOperator("POST", "/tokens", body, 400, want)
	}
	s.asOperator("POST", "/tokens", `{"merchantId":999}`, 404, coded("not_found", "The merchant was not found."))
}
