package api_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// bulk sends lines of the operator and compares the lines of the response.
func (s *service) bulk(path, body string, header []string, want ...string) {
	s.T.Helper()
	s.Send(s.operator, "POST", "/operator"+path, body, header...).Want(s.T, path, 200, strings.Join(want, "\n"))
}

func importSummary(created, unchanged, conflicting, invalid, last int) string {
	return fmt.Sprintf(`{"summary":{"conflicting":%d,"created":%d,"deleted":0,"invalid":%d,"unchanged":%d},"complete":true,"lastLine":%d,"problem":null}`,
		conflicting, created, invalid, unchanged, last)
}

// line is document on one line.
func line(reference string, number int, extra string) string {
	return strings.ReplaceAll(strings.ReplaceAll(document(reference, number, extra), "\n", ""), "\t", "") + "\n"
}

// Proves decision 2 (imports, bulk changes and answers), decision 7 (the same rules
// everywhere; results while the body arrives).
func TestBulkImport(t *testing.T) {
	t.Parallel()
	s := start(t)
	body := line("B-1", 7001, "") + "\n" + line("B-2", 7002, `,"totl":5`) + line("R-1", 7003, "") + line("B-1", 7001, "") +
		`{"merchantId":355,"refer` // the body ends in the middle of a line
	results := func(first string) []string {
		return []string{
			`{"line":1,"reference":"B-1","status":"` + first + `","orderId":7001}`,
			`{"line":3,"status":"invalid","problem":"totl: unknown key; the nearest one is total"}`,
			`{"line":4,"reference":"R-1","status":"conflicting","problem":"reference: R-1 is taken by an order with other content"}`,
			`{"line":5,"reference":"B-1","status":"unchanged","orderId":7001}`,
			`{"line":6,"status":"invalid","problem":"not a JSON object: it ends too early"}`,
		}
	}
	s.bulk("/orders/import", body, nil, append(results("created"), importSummary(1, 1, 1, 2, 6))...)
	s.bulk("/orders/import", body, nil, append(results("unchanged"), importSummary(0, 2, 1, 2, 6))...)
	problems := results("")
	s.bulk("/orders/import?results=problems", body, nil, problems[1], problems[2], problems[4], importSummary(0, 2, 1, 2, 6))
	s.bulk("/orders/import", "", nil, importSummary(0, 0, 0, 0, 0))

	many := s.Send(s.operator, "POST", "/operator/orders/import?results=problems", strings.Repeat(line("B-1", 7001, ""), 1200))
	progress := regexp.MustCompile(`^{"progress":{"lastLine":1[012][0-9]{2}}}\n` + regexp.QuoteMeta(importSummary(0, 1200, 0, 0, 1200)) + `$`)
	if !progress.MatchString(many.Body) {
		t.Errorf("1,200 lines without a problem: %s", many.Body)
	}

	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	_, _ = io.WriteString(w, line("B-3", 7004, ""))
	testenv.NoError(t, w.Close())
	s.bulk("/orders/import", compressed.String(), []string{"Content-Encoding", "gzip"},
		`{"line":1,"reference":"B-3","status":"created","orderId":7004}`, importSummary(1, 0, 0, 0, 1))
	s.bulk("/orders/import", compressed.String(), []string{"Content-Encoding", "x-gzip"},
		`{"line":1,"reference":"B-3","status":"unchanged","orderId":7004}`, importSummary(0, 1, 0, 0, 1))
	for body, problem := range map[string]string{
		compressed.String()[:compressed.Len()-9]: `The body did not arrive completely, or is damaged.`,
		"not gzip, but as long as its header":    `The body is not compressed with gzip, as its Content-Encoding says: correct either.`,
	} {
		s.Send(s.operator, "POST", "/operator/orders/import", body, "Content-Encoding", "gzip").
			WantText(t, 200, `"complete":false`, problem+` Send the lines after lastLine again.`)
	}
	other := s.Send(s.operator, "POST", "/operator/orders/import", "x", "Content-Encoding", "br")
	other.Want(s.T, "br", 415, coded("unsupported_encoding", "The body must be plain or compressed with gzip."))
	s.asOperator("POST", "/orders/import?results=some", "", 400, coded("invalid_params", "results must be all or problems"))
	s.asOperator("POST", "/orders/import?limit=1", "", 400, coded("invalid_params", "limit is not a known parameter"))
}

