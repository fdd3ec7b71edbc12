package openapitest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"merchantorders/internal/testenv"
	"merchantorders/openapi"
)

// valid returns an exchange that the documents describe.
func valid() Exchange {
	return Exchange{
		Method: "PATCH", Path: "/v2/orders/SF-1/reject", Status: 200,
		RequestHeader: http.Header{"Authorization": {"Bearer mo_x"}},
		RequestBody:   []byte(`{"status":"D","reason":"damaged","unknown":1}`),
		Header: http.Header{
			"Content-Type": {"application/json"}, "Content-Length": {"16"},
			"X-Request-Id": {"A"}, "X-Content-Type-Options": {"nosniff"}, "Cache-Control": {"no-store"},
			"Vary": {"Accept-Encoding"}, "Etag": {`"7-2"`},
		},
		Body: []byte(`{"success":true}`),
	}
}

// list returns a list of version 1 that the documents describe.
func list() Exchange {
	e := valid()
	e.Method, e.Path, e.RequestBody = "GET", "/api/orders", nil
	e.Query = "status=O&items_per_page=1&unknown=x&date_from=&date_to=2026-11-20+08%3A00%3A00"
	e.Header["Link"] = []string{`<http://x/api/orders>; rel="first"`, `<http://x/v2/orders>; rel="successor-version"`}
	e.Header.Set("Cache-Control", "private, no-cache")
	e.Body = []byte(`{"params":{"page":1,"items_per_page":1,"total_items":1,"status":null,"date_from":"1970-01-01 00:00:00","date_to":"2026-11-20 23:59:59"},
	"orders":[{"order_id":7,"order_reference":"m","timestamp":1,"firstname":"","lastname":"","company_id":"355","company":"","email":"","phone":"","status":"O","total":"5"}]}`)
	return e
}

func replaced(e Exchange, old, new string) Exchange {
	e.Body = []byte(strings.Replace(string(e.Body), old, new, 1))
	return e
}

// with returns an exchange with one change.
func with(e Exchange, change func(*Exchange)) Exchange {
	e.Header = e.Header.Clone()
	change(&e)
	return e
}

