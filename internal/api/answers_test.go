package api_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// answers sends answers of the merchant and compares the lines of the response.
func (s *service) answers(body string, header []string, want ...string) {
	s.T.Helper()
	s.Send(s.merchant, "POST", "/v2/orders/answers", body, append(header, "Content-Type", "application/x-ndjson")...).
		Want(s.T, "answers", 200, strings.Join(want, "\n"))
}

// noTag is the result of a line whose ifMatch is not the tag of the order.
func noTag(line int, reference, state string) string {
	return fmt.Sprintf(`{"line":%d,"merchantId":355,"reference":%q,"status":"refused","state":%q,"problem":"The order has changed: its entity tag is not ifMatch any more."}`,
		line, reference, state)
}

// TestAnswers sends answers with every problem, as lines and as an array: each has its
// own result and affects no other.
// Proves decision 2 (imports, bulk changes and answers), decision 9 (many answers).
func TestAnswers(t *testing.T) {
	t.Parallel()
	s := start(t)
	tag, _ := json.Marshal(s.Send(s.merchant, "GET", "/v2/orders/R-4", "").Header.Get("ETag"))
	items := []string{
		`{"orderReference":"R-1","answer":"accept"}`,
		`{"orderReference":"R-2","answer":"reject","reason":"out-of-stock"}`,
		`{"orderReference":"R-3","answer":"reject","reason":null,"ifMatch":null}`,
		`{"orderReference":"R-4","answer":"accept","reason":"","ifMatch":` + string(tag) + `}`,
		`{"orderReference":"R-1","answer":"accept"}`,
		`{"orderReference":"R-1","answer":"reject"}`,
		`{"orderReference":"R-2","answer":"accept"}`,
		`{"orderReference":"R-5","answer":"accept","ifMatch":"\"105-99\""}`,
		`{"orderReference":"X-1","answer":"accept"}`,
		`{"orderReference":"Y-1","answer":"accept","ifMatch":"*"}`,
		`{"orderReference":"R-5","answer":"maybe"}`,
		`{"orderReference":"R 5","answer":"accept"}`,
		`{"orderReference":"R-5","answer":"accept","reason":"damaged"}`,
		`{"orderReference":"R-5","answer":"reject","reason":"late"}`,
		`{"orderReference":"R-5","answer":"reject","reason":5}`,
		`{"orderReference":"R-5","answer":"accept","ifMatch":"105-1"}`,
		`{"orderReference":"R-5","answer":"accept","Reason":"damaged"}`,
		`{"orderReference":"R-5","answer":"accept","answer":"reject"}`,
		"{\"orderReference\":\"R-5\",\"answer\":\"acc\xff\"}",
		`["R-5"]`,
		`"` + strings.Repeat("x", 2<<10) + `"`,
	}
	refused := func(line int, reference, state, to, why string) string {
		return fmt.Sprintf(`{"line":%d,"merchantId":355,"reference":%q,"status":"refused","state":%q,"problem":"An order in the state %s cannot move to %s: %s."}`,
			line, reference, state, state, to, why)
	}
	invalid := func(line int, problem string) string {
		return fmt.Sprintf(`{"line":%d,"status":"invalid","problem":%q}`, line, problem)
	}
	changed := func(status string) []string {
		return []string{
			`{"line":1,"merchantId":355,"reference":"R-1","status":"` + status + `","state":"in-processing"}`,
			`{"line":2,"merchantId":355,"reference":"R-2","status":"` + status + `","state":"rejected-by-merchant"}`,
			`{"line":3,"merchantId":355,"reference":"R-3","status":"` + status + `","state":"rejected-by-merchant"}`,
		}
	}
	rest := []string{
		`{"line":5,"merchantId":355,"reference":"R-1","status":"unchanged","state":"in-processing"}`,
		refused(6, "R-1", "in-processing", "rejected-by-merchant", "only the marketplace can change it"),
		refused(7, "R-2", "rejected-by-merchant", "in-processing", "the state is final"),
		noTag(8, "R-5", "registered"),
		`{"line":9,"merchantId":355,"reference":"X-1","status":"not_found","problem":"The merchant 355 has no such order."}`,
		`{"line":10,"merchantId":355,"reference":"Y-1","status":"not_found","problem":"The merchant 355 has no such order."}`,
		invalid(11, "answer must be accept or reject"),
		invalid(12, "orderReference must be the reference of an order"),
		invalid(13, "reason must not be given with accept"),
		invalid(14, "reason must be one of out-of-stock, damaged, wrong-price, disabled-product, wrong-product"),
		invalid(15, "reason: must be text"),
		invalid(16, "ifMatch must be * or a list of entity tags, each in double quotes"),
		invalid(17, "Reason: unknown key; the nearest one is reason"),
		invalid(18, "answer: the key is given twice"),
		invalid(19, "answer: invalid UTF-8"),
		invalid(20, "not a JSON object: it is an array, which only a body with Content-Type: application/json may be"),
		invalid(21, "not a JSON object: it is a text"),
	}
	fourth := `{"line":4,"merchantId":355,"reference":"R-4","status":"changed","state":"in-processing"}`
	array := "[\n" + strings.Join(items, ",\n ") + "]"
	s.Send(s.merchant, "POST", "/v2/orders/answers", array, "Content-Type", "application/json; charset=utf-8").Want(t, "array", 200,
		`{"results":[`+strings.Join(append(append(changed("changed"), fourth), rest...), ",")+`],"summary":{"changed":4,"invalid":11,"not_found":2,"refused":3,"unchanged":1}}`)

	// A body of any other type has lines.
	for _, header := range [][]string{nil, {"Content-Type", "text/csv"}, {"Content-Type", "application/jsonl"}} {
		s.Send(s.merchant, "POST", "/v2/orders/answers", items[0], header...).Want(t, "lines", 200,
			`{"line":1,"merchantId":355,"reference":"R-1","status":"unchanged","state":"in-processing"}`+"\n"+changeSummary(0, 1, 0, 0, 0, 1))
	}

	s.Send(s.merchant, "POST", "/v2/orders/answers", `{"id":"R-1","answer":"accept"}`).WantText(t, 200, "id: unknown key; known are orderReference, answer, reason, ifMatch")

	// Again, as lines: what was done is unchanged, except that the tag is an old one now.
	body := strings.Join(items, "\n") + "\n\n{\"orderReference\":\"" + strings.Repeat("x", 1<<20) + "\n" + `{"orderReference":"R-6","answer":"accept"}` + "\n" + `{"orderRef`
	last := []string{
		invalid(23, "the line is longer than 64 KiB"),
		`{"line":24,"merchantId":355,"reference":"R-6","status":"changed","state":"in-processing"}`,
		invalid(25, "not a JSON object: it ends too early"),
	}
	s.answers(body, nil, append(append(append(changed("unchanged"), noTag(4, "R-4", "in-processing")), append(rest, last...)...), changeSummary(1, 4, 4, 2, 13, 25))...)

	// One event and one audit entry for each change, with the token.
	events := s.Send(s.merchant, "GET", "/v2/orders/R-2/events", "").Body
	if strings.Count(events, `"order.state_changed"`) != 1 || !strings.Contains(events, `"reason":"out-of-stock"`) || !strings.Contains(events, `"tokenId":1`) {
		t.Errorf("events %s", events)
	}
	s.Send(s.operator, "GET", "/operator/audit?orderReference=R-2&action=order.state_changed", "").
		WantText(t, 200, `"actor":"merchant","tokenId":1,`)
	testenv.Equal(t, "R-5", order.Registered, s.state("R-5"))
}