// TestDeletedOrdersAgain sends an order that was deleted because of its age: that is no
// error, and it is not stored again.
func TestDeletedOrdersAgain(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.bulk("/orders/import", line("D-1", 7001, `,"state":"completed"`), nil, `{"line":1,"reference":"D-1","status":"created","orderId":7001}`, importSummary(1, 0, 0, 0, 1))
	testenv.Of(s.Retention.DeleteOldOrders(t.Context(), s.Now().AddDate(10, 0, 0))).Must(t)
	s.bulk("/orders/import", line("D-1", 7001, `,"notes":"other"`)+line("D-1", 7002, ""), nil,
		`{"line":1,"reference":"D-1","status":"deleted","orderId":7001}`,
		`{"line":2,"reference":"D-1","status":"conflicting","problem":"orderId: the order D-1 has the number 7001"}`,
		`{"summary":{"conflicting":1,"created":0,"deleted":1,"invalid":0,"unchanged":0},"complete":true,"lastLine":2,"problem":null}`)
	s.asOperator("POST", "/orders", document("D-1", 7001, ""), 200, `{"result":"deleted","merchantId":355,"orderId":7001,"orderReference":"D-1"}`)
	s.Send(s.merchant, "GET", "/v2/orders/D-1", "").WantStatus(t, 404)
}

func changeSummary(changed, unchanged, refused, notFound, invalid, last int) string {
	return fmt.Sprintf(`{"summary":{"changed":%d,"invalid":%d,"not_found":%d,"refused":%d,"unchanged":%d},"complete":true,"lastLine":%d,"problem":null}`,
		changed, invalid, notFound, refused, unchanged, last)
}

// notCompleted is the result of a line that completes R-2, which is registered.
func notCompleted(line int) string {
	return fmt.Sprintf(`{"line":%d,"merchantId":355,"reference":"R-2","status":"refused","state":"registered","problem":"An order in the state registered cannot `+
		`move to completed: it can move to in-processing, rejected-by-merchant, canceled.","allowed":["in-processing","rejected-by-merchant","canceled"]}`, line)
}

// Proves decision 2 (imports, bulk changes and answers).
func TestBulkTransitions(t *testing.T) {
	t.Parallel()
	s := start(t)
	body := strings.Join([]string{
		`{"merchantId":355,"reference":"R-1","state":"in-processing"}`,
		`{"merchantId":355,"reference":"R-1","state":"ready-for-shipment","shippingAddress":{"city":"Πάτρα"},"carrier":{"trackingCodes":"T-1"}}`,
		`{"merchantId":355,"reference":"R-2","state":"completed"}`,
		`{"merchantId":355,"reference":"R-3","state":"canceled","reason":"customer-request"}`,
		`{"merchantId":355,"reference":"R-4","customer":{"phone":"210 2"}}`,
		`{"merchantId":355,"reference":"X-1","state":"canceled"}`,
		`{"merchantId":999,"reference":"R-1","state":"canceled"}`,
		`{"merchantId":355,"reference":"R-5","state":"rejected-by-merchant","reason":"late"}`,
		`{"merchantId":355,"reference":"R-5","state":"lost"}`,
		`{"merchantId":355,"reference":"R-5"}`,
		`{"merchantId":"355","reference":"R-5","state":"canceled"}`,
		`{"merchantId":355,"reference":"R 5","state":"canceled"}`,
		`{"merchantId":355,"reference":"R-5","state":"canceled","note":"x"}`,
		`{"merchantId":355,"reference":"R-5","carrier":{"name":5}}`,
		`{"merchantId":355,"reference":"R-6","state":"canceled","ifMatch":"\"106-99\""}`,
		`{"merchantId":355,"reference":"R-6","state":"canceled","ifMatch":5}`,
		`{"merchantId":355,"reference":"R-5","sta`,
	}, "\n")
	refused := notCompleted(3)
	problems := []string{
		`{"line":6,"merchantId":355,"reference":"X-1","status":"not_found","problem":"The merchant 355 has no such order."}`,
		`{"line":7,"merchantId":999,"reference":"R-1","status":"not_found","problem":"The merchant 999 has no such order."}`,
		`{"line":8,"merchantId":355,"reference":"R-5","status":"invalid","problem":"reason must be lower-case words and numbers joined by hyphens, ` +
			`of at most 64 bytes; for rejected-by-merchant one of out-of-stock, damaged, wrong-price, disabled-product, wrong-product"}`,
		`{"line":9,"status":"invalid","problem":"state must be one of ` + order.StateNames() + `"}`,
		`{"line":10,"status":"invalid","problem":"there is nothing to change: give state, or a field to correct"}`,
		`{"line":11,"status":"invalid","problem":"merchantId must be a whole number from 1"}`,
		`{"line":12,"status":"invalid","problem":"reference must be the reference of an order"}`,
		`{"line":13,"status":"invalid","problem":"note is not a known key; known are merchantId, reference, ifMatch, state, reason, expiresAt, dispatchUntil, customer, shippingAddress, carrier"}`,
		`{"line":14,"status":"invalid","problem":"carrier.name: must be text"}`,
		noTag(15, "R-6", "registered"),
		`{"line":16,"status":"invalid","problem":"ifMatch must be * or a list of entity tags, each in double quotes"}`,
		`{"line":17,"status":"invalid","problem":"the line is not a JSON object with the members of a change"}`,
	}
	done := []string{
		`{"line":1,"merchantId":355,"reference":"R-1","status":"changed","state":"in-processing"}`,
		`{"line":2,"merchantId":355,"reference":"R-1","status":"changed","state":"ready-for-shipment","corrected":["shippingAddress.city","carrier.trackingCodes"]}`,
		refused,
		`{"line":4,"merchantId":355,"reference":"R-3","status":"changed","state":"canceled"}`,
		`{"line":5,"merchantId":355,"reference":"R-4","status":"changed","state":"registered","corrected":["customer.phone"]}`,
	}
	s.bulk("/orders/transitions", body, nil, append(append(done, problems...), changeSummary(4, 0, 2, 2, 9, 17))...)
	again := []string{
		`{"line":1,"merchantId":355,"reference":"R-1","status":"refused","state":"ready-for-shipment","problem":"An order in the state ready-for-shipment ` +
			`cannot move to in-processing: it can move to picked-by-courier, canceled.","allowed":["picked-by-courier","canceled"]}`,
		refused,
	}
	s.bulk("/orders/transitions?results=problems", body, nil, append(append(again, problems...), changeSummary(0, 3, 3, 2, 9, 17))...)
	testenv.Equal(t, "R-1", order.ReadyForShipment, s.state("R-1"))
	testenv.Equal(t, "events of R-1", 4, strings.Count(s.Send(s.merchant, "GET", "/v2/orders/R-1/events", "").Body, `"type":`))
}

