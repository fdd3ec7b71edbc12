package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/app/apptest"
	"merchantorders/internal/config"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

const success1, success2 = `{"message":"success"}`, `{"success":true}`

func v1NotFound(id string) string { return `{"message":"The order with id ` + id + ` was not found"}` }

func v2NotFound(id string) string {
	return `{"error":{"code":"10301","message":"The order with id ` + id + ` was not found"}}`
}

// TestList compares the params of lists in both versions.
func TestList(t *testing.T) {
	t.Parallel()
	s := start(t)
	tests := []struct {
		v1, v2       string
		want1, want2 string // params
	}{
		{
			"", "",
			`{"page":1,"items_per_page":10,"total_items":11,"status":null,"date_from":"1970-01-01 00:00:00","date_to":"2026-11-20 23:59:59"}`,
			`{"page":1,"itemsPerPage":10,"totalItems":11,"status":null,"dateFrom":"1970-01-01 00:00:00","dateTo":"2026-11-20 23:59:59"}`,
		},
		{
			"?status=H&items_per_page=500&date_from=2026-11-20T10:00:00&date_to=2026-11-20", "?state=ready-for-shipment&itemsPerPage=500&dateFrom=2026-11-20&dateTo=2026-11-20",
			`{"page":1,"items_per_page":100,"total_items":1,"status":"H","date_from":"2026-11-20 00:00:00","date_to":"2026-11-20 23:59:59"}`,
			`{"page":1,"itemsPerPage":100,"totalItems":1,"status":"ready-for-shipment","dateFrom":"2026-11-20 00:00:00","dateTo":"2026-11-20 23:59:59"}`,
		},
		{
			"?date_from=2027-01-01", "?dateFrom=2027-01-01",
			`{"page":1,"items_per_page":10,"total_items":0,"status":null,"date_from":"2027-01-01 00:00:00","date_to":"2027-01-01 23:59:59"}`,
			`{"page":1,"itemsPerPage":10,"totalItems":0,"status":null,"dateFrom":"2027-01-01 00:00:00","dateTo":"2027-01-01 23:59:59"}`,
		},
		{
			"?page=9223372036854775807&itemsPerPage=100", "?page=9223372036854775807&itemsPerPage=100",
			`{"page":9223372036854775807,"items_per_page":100,"total_items":11,"status":null,"date_from":"1970-01-01 00:00:00","date_to":"2026-11-20 23:59:59"}`,
			`{"page":9223372036854775807,"itemsPerPage":100,"totalItems":11,"status":null,"dateFrom":"1970-01-01 00:00:00","dateTo":"2026-11-20 23:59:59"}`,
		},
	}
	for _, test := range tests {
		for path, want := range map[string]string{"/api/orders" + test.v1: test.want1, "/v2/orders" + test.v2: test.want2} {
			got := s.Send(s.merchant, "GET", path, "")
			var list struct{ Params, Orders json.RawMessage }
			if err := json.Unmarshal([]byte(got.Body), &list); err != nil {
				t.Fatalf("%s: %v: %s", path, err, got.Body)
			}
			if diff := cmp.Diff(want, string(list.Params)); diff != "" || got.Status != http.StatusOK {
				t.Errorf("%s: %d (-want +got):\n%s", path, got.Status, diff)
			}
			if strings.Contains(want, `otal_items":0`) && string(list.Orders) != "[]" {
				t.Errorf("%s: orders are %s", path, list.Orders)
			}
		}
	}
}

func TestListOrders(t *testing.T) {
	t.Parallel()
	s := start(t)
	page := func(path string) (ids []string) {
		t.Helper()
		var list struct {
			Orders []struct {
				ID        string `json:"id"`
				Reference string `json:"order_reference"`
			}
		}
		testenv.NoError(t, json.Unmarshal([]byte(s.Send(s.merchant, "GET", path, "").Body), &list))
		for _, o := range list.Orders {
			ids = append(ids, o.ID+o.Reference)
		}
		return ids
	}
	// Newest first; those of the same second by legacy id.
	all := []string{"SF-2026-000123", "R-9", "R-8", "R-7", "R-6", "R-5", "R-4", "R-3", "R-2", "R-1", "m"}
	tests := []struct {
		path string
		want []string
	}{
		{"/api/orders", all[:10]},
		{"/api/orders?page=2", all[10:]},
		{"/api/orders?page=3", nil},
		{"/api/orders?itemsPerPage=4&page=2", all[4:8]},
		{"/api/orders?status=O&items_per_page=2", all[1:3]},
		{"/api/orders?status=E", nil},
		{"/api/orders?date_to=2026-11-19T00:00:00&items_per_page=100", all[1:]},
		{"/api/orders/", all[:10]},
		{"/v2/orders", all[:10]},
		{"/v2/orders?itemsPerPage=100", all},
		{"/v2/orders?state=registered&page=5&itemsPerPage=2", all[9:]},
		{"/v2/orders?dateFrom=2026-11-20", all[:1]},
		{"/v2/orders/?state=canceled", nil},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, page(test.path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.path, diff)
		}
	}
}