// TestAnswerKeys repeats answers with their key.
// Proves decision 2 (their keys), decision 9 (many answers).
func TestAnswerKeys(t *testing.T) {
	t.Parallel()
	s := start(t)
	key := []string{"Idempotency-Key", "k"}
	tag, _ := json.Marshal(s.Send(s.merchant, "GET", "/v2/orders/R-1", "").Header.Get("ETag"))
	first := `{"orderReference":"R-1","answer":"accept","ifMatch":` + string(tag) + `}`
	second := `{"orderReference":"R-2","answer":"reject"}`
	const changed = `"status":"changed","state":`
	s.answers(first+"\n"+second+"\n"+first, key, `{"line":1,"merchantId":355,"reference":"R-1",`+changed+`"in-processing"}`,
		`{"line":2,"merchantId":355,"reference":"R-2",`+changed+`"rejected-by-merchant"}`, noTag(3, "R-1", "in-processing"), changeSummary(2, 0, 1, 0, 0, 3))
	s.Send(s.operator, "POST", "/operator/orders/transitions", `{"merchantId":355,"reference":"R-1","state":"canceled"}`).WantStatus(t, 200)
	// An array has the same keys as lines.
	replayed := `{"line":1,"merchantId":355,"reference":"R-1",` + changed + `"in-processing","replayed":true}`
	s.Send(s.merchant, "POST", "/v2/orders/answers?results=all", "["+first+","+first+"]", append(key, "Content-Type", "application/json")...).Want(t, "again", 200,
		`{"results":[`+replayed+`,{"line":2,"merchantId":355,"reference":"R-1","status":"invalid","problem":"The Idempotency-Key was used for another body, with another line here."}],`+
			`"summary":{"changed":1,"invalid":1,"not_found":0,"refused":0,"unchanged":0}}`)
	// The keys of single requests are others.
	if a := s.Send(s.merchant, "PATCH", "/v2/orders/R-3/accept", "", key...); a.Status != 200 || a.Replayed() {
		t.Errorf("another request with the key: %d %s", a.Status, a.Body)
	}
}