// TestBulkKeys repeats lines with their Idempotency-Key: each takes effect once, although
// it would take effect again.
// Proves decision 2 (their keys).
func TestBulkKeys(t *testing.T) {
	t.Parallel()
	s := start(t)
	tracking := func(code string) string {
		return `{"merchantId":355,"reference":"R-1","carrier":{"trackingCodes":"` + code + `"}}`
	}
	send := func(key, body string, want ...string) {
		t.Helper()
		s.bulk("/orders/transitions", body, []string{"Idempotency-Key", key}, want...)
	}
	body := strings.Join([]string{
		`{"merchantId":355,"reference":"R-1","state":"in-processing"}`,
		tracking("A"),
		tracking("B"),
		tracking("B"),
		`{"merchantId":355,"reference":"N-1","state":"canceled"}`,
		`{"merchantId":355,"reference":"R-2","state":"completed"}`,
		`{"merchantId":355}`,
	}, "\n")
	effective := []string{
		`{"line":1,"merchantId":355,"reference":"R-1","status":"changed","state":"in-processing"}`,
		`{"line":2,"merchantId":355,"reference":"R-1","status":"changed","state":"in-processing","corrected":["carrier.trackingCodes"]}`,
		`{"line":3,"merchantId":355,"reference":"R-1","status":"changed","state":"in-processing","corrected":["carrier.trackingCodes"]}`,
		`{"line":4,"merchantId":355,"reference":"R-1","status":"unchanged","state":"in-processing"}`,
	}
	const (
		missing = `{"line":5,"merchantId":355,"reference":"N-1","status":"not_found","problem":"The merchant 355 has no such order."}`
		invalid = `{"line":7,"status":"invalid","problem":"reference must be the reference of an order"}`
	)
	send("k", body, append(slices.Clone(effective), missing, notCompleted(6), invalid, changeSummary(3, 1, 1, 1, 1, 7))...)
	s.bulk("/orders/transitions?results=problems", `{"merchantId":355,"reference":"R-1","state":"ready-for-shipment"}`+"\n"+tracking("C"), nil,
		changeSummary(2, 0, 0, 0, 0, 2))

	// What succeeded is not made again, and has its first result. What was refused is.
	s.Send(s.operator, "POST", "/operator/orders", document("N-1", 7200, "")).WantStatus(t, 201)
	for i := range effective {
		effective[i] = strings.TrimSuffix(effective[i], "}") + `,"replayed":true}`
	}
	const found = `{"line":5,"merchantId":355,"reference":"N-1","status":"changed","state":"canceled"}`
	send("k", body, append(slices.Clone(effective), found, notCompleted(6), invalid, changeSummary(4, 1, 1, 0, 1, 7))...)
	testenv.Contains(t, "the order after an old correction", s.Send(s.merchant, "GET", "/v2/orders/R-1", "").Body, `"trackingCodes":"C"`)

	// Another body with the key, and another key.
	send("k", tracking("D")+"\n"+tracking("A"),
		`{"line":1,"merchantId":355,"reference":"R-1","status":"invalid","problem":"The Idempotency-Key was used for another body, with another line here."}`,
		effective[1], changeSummary(1, 0, 0, 0, 1, 2))
	send("k 2", tracking("D"),
		`{"line":1,"merchantId":355,"reference":"R-1","status":"changed","state":"ready-for-shipment","corrected":["carrier.trackingCodes"]}`,
		changeSummary(1, 0, 0, 0, 0, 1))
	s.operatorWithKey(strings.Repeat("k", 256), "POST", "/orders/transitions", tracking("E")).WantText(t, 400, "Idempotency-Key")
	// A key of another request of operators is another key.
	if a := s.operatorWithKey("k", "POST", "/merchants", `{"id":12,"name":"Νέο"}`); a.Status != 200 || a.Replayed() {
		t.Errorf("another request with the key: %d %s", a.Status, a.Body)
	}
}