func TestListRefusals(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.expect("GET", "/api/orders?page=0", "", 400, `{"message":"Invalid request params."}`)
	s.expect("GET", "/api/orders?date_from=2026-02-30", "", 400, `{"message":"Invalid request params."}`)
	s.expect("GET", "/v2/orders?page=0", "", 400,
		`{"error":{"code":"invalid_params","message":"page must be a whole number from 1"}}`)
	s.expect("GET", "/v2/orders?state=C", "", 400,
		`{"error":{"code":"invalid_params","message":"state must be one of registered, in-processing, ready-for-shipment, picked-by-courier, delivered-to-pickup-point, delivery-failed, rejected-by-merchant, canceled, completed, delivered-to-customer, return-canceled"}}`)
	s.expect("GET", "/v2/orders?dateFrom=2026-05-02&dateTo=2026-05-01", "", 400,
		`{"error":{"code":"invalid_params","message":"dateFrom is after dateTo"}}`)
}

func TestGet(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, path := range []string{"/api/orders/915664", "/api/orders/915664/", "/v2/orders/SF-2026-000123"} {
		got := s.Send(s.merchant, "GET", path, "")
		if got.Status != http.StatusOK || !strings.Contains(got.Body, apitest.Rich().Customer.Email) {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
		head := s.Send(s.merchant, "HEAD", path, "")
		if head.Status != http.StatusOK || head.Body != "" || head.Header.Get("Content-Length") != got.Header.Get("Content-Length") {
			t.Errorf("HEAD %s: %d, %d bytes, Content-Length %s", path, head.Status, len(head.Body), head.Header.Get("Content-Length"))
		}
	}
	missing := map[string]string{
		"/api/orders/999": v1NotFound("999"), "/api/orders/abc": v1NotFound("abc"), "/api/orders/0": v1NotFound("0"),
		"/api/orders/-101": v1NotFound("-101"), "/api/orders/+101": v1NotFound("+101"), "/api/orders/0101": v1NotFound("0101"),
		"/api/orders/101.0": v1NotFound("101.0"), "/api/orders/99999999999999999999": v1NotFound("99999999999999999999"),
		"/api/orders/%00": v1NotFound(`\u0000`), "/api/orders/%ff": v1NotFound("\ufffd"), "/api/orders/a%2Fb": v1NotFound("a/b"),
		"/api/orders/%2e%2e": v1NotFound(".."), "/api/orders/R-1": v1NotFound("R-1"), "/api/orders/101%20": v1NotFound("101 "),
		"/v2/orders/101": v2NotFound("101"), "/v2/orders/r-1": v2NotFound("r-1"), "/v2/orders/%00": v2NotFound(`\u0000`),
		"/v2/orders/%ff%fe": v2NotFound("\ufffd\ufffd"), "/v2/orders/R-1%2Faccept": v2NotFound("R-1/accept"),
		"/v2/orders/%3Cb%3E%22": v2NotFound(`<b>\"`),
	}
	for path, want := range missing {
		s.expect("GET", path, "", 404, want)
	}
}

func TestSuccessorLink(t *testing.T) {
	t.Parallel()
	s := start(t)
	one := func(reference string) string {
		return "<" + baseURL + "/v2/orders/" + reference + `>; rel="successor-version"`
	}
	tests := []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/api/orders", "", 200, "<" + baseURL + `/v2/orders>; rel="successor-version"`},
		{"GET", "/api/orders/101", "", 200, one("R-1")},
		{"PUT", "/api/orders/101", `{"status":"G"}`, 200, one("R-1")},
		{"PUT", "/api/orders/102", `{"status":"D"}`, 200, one("R-2")},
		{"POST", "/api/orders/103/invoices", uploadBody("a.pdf", "x"), 200, one("R-3")},
		{"DELETE", "/api/orders/103/invoices/1", "", 200, one("R-3")},
		{"PUT", "/api/orders/101", `{"status":"G"}`, 400, ""},
		{"GET", "/api/orders/999", "", 404, ""},
		{"GET", "/v2/orders/R-1", "", 200, ""},
	}
	for _, test := range tests {
		got := s.Send(s.merchant, test.method, test.path, test.body)
		if got.Status != test.status || got.Header.Get("Link") != test.want {
			t.Errorf("%s %s: %d, Link %q, want %d, %q", test.method, test.path, got.Status, got.Header.Get("Link"), test.status, test.want)
		}
	}
}