// TestAnswersRefused sends requests that are no answers: they change nothing.
// Proves decision 2 (imports, bulk changes and answers), decision 9 (many answers).
func TestAnswersRefused(t *testing.T) {
	t.Parallel()
	s := start(t)
	const accept = `{"orderReference":"R-1","answer":"accept"}`
	const noArray = `The body must be an array of at most 100 answers and 64 KiB. Send more as application/x-ndjson.`
	lines, json := []string{"Content-Type", "application/x-ndjson"}, []string{"Content-Type", "application/json"}
	array := func(n int) string { return "[" + strings.Repeat(accept+",", n-1) + accept + "]" }
	for _, test := range []struct {
		query, body   string
		header        []string
		status        int
		code, message string
	}{
		{"", array(101), json, 400, "invalid_payload", noArray},
		{"", "[" + accept + strings.Repeat(" ", 64<<10) + "]", json, 400, "invalid_payload", noArray},
		{"", accept, json, 400, "invalid_payload", noArray},
		{"", "[" + accept, json, 400, "invalid_payload", noArray},
		{"", array(1) + "x", json, 400, "invalid_payload", noArray},
		{"", "", json, 400, "invalid_payload", noArray},
		{"", accept, append(lines, "Content-Encoding", "br"), 415, "unsupported_encoding", "The body must be plain or compressed with gzip."},
		{"", accept, append(lines, "If-Match", `"101-1"`), 400, "invalid_params", "If-Match must be given by line, as ifMatch"},
		{"", accept, append(lines, "Idempotency-Key", ""), 400, "invalid_params", ""},
		{"?results=some", array(1), json, 400, "invalid_params", "results must be all or problems"},
	} {
		got := s.Send(s.merchant, "POST", "/v2/orders/answers"+test.query, test.body, test.header...)
		if test.message == "" {
			got.WantText(t, test.status, test.code)
		} else {
			got.Want(t, test.body, test.status, coded(test.code, test.message))
		}
	}
	for body, detail := range map[string]string{
		"[" + accept: "The JSON is cut", "[" + accept + ",]": "at its byte 44: remove the comma", array(1) + "x": "Something follows",
	} {
		got := s.Send(s.merchant, "POST", "/v2/orders/answers", body, json...)
		if !strings.Contains(got.Header.Get("Error-Detail"), detail) {
			t.Errorf("%s: %q", body, got.Header.Get("Error-Detail"))
		}
	}
	s.Send(s.merchant, "POST", "/v2/orders/answers", `{"orderReference":"R-1","answer":"accept",}`, lines...).
		WantText(t, 200, "not a JSON object: syntax error at byte 42: remove the comma")
	s.Send(s.NewToken(355, order.ScopeOrdersRead), "POST", "/v2/orders/answers", accept, lines...).Want(t, "without the scope", 403, v2Forbidden)
	testenv.Of(s.Merchants.Suspend(t.Context(), order.Command(), 355, "", order.Options[order.Merchant]{})).Must(t)
	s.Send(s.merchant, "POST", "/v2/orders/answers", accept, lines...).WantText(t, 403, "merchant_suspended")
	testenv.Of(s.Merchants.Resume(t.Context(), order.Command(), 355, order.Options[order.Merchant]{})).Must(t)
	if got := s.state("R-1"); got != order.Registered {
		t.Fatalf("R-1 is %s", got)
	}
	s.Send(s.merchant, "POST", "/v2/orders/answers?results=problems&other=1", array(100), json...).Want(t, "100", 200,
		`{"results":[],"summary":{"changed":1,"invalid":0,"not_found":0,"refused":0,"unchanged":99}}`)
	s.Send(s.merchant, "POST", "/v2/orders/answers", "[]", json...).Want(t, "none", 200,
		`{"results":[],"summary":{"changed":0,"invalid":0,"not_found":0,"refused":0,"unchanged":0}}`)
}

// TestAnswersEndWithTheToken revokes a token after the first result: no later line takes
// effect.
// Proves decision 9 (many answers).
func TestAnswersEndWithTheToken(t *testing.T) {
	t.Parallel()
	s := start(t)
	body, send := io.Pipe()
	t.Cleanup(func() { _ = send.Close() })
	go func() { _, _ = io.WriteString(send, `{"orderReference":"R-1","answer":"accept"}`+"\n") }()
	r := testenv.Of(http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v2/orders/answers", body)).Must(t)
	r.Header.Set("Authorization", "Bearer "+s.merchant)
	r.Header.Set("Content-Type", "application/x-ndjson")
	response, err := http.DefaultClient.Do(r)
	testenv.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	lines := bufio.NewScanner(response.Body)
	if !lines.Scan() || !strings.Contains(lines.Text(), `"status":"changed"`) {
		t.Fatal(lines.Text(), lines.Err())
	}
	testenv.Of(s.Tokens.RevokeAll(t.Context(), order.Command(), 355, order.Options[[]int64]{})).Must(t)
	_, _ = io.WriteString(send, `{"orderReference":"R-2","answer":"accept"}`+"\n")
	lines.Scan()
	const want = `"complete":false,"lastLine":1,"problem":"The token is not valid any more. Send the lines after lastLine again."}`
	if !strings.HasSuffix(lines.Text(), want) {
		t.Fatal(lines.Text(), lines.Err())
	}
	if got := s.state("R-2"); got != order.Registered {
		t.Fatalf("R-2 is %s", got)
	}
}