// TestBulkContinue checks that a client that waits for "100 Continue" before it sends
// the body gets that, and not the header of the response.
// Proves decision 7 (results while the body arrives).
func TestBulkContinue(t *testing.T) {
	t.Parallel()
	s := start(t)
	continued := false
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() { continued = true }})
	r := testenv.Of(http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/operator/orders/import", strings.NewReader(line("C-1", 7100, "")))).Must(t)
	r.Header.Set("Authorization", "Bearer "+s.operator)
	r.Header.Set("Expect", "100-continue")
	transport := &http.Transport{ExpectContinueTimeout: time.Minute}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(r)
	testenv.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	if body, err := io.ReadAll(response.Body); err != nil || !continued || !strings.Contains(string(body), `"created"`) {
		t.Errorf("continued %v, body %s, error %v", continued, body, err)
	}
}

// TestJunk sends lines that cost more than they are worth: the request ends and says why.
func TestJunk(t *testing.T) {
	t.Parallel()
	s := start(t)
	answer := `{"orderReference":"R-9","answer":"accept"}` + "\n"
	for name, row := range map[string]struct{ body, problem string }{
		"invalid lines":       {strings.Repeat("x\n", 5000), "1,000 lines in a row are invalid."},
		"blank lines":         {answer + strings.Repeat(" \n", 30_000), "more than 10,000 blank lines in a row"},
		"some invalid lines":  {strings.Repeat(strings.Repeat("x\n", 400)+answer, 5), ""},
		"some blank lines":    {strings.Repeat(strings.Repeat("\n", 5000)+answer, 5), ""},
		"orders that are not": {strings.Repeat(answer, 3000), ""},
	} {
		got := s.Send(s.merchant, "POST", "/v2/orders/answers?results=problems", row.body, "Content-Type", "application/x-ndjson")
		lines := strings.Split(strings.TrimSpace(got.Body), "\n")
		last := lines[len(lines)-1]
		if got.Status != 200 || strings.Contains(last, `"complete":true`) != (row.problem == "") || !strings.Contains(last, row.problem) || row.problem != "" && len(lines) > 2000 {
			t.Errorf("%s: %d, %d lines, the last one %s", name, got.Status, len(lines), last)
		}
	}
	var compressed bytes.Buffer
	w := gzip.NewWriter(&compressed)
	_, _ = io.WriteString(w, strings.Repeat("\n", 9000)+answer+strings.Repeat(strings.Repeat(" ", 60_000)+"\n", 200))
	testenv.NoError(t, w.Close())
	s.Send(s.merchant, "POST", "/v2/orders/answers", compressed.String(), "Content-Type", "application/x-ndjson", "Content-Encoding", "gzip").
		WantText(t, 200, "expands to more than 200 times", `"complete":false`)
}
