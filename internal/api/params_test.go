package api_test

import (
	"regexp"
	"strings"
	"testing"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/openapi/openapitest"
)

// TestUnknownParameters sends every request for merchants and operators with a parameter that it
// does not have: the response names it, whatever it is, and refuses it if the client wants that.
// Proves decision 3 (unknown parameters).
func TestUnknownParameters(t *testing.T) {
	t.Parallel()
	s := start(t)
	merchant := s.NewToken(apitest.MerchantID, order.MerchantScopes)
	inPath := regexp.MustCompile(`\{\w+\}`)
	for _, document := range []string{"v1", "v2", "operator"} {
		token := map[string]string{"operator": s.operator}[document]
		if token == "" {
			token = merchant
		}
		for _, operation := range openapitest.Published().Operations(document) {
			path, what := inPath.ReplaceAllString(operation.Path, "none")+"?zzz=secret", operation.Method+" "+operation.Path
			got := s.Send(token, operation.Method, path, "")
			if got.Header.Get("Ignored-Parameters") != "zzz" && !strings.Contains(got.Header.Get("Error-Detail"), "zzz is not a known parameter") {
				t.Errorf("%s: %d %v", what, got.Status, got.Header)
			}
			testenv.Equal(t, what, false, strings.Contains(got.Header.Get("Error-Detail"), "secret"))
			got = s.Send(token, operation.Method, path, "", "Prefer", "handling=strict")
			testenv.Equal(t, what, 400, got.Status)
			testenv.Equal(t, what, "handling=strict", got.Header.Get("Preference-Applied"))
			testenv.Equal(t, what, true, strings.HasPrefix(got.Header.Get("Error-Detail"), "zzz is not a known parameter; "))
		}
	}
}

// TestIgnoredParameters reads a list that is cached for clients that prefer one and the other.
// Proves decision 3 (unknown parameters).
func TestIgnoredParameters(t *testing.T) {
	t.Parallel()
	s := start(t)
	tag := ""
	for range 3 {
		for path, ignored := range map[string]string{
			"/api/orders?period=A&Status=O": "Status, period", "/v2/orders?states=registered": "states", "/v2/orders/export?page=2": "page",
			"/v2/orders?state=registered": "", "/v2/orders?status=canceled&state=registered": "status",
		} {
			got := s.Send(s.merchant, "GET", path, "")
			testenv.Equal(t, path, 200, got.Status)
			testenv.Equal(t, path, ignored, got.Header.Get("Ignored-Parameters"))
			if tag = got.Header.Get("ETag"); tag != "" {
				got = s.Send(s.merchant, "GET", path, "", "If-None-Match", tag)
				testenv.Equal(t, path+" again", 304, got.Status)
				testenv.Equal(t, path+" again", ignored, got.Header.Get("Ignored-Parameters"))
			}
			for _, method := range []string{"GET", "HEAD"} {
				got = s.Send(s.merchant, method, path, "", "Prefer", "handling=strict", "If-None-Match", tag)
				testenv.Equal(t, path+" strictly", ignored != "", got.Status == 400)
				testenv.Equal(t, path+" strictly", "handling=strict", got.Header.Get("Preference-Applied"))
			}
		}
	}
	for request, want := range map[string][2]string{
		"GET /api/orders?Status=O":           {`{"message":"Invalid request params."}`, "Status is not a known parameter; the nearest one is status; known are status, date_from, date_to, cursor, page, items_per_page."},
		"GET /v2/orders?states=registered":   {`{"error":{"code":"invalid_params","message":"states is not a known parameter"}}`, "states is not a known parameter; the nearest one is state; known are state, dateFrom, dateTo, cursor, page, itemsPerPage."},
		"POST /v2/orders/R-1/invoices?kind=": {`{"message":"Invalid request params."}`, "kind is not a known parameter; there are none here."},
		"PATCH /v2/orders/R-1/accept?page=1": {`{"error":{"code":"invalid_params","message":"page is not a known parameter"}}`, "page is not a known parameter; there are none here."},
	} {
		method, path, _ := strings.Cut(request, " ")
		got := s.Send(s.merchant, method, path, "", "Prefer", "handling=strict")
		got.Want(t, request, 400, want[0])
		testenv.Equal(t, request, want[1], got.Header.Get("Error-Detail"))
	}
	testenv.Equal(t, "nothing was accepted", order.Registered, s.state("R-1"))
}