// TestViolations changes one thing in an exchange and checks the reported violation.
func TestViolations(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		e    Exchange
		want string // part of the violation; empty: none
	}{
		"as described":               {valid(), ""},
		"a list":                     {list(), ""},
		"HEAD":                       {with(list(), func(e *Exchange) { e.Method, e.Body = "HEAD", nil }), ""},
		"slash at the end":           {with(list(), func(e *Exchange) { e.Path += "/" }), ""},
		"runs of slashes":            {with(list(), func(e *Exchange) { e.Path = "/api//orders//" }), ""},
		"a second Link":              {with(list(), func(e *Exchange) { e.Header.Add("Link", `<http://x>; rel="last"`) }), "header Link: "},
		"no body where none must be": {with(valid(), func(e *Exchange) { e.RequestBody = nil }), ""},

		"renamed field":             {replaced(list(), `"total_items"`, `"totalItems"`), "missing property 'total_items'"},
		"renamed field of an order": {replaced(list(), `"lastname"`, `"last_name"`), "additional properties 'last_name' not allowed"},
		"extra field":               {replaced(valid(), `}`, `,"more":1}`), "additional properties 'more' not allowed"},
		"missing field":             {replaced(valid(), `"success":true`, ``), "missing property 'success'"},
		"text for a number":         {replaced(list(), `"page":1`, `"page":"1"`), "got string, want integer"},
		"number for a text":         {replaced(list(), `"total":"5"`, `"total":5`), "got number, want string"},
		"fraction":                  {replaced(list(), `"order_id":7`, `"order_id":7.5`), "want integer"},
		"null":                      {replaced(list(), `"total":"5"`, `"total":null`), "got null, want string"},
		"other form of a time":      {replaced(list(), `1970-01-01 00:00:00`, `1970-01-01T00:00:00Z`), "does not match pattern"},
		"unknown value":             {replaced(list(), `"status":"O"`, `"status":"X"`), "value must be one of"},
		"no JSON":                   {replaced(valid(), `}`, ``), "body: "},
		"text after it":             {replaced(valid(), `}`, `} x`), "body: "},

		"undescribed status":        {with(valid(), func(e *Exchange) { e.Status = 202 }), "status 202 is not described"},
		"extra header":              {with(valid(), func(e *Exchange) { e.Header.Set("X-More", "1") }), "header X-More is not described"},
		"missing header":            {with(valid(), func(e *Exchange) { e.Header.Del("Cache-Control") }), "header Cache-Control is missing"},
		"other value of a header":   {with(valid(), func(e *Exchange) { e.Header.Set("Cache-Control", "public") }), "header Cache-Control: "},
		"undescribed type":          {with(valid(), func(e *Exchange) { e.Header.Set("Content-Type", "text/html") }), "content of type text/html is not described"},
		"no type":                   {with(valid(), func(e *Exchange) { e.Header.Del("Content-Type") }), "Content-Type"},
		"undescribed path":          {with(valid(), func(e *Exchange) { e.Path = "/v2/order" }), "an undescribed path does not get 404"},
		"path of another part":      {with(valid(), func(e *Exchange) { e.Path = "/elsewhere" }), "an undescribed path does not get 404"},
		"undescribed method":        {with(valid(), func(e *Exchange) { e.Method = "PUT" }), "an undescribed method does not get 405"},
		"undescribed body":          {with(valid(), func(e *Exchange) { e.RequestBody = []byte(`{"status":"G"}`) }), "a body is accepted that is not described"},
		"undescribed reason":        {with(valid(), func(e *Exchange) { e.RequestBody = []byte(`{"reason":"x"}`) }), "a body is accepted that is not described"},
		"undescribed parameter":     {with(list(), func(e *Exchange) { e.Query = "items_per_page=0" }), "query parameter items_per_page is accepted"},
		"parameter of other type":   {with(list(), func(e *Exchange) { e.Query = "page=one" }), "query parameter page is accepted"},
		"malformed query":           {with(list(), func(e *Exchange) { e.Query = "%zz" }), "a malformed query is accepted"},
		"undescribed reference":     {with(valid(), func(e *Exchange) { e.Path = "/v2/orders/.x/reject" }), "path parameter orderReference is accepted"},
		"no token":                  {with(valid(), func(e *Exchange) { e.RequestHeader = nil }), "a request without a token is accepted"},
		"other methods in Allow":    {refused("GET"), `Allow is "GET", the document has "PATCH"`},
		"body with a 304":           {notModified("x"), "a body is not described"},
		"the same without":          {notModified(""), ""},
		"methods in Allow":          {refused("PATCH"), ""},
		"flat error where coded is": {with(valid(), func(e *Exchange) { e.Status, e.Body = 400, []byte(`{"message":"Invalid payload."}`) }), "missing property 'error'"},
		"other text of an error": {with(valid(), func(e *Exchange) {
			e.Status, e.Body = 400, []byte(`{"error":{"code":"10304","message":"Sorry"}}`)
		}), "value must be one of"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			violations := strings.Join(Published().Violations(test.e), "\n")
			if test.want == "" && violations != "" {
				t.Errorf("violations in a described exchange:\n%s", violations)
			}
			testenv.Contains(t, "violations", violations, test.want)
		})
	}
}

func refused(allow string) Exchange {
	return with(valid(), func(e *Exchange) {
		e.Method, e.Status, e.Body = "GET", 405, []byte(`{"error":{"code":"method_not_allowed","message":"This path does not take that method."}}`)
		e.Header.Set("Allow", allow)
		e.Header.Set("Error-Detail", "This path takes PATCH.")
		e.Header.Del("Etag")
	})
}

func notModified(body string) Exchange {
	return with(valid(), func(e *Exchange) {
		e.Method, e.Path, e.Status, e.Body, e.RequestBody = "GET", "/openapi/v1.yaml", 304, []byte(body), nil
		e.Header.Del("Content-Type")
		e.Header.Set("Cache-Control", "no-cache")
		e.Header.Set("ETag", `"`+strings.Repeat("a", 64)+`"`)
	})
}

