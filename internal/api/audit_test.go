package api_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/openapi/openapitest"
)

// auditEntryOf is an entry of a response.
type auditEntryOf struct {
	MerchantID, TokenID                *int64
	RequestID, Address, OrderReference *string
	Seq                                int64
	Action, Actor, Detail              string
}

func (e auditEntryOf) String() string {
	merchant, reference := int64(0), ""
	if e.MerchantID != nil {
		merchant = *e.MerchantID
	}
	if e.OrderReference != nil {
		reference = *e.OrderReference
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s %s %s %s", merchant, e.Action, e.Actor, reference, e.Detail))
}

// audit reads all pages of the audit log.
func (s *service) audit(query string) []auditEntryOf {
	s.T.Helper()
	var all []auditEntryOf
	for cursor := ""; ; {
		got := s.Send(s.operator, "GET", "/operator/audit?"+query+cursor, "")
		var page struct {
			Entries []auditEntryOf
			Next    *string
		}
		got.Decode(s.T, &page)
		all = append(all, page.Entries...)
		if page.Next == nil {
			return all
		}
		cursor = "&cursor=" + url.QueryEscape(*page.Next)
	}
}

// TestAudit changes orders in every way and reads the audit log.
func TestAudit(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.expect("PATCH", "/v2/orders/R-1/accept", "", 200, `{"success":true}`)
	s.Send(s.merchant, "POST", "/v2/orders/R-1/invoices", apptest.UploadBody("secret-name.pdf", []byte("content"))).WantStatus(t, http.StatusOK)
	s.At(90_000 * time.Second) // the next day
	s.Send(s.operator, "POST", "/operator/merchants/355/orders/R-1/state", `{"state":"ready-for-shipment"}`, "X-Request-Id", "request-7")
	s.Send(s.operator, "POST", "/operator/merchants/355/orders/R-1/state", `{"state":"completed"}`) // refused: no entry

	ofOrder := s.audit("orderReference=R-1&limit=2")
	want := []string{
		"355 order.state_changed operator R-1 from=in-processing to=ready-for-shipment", "355 invoice.uploaded merchant R-1",
		"355 order.state_changed merchant R-1 from=registered to=in-processing", "355 order.created operator R-1 to=registered",
	}
	var got []string
	for _, e := range ofOrder {
		got = append(got, e.String())
	}
	if !slices.Equal(got, want) {
		t.Fatalf("entries %q, want %q", got, want)
	}
	newest, accepted := ofOrder[0], ofOrder[2]
	if *newest.RequestID != "request-7" || *newest.Address != "127.0.0.1" || newest.TokenID == nil || accepted.TokenID == nil {
		t.Errorf("source of %+v", newest)
	}
	all := s.audit("")
	for query, want := range map[string]int{
		"limit=3":            len(all),
		"orderReference=Y-1": 0,
		"from=2026-11-21":    1, "to=2026-11-20&action=order.state_changed": 1, "merchantId=355&from=2026-11-21&to=2026-11-21": 1,
		fmt.Sprintf("tokenId=%d&merchantId=355", *newest.TokenID): 1, "merchantId=400&orderReference=R-1": 0, "merchantId=999": 0,
		"merchantId=400&action=order.created": 1, "from=2026-11-22": 0, "action=order.created&orderReference=R-1": 1,
	} {
		testenv.Equal(t, query+": entries", want, len(s.audit(query)))
	}
	s.asOperator("GET", "/audit?from=2026-11-21&to=2026-11-20", "", 400, coded("invalid_params", "from is after to"))
	s.Send(s.operator, "GET", "/operator/audit?limit=0", "", "Accept", "application/x-ndjson").WantText(t, 400, `"message":"limit must be`)
	lines := s.Send(s.operator, "GET", "/operator/audit?limit=1", "", "Accept", "text/html, Application/X-NDJSON;q=0.9")
	if n := strings.Count(lines.Body, "\n") + 1; lines.Status != http.StatusOK || n != len(all) || strings.Contains(lines.Body, "secret") {
		t.Errorf("%d lines, want %d: %s", n, len(all), lines.Body)
	}
	none := s.Send(s.operator, "GET", "/operator/audit?merchantId=999", "", "Accept", "application/x-ndjson")
	if none.Status != http.StatusOK || none.Body != "" || none.Header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("no entries: %d %q", none.Status, none.Body)
	}
}

// unrecorded are the changing operations of which the audit log has no entry, and why.
var unrecorded = map[string]string{
	"POST /operator/customers/export":                                      "it only reads",
	"POST /operator/merchants/{merchantId}/webhooks/{webhookId}/redeliver": "the delivery log has it",
	"POST /operator/merchants/{merchantId}/webhooks/{webhookId}/test":      "the delivery log has it",
	"POST /v2/webhooks/{webhookId}/redeliver":                              "the delivery log has it",
	"POST /v2/webhooks/{webhookId}/test":                                   "the delivery log has it",
}

// TestEveryChangeIsRecorded sends each operation that changes something: the audit log
// has an entry of the request.
func TestEveryChangeIsRecorded(t *testing.T) {
	t.Parallel()
	missing := make(map[string]string)
	for _, o := range openapitest.Published().Operations("") {
		if o.Method != http.MethodGet {
			missing[o.Method+" "+o.Path] = "no entry"
		}
	}
	send := func(s *service, e openapitest.Example) {
		got := testenv.Send(t, s.tokenFor(t, e), e.Method, s.URL+e.Path, string(e.Body), "Content-Type", e.Header.Get("Content-Type"))
		for entry, err := range s.Audit.Entries(t.Context(), order.AuditQuery{}) {
			testenv.NoError(t, err)
			if entry.By.RequestID == got.Header.Get("X-Request-Id") {
				delete(missing, e.Method+" "+e.Route)
			}
		}
	}
	examples := testenv.Of(openapitest.Published().Examples()).Must(t)
	for _, e := range examples {
		if missing[e.Method+" "+e.Route] != "" && e.Status < 300 {
			send(startExamples(t, apptest.Setup{}), e)
		}
	}
	// Lines, and the end of a suspension, have no example that changes something.
	s := startExamples(t, apptest.Setup{})
	for _, e := range []openapitest.Example{
		{Route: "/operator/orders/import", Body: []byte(line("N-1", 7001, ""))},
		{Route: "/operator/orders/transitions", Body: []byte(`{"merchantId":355,"reference":"N-1","state":"in-processing"}`)},
		{Route: "/operator/merchants/{merchantId}/suspend", Body: []byte(`{"reason":"A"}`)},
		{Route: "/operator/merchants/{merchantId}/resume"},
	} {
		e.Document, e.Method, e.Path = "operator", http.MethodPost, strings.ReplaceAll(e.Route, "{merchantId}", "355")
		send(s, e)
	}
	testenv.Equal(t, "operations without an entry", slices.Sorted(maps.Keys(unrecorded)), slices.Sorted(maps.Keys(missing)))
}