// TestActionsV1 goes through the rows of spec 7.1 for PUT in the order of the checks
// of decision 5: body, order, reason, state.
func TestActionsV1(t *testing.T) {
	t.Parallel()
	s := start(t)
	const cannotAccept, cannotReject = `{"message":"Cannot Accept Order"}`, `{"message":"Cannot Reject Order"}`
	const payload, action, reason = `{"message":"Invalid payload."}`, `{"message":"Invalid Action"}`, `{"message":"Reason Is Not Valid"}`
	put := func(id, body string, status int, want string) {
		t.Helper()
		s.expect("PUT", "/api/orders/"+id, body, status, want)
	}
	put("101", `{"status":"G"}`, 200, success1)
	put("101", `{"status":"G"}`, 400, cannotAccept)
	put("101", `{"status":"D"}`, 400, cannotReject)
	put("101", `{"status":"D","reason":"nonsense"}`, 400, reason)
	put("102", `{"status":"D","reason":"nonsense"}`, 400, reason)
	put("102", `{"status":"D","reason":"Damaged"}`, 400, reason)
	put("102", `{"status":"D","reason":5}`, 400, payload)
	put("102", `{"status":"X"}`, 400, action)
	put("102", `{"status":null}`, 400, action)
	put("102", `{}`, 400, payload)
	put("102", ``, 400, payload)
	put("102", `{"x":"`+strings.Repeat("a", 64<<10)+`","status":"G"}`, 400, payload)
	put("102", `{"status":"D","reason":"out-of-stock","notify_user":1}`, 200, success1)
	put("102", `{"status":"D","reason":"out-of-stock"}`, 400, cannotReject)
	put("102", `{"status":"G"}`, 400, cannotAccept)
	put("103", `{"status":"D","reason":""}`, 200, success1)
	put("915664", `{"status":"G"}`, 400, cannotAccept)
	put("915664", `{"status":"D"}`, 400, cannotReject)
	put("999", `{"status":"D","reason":"nonsense"}`, 404, v1NotFound("999"))
	put("999", `{"status":"G"}`, 404, v1NotFound("999"))
	put("abc", `{"status":"G"}`, 404, v1NotFound("abc"))
	put("abc", `{"status":"X"}`, 400, action)
	put("999", `[]`, 400, payload)
	for reference, want := range map[string]order.State{
		"R-1": order.InProcessing, "R-2": order.RejectedByMerchant, "R-3": order.RejectedByMerchant,
		"R-4": order.Registered, "SF-2026-000123": order.ReadyForShipment,
	} {
		if got := s.state(reference); got != want {
			t.Errorf("%s is %s, want %s", reference, got, want)
		}
	}
}