// TestEventsByType checks that the data of an event are those of its type, in the feed and
// in a delivery: the published schema is open.
func TestEventsByType(t *testing.T) {
	t.Parallel()
	const event = `{"seq":1,"type":"order.created","orderReference":"m","orderId":7,"at":"2026-11-20T09:15:00Z","actor":"system","tokenId":null,"requestId":null,"data":{"state":"registered"}}`
	for name, test := range map[string]struct {
		old, new string
		valid    bool
	}{
		"as described":      {"", "", true},
		"data of a type":    {`{"state":"registered"}`, `{"invoiceId":1,"filename":"a.pdf"}`, false},
		"no data":           {`{"state":"registered"}`, `{}`, false},
		"more data":         {`"registered"}`, `"registered","more":1}`, false},
		"unknown type":      {"order.created", "order.lost", false},
		"a test in the row": {"order.created", "webhook.test", false},
		"another time":      {"09:15:00Z", "09:15:00+00:00", false},
	} {
		err := Published().DeliveryViolation("v2", []byte(strings.Replace(event, test.old, test.new, 1)))
		testenv.Equal(t, fmt.Sprintf("%s: %v", name, err), test.valid, err == nil)
	}
}

// TestChangedDocuments changes one thing in a document, so that it no longer describes an
// exchange.
func TestChangedDocuments(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ document, old, new, want string }{
		"unchanged":         {"v1", "", "", ""},
		"renamed field":     {"v1", "total_items: {type", "all_items: {type", "additional properties 'total_items' not allowed"},
		"wrong type":        {"v1", "company_id: {type: string, pattern: '^\\d+$'", "company_id: {type: integer", "got string, want integer"},
		"missing status":    {"v1", `"200":`, `"202":`, "status 200 is not described"},
		"header for one":    {"v1", `(, <[^<>]+>; rel="(first|next|successor-version)"){0,2}`, "", "header Link: "}, // the lines are joined
		"missing header":    {"v1", "            Link: {$ref: \"#/components/headers/PageLink\"}\n", "", "header Link is not described"},
		"missing path":      {"v1", "  /api/orders:\n", "  /api/lists:\n", "an undescribed path does not get 404"},
		"missing operation": {"v1", "    get:\n      operationId: listOrders", "    post:\n      operationId: listOrders", "an undescribed method"},
		"missing parameter": {"v1", `pattern: '^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z| ?[+ -]\d{2}(:?\d{2})?)?)?$'`, `pattern: '^\d{4}-\d{2}-\d{2}$'`, "query parameter date_to is accepted"},
		"missing content":   {"v1", "            application/json:\n              schema: {$ref: \"#/components/schemas/OrderList\"}", "            application/xml:\n              schema: {$ref: \"#/components/schemas/OrderList\"}", "content of type application/json is not described"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			violations := strings.Join(changed(t, test.document, test.old, test.new).Violations(list()), "\n")
			if (violations == "") != (test.want == "") || !strings.Contains(violations, test.want) {
				t.Errorf("violations are %q, want %q among them", violations, test.want)
			}
		})
	}
}

// changed returns the contract with one document changed.
func changed(t *testing.T, name, old, new string) *Contract {
	t.Helper()
	var documents []openapi.Document
	for _, document := range openapi.Documents() {
		if document.Name == name {
			text := strings.Replace(string(document.YAML), old, new, 1)
			if old != new && text == string(document.YAML) {
				t.Fatalf("%s does not have %q", name, old)
			}
			changed := testenv.Of(openapi.Parse(name, []byte(text))).Must(t)
			document = changed
		}
		documents = append(documents, document)
	}
	contract := testenv.Of(Load(documents)).Must(t)
	return contract
}

// TestCheck checks an exchange on the side of the handler and on that of the client.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		body   string
		failed bool
	}{
		"as described": {200, `{"success":true}`, false},
		"otherwise":    {200, `{"success":false}`, true},
		"no status":    {0, `{"success":true}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ended := &fakeTest{TB: t}
			checkByHandler(t, CheckHandler(ended), test.status, test.body)
			ended.end()
			testenv.Equal(t, "the test failed", test.failed, ended.failed)
			ended = &fakeTest{TB: t}
			checkByTransport(t, ended, test.status, test.body)
			ended.end()
			testenv.Equal(t, "checked by the client, the test failed", test.failed, ended.failed)
		})
	}
}
