package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// version is how a version of the interface names things (spec 1).
type version struct {
	name   string
	prefix string
	// The query parameters of a list and the keys of its params.
	size, status, statusKey, from, to, total string
}

var (
	v1 = version{
		name: "v1", prefix: "/api", size: "items_per_page", status: "status", statusKey: "status",
		from: "date_from", to: "date_to", total: "total_items",
	}
	v2 = version{
		name: "v2", prefix: "/v2", size: "itemsPerPage", status: "state", statusKey: "status",
		from: "dateFrom", to: "dateTo", total: "totalItems",
	}
	versions = []version{v1, v2}
)

// inEachVersion runs a scenario in both versions, one after the other.
func inEachVersion(t *testing.T, scenario func(t *testing.T, v version)) {
	t.Helper()
	for _, v := range versions {
		t.Run(v.name, func(t *testing.T) { scenario(t, v) })
	}
}

// placed is an order in the service, by both of its names.
type placed struct {
	number    int64
	reference string
}

// id is the name of an order in this version's paths.
func (v version) id(o placed) string {
	if v.name == "v1" {
		return fmt.Sprint(o.number)
	}
	return o.reference
}

// list is the path of a list; the query has pairs of name and value.
func (v version) list(query ...string) string {
	path := v.prefix + "/orders"
	for i := 0; i < len(query); i += 2 {
		path += string("?&"[min(i, 1)]) + query[i] + "=" + url.QueryEscape(query[i+1])
	}
	return path
}

func (v version) order(o placed) string    { return v.prefix + "/orders/" + v.id(o) }
func (v version) invoices(o placed) string { return v.order(o) + "/invoices" }
func (v version) invoice(o placed, id int64) string {
	return fmt.Sprintf("%s/%d", v.invoices(o), id)
}

// accept is the request that accepts an order.
func (v version) accept(o placed) request {
	if v.name == "v1" {
		return put(v.order(o), `{"status":"G"}`)
	}
	return patch(v.order(o)+"/accept", "")
}

// reject is the request that rejects an order with further members of the
// body, such as `"reason":"damaged"`.
func (v version) reject(o placed, members ...string) request {
	body := "{" + strings.Join(append([]string{`"status":"D"`}, members...), ",") + "}"
	return v.rejectWith(o, body)
}

// rejectWith is the request that rejects an order, with a whole body.
func (v version) rejectWith(o placed, body string) request {
	if v.name == "v1" {
		return put(v.order(o), body)
	}
	return patch(v.order(o)+"/reject", body)
}

// done is the body of an accept or reject that worked.
func (v version) done() string {
	if v.name == "v1" {
		return `{"message":"success"}`
	}
	return `{"success":true}`
}

// stateOf returns the code (v1) or name (v2) of an order's state.
func (v version) stateOf(t testing.TB, s *service, o placed) string {
	t.Helper()
	body := s.do(t, get(v.order(o))).ok(t)
	if v.name == "v1" {
		return textAt(t, body, "status")
	}
	return textAt(t, body, "order.state")
}

// shown returns the single order itself, without what it is wrapped in.
func (v version) shown(t testing.TB, s *service, o placed) string {
	t.Helper()
	body := s.do(t, get(v.order(o))).ok(t)
	if v.name == "v1" {
		return body
	}
	return at(t, body, "order")
}

// state is a row of spec 3.1 and decision 2.
type state struct{ name, code string }

var states = []state{
	{"registered", "O"},
	{"in-processing", "G"},
	{"ready-for-shipment", "H"},
	{"picked-by-courier", "J"},
	{"delivered-to-pickup-point", "S"},
	{"delivery-failed", "L"},
	{"rejected-by-merchant", "D"},
	{"canceled", "I"},
	{"completed", "C"},
	{"delivered-to-customer", "C"},
	{"return-canceled", "C"},
}

// in returns the state as a version shows and filters it.
func (st state) in(v version) string {
	if v.name == "v1" {
		return st.code
	}
	return st.name
}

// refusal is an error response in both versions. <id> in a body is the
// order as the path names it.
type refusal struct {
	status int
	v1, v2 string
}

// flat is a refusal whose body is flat in both versions (spec 7.1, 7.2).
func flat(status int, message string) refusal {
	body := `{"message":"` + message + `"}`
	return refusal{status, body, body}
}

// coded is a refusal that is flat in v1 and has a code in v2.
func coded(status int, message, code, messageV2 string) refusal {
	return refusal{status, `{"message":"` + message + `"}`, `{"error":{"code":"` + code + `","message":"` + messageV2 + `"}}`}
}

// The refusals of spec 7 and decisions 1, 3 and 5.
var (
	orderNotFound    = coded(404, "The order with id <id> was not found", "10301", "The order with id <id> was not found")
	cannotAccept     = coded(400, "Cannot Accept Order", "10304", "Cannot Accept Order")
	cannotReject     = coded(400, "Cannot Reject Order", "10304", "Cannot Reject Order")
	reasonNotValid   = coded(400, "Reason Is Not Valid", "10301", "The reason is not valid")
	invalidAction    = coded(400, "Invalid Action", "10305", "Invalid Action")
	invalidBody      = coded(400, "Invalid payload.", "invalid_payload", "Invalid payload.")
	invalidQuery     = coded(400, "Invalid request params.", "invalid_params", anyText)
	unauthorized     = coded(401, "Unauthorized", "unauthorized", anyText)
	forbidden        = coded(403, "Forbidden", "forbidden", anyText)
	nothingServed    = coded(404, anyText, "not_found", anyText)
	methodNotAllowed = coded(405, anyText, "method_not_allowed", anyText)

	uploadOrderNotFound = flat(404, "The order with id <id> was not found")
	invalidPayload      = flat(400, "Invalid payload.")
	typeNotSupported    = flat(400, "The file type is not supported.")
	sizeTooBig          = flat(400, "The file size is too big.")
	tooManyFiles        = flat(400, "You cannot upload more than 3 files.")
	invalidParams       = flat(400, "Invalid request params.")
	invoiceNotFound     = flat(404, "The invoice was not found.")
)

// in returns the refusal's body in a version for an order named id.
func (r refusal) in(t testing.TB, v version, id string) string {
	t.Helper()
	body := r.v1
	if v.name == "v2" {
		body = r.v2
	}
	quoted := asJSON(t, id)
	return strings.ReplaceAll(body, "<id>", quoted[1:len(quoted)-1])
}

// wantRefusal sees that the response is a refusal of a request about an order.
func (a response) wantRefusal(t testing.TB, v version, r refusal, o placed) {
	t.Helper()
	if strings.Contains(a.request.path, "/invoices") && r != nothingServed {
		r.v2 = r.v1 // upload and delete have flat errors only (decision 5)
	}
	a.want(t, r.status, r.in(t, v, v.id(o)))
	if r.status == http.StatusUnauthorized && a.header.Get("WWW-Authenticate") == "" {
		t.Errorf("%s: 401 without WWW-Authenticate", a)
	}
	if link := a.header.Get("Link"); link != "" {
		t.Errorf("%s: an error names a successor: %s", a, link)
	}
}