// TestActionsV2 does the same for version 2, with both sets of codes.
func TestActionsV2(t *testing.T) {
	t.Parallel()
	for codes, code := range map[string][2]string{config.Samples: {"10304", "10301"}, config.Table: {"10303", "10306"}} {
		t.Run(codes, func(t *testing.T) {
			t.Parallel()
			s := startWith(t, apptest.Setup{Settings: config.Config{ErrorCodes: codes}})
			coded := func(code, message string) string {
				return `{"error":{"code":"` + code + `","message":"` + message + `"}}`
			}
			cannotAccept, cannotReject := coded(code[0], "Cannot Accept Order"), coded("10304", "Cannot Reject Order")
			payload, reason := coded("invalid_payload", "Invalid payload."), coded(code[1], "The reason is not valid")
			action := coded("10305", "Invalid Action")
			patch := func(path, body string, status int, want string) {
				t.Helper()
				s.expect("PATCH", "/v2/orders/"+path, body, status, want)
			}
			patch("R-1/accept", "", 200, success2)
			patch("R-1/accept", "", 400, cannotAccept)
			patch("R-1/reject", "", 400, cannotReject)
			patch("R-1/reject", `{"reason":"nonsense"}`, 400, reason)
			patch("R-2/accept", `[ignored`, 200, success2)
			patch("R-3/reject", `{"status":"G"}`, 400, action)
			patch("R-3/reject", `{"status":null}`, 400, action)
			patch("R-3/reject", `null`, 400, payload)
			patch("R-3/reject", `{"reason":[]}`, 400, payload)
			patch("R-3/reject", `{"status":"D","reason":"nonsense"}`, 400, reason)
			patch("R-3/reject", `{"status":"D","reason":"wrong-price"}`, 200, success2)
			patch("R-3/accept", "", 400, cannotAccept)
			patch("R-4/reject", "", 200, success2)
			patch("R-5/reject/", `{}`, 200, success2)
			patch("Y-1/accept", "", 404, v2NotFound("Y-1"))
			patch("Y-1/reject", `{"reason":"nonsense"}`, 404, v2NotFound("Y-1"))
			patch("Y-1/reject", `{"status":"G"}`, 400, action)
			patch("SF-2026-000123/accept", "", 400, cannotAccept)
			patch("SF-2026-000123/reject", "", 400, cannotReject)
		})
	}
}

// TestConcurrentTransitions accepts and rejects one order through both versions at
// once.
func TestConcurrentTransitions(t *testing.T) {
	t.Parallel()
	s := start(t)
	type try struct{ method, path, body string }
	tries := []try{
		{"PUT", "/api/orders/101", `{"status":"G"}`}, {"PUT", "/api/orders/101", `{"status":"D"}`},
		{"PATCH", "/v2/orders/R-1/accept", ""}, {"PATCH", "/v2/orders/R-1/reject", ""},
	}
	var won sync.Map
	var all sync.WaitGroup
	for i := range 32 {
		all.Go(func() {
			one := tries[i%len(tries)]
			if got := s.Send(s.merchant, one.method, one.path, one.body); got.Status == http.StatusOK {
				won.Store(i, one)
			} else if got.Status != http.StatusBadRequest {
				t.Errorf("%s %s: %d %s", one.method, one.path, got.Status, got.Body)
			}
		})
	}
	all.Wait()
	winners := 0
	won.Range(func(any, any) bool { winners++; return true })
	if winners != 1 {
		t.Errorf("%d of 32 won, want 1", winners)
	}
}

func TestUnservedPaths(t *testing.T) {
	t.Parallel()
	s := start(t)
	const v1Nothing = `{"message":"Not Found"}`
	const v2Nothing = `{"error":{"code":"not_found","message":"Nothing is served at this path."}}`
	for _, path := range []string{"/api", "/api/", "/api/order", "/api/orders/1/2", "/api/orders/../orders", "/api/orders/101/invoices/1/2"} {
		s.expect("GET", path, "", 404, v1Nothing)
	}
	for _, path := range []string{"/v2", "/v2/x", "/v2/orders/R-1/x", "/v2/./orders"} {
		s.expect("GET", path, "", 404, v2Nothing)
	}
	tests := []struct {
		method, path, allow string
		coded               bool
	}{
		{"POST", "/api/orders", "GET, HEAD", false},
		{"DELETE", "/api/orders/101", "GET, HEAD, PUT", false},
		{"PATCH", "/api/orders/101", "GET, HEAD, PUT", false},
		{"GET", "/api/orders/101/invoices", "POST", false},
		{"GET", "/api/orders/101/invoices/1", "DELETE", false},
		{"PUT", "/v2/orders/R-1", "GET, HEAD", true},
		{"GET", "/v2/orders/R-1/accept", "PATCH", true},
		{"POST", "/v2/orders/R-1/reject", "PATCH", true},
		{"PUT", "/v2/orders/R-1/invoices", "POST", false},
		{"OPTIONS", "/v2/orders/R-1/invoices/1", "DELETE", false},
		{"PUT", "/storage/eu/inv/invoices/R-1/a.pdf", "GET, HEAD", false},
	}
	for _, test := range tests {
		want := `{"message":"Method Not Allowed"}`
		if test.coded {
			want = `{"error":{"code":"method_not_allowed","message":"This path does not take that method."}}`
		}
		if got := s.expect(test.method, test.path, "", 405, want); got.Header.Get("Allow") != test.allow {
			t.Errorf("%s %s: Allow %q, want %q", test.method, test.path, got.Header.Get("Allow"), test.allow)
		}
	}
}
