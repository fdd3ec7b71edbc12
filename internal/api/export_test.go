package api_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/app"
	"merchantorders/internal/app/apptest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// export sends a request for an export, and returns the lines of the response without
// the summary, the summary, and with what the cursors of the lines begin.
func (s *service) export(token, path string) (lines []string, summary, cursor string) {
	s.T.Helper()
	got := s.Send(token, "GET", path, "")
	if got.Status != 200 || got.Header.Get("Content-Type") != "application/x-ndjson" {
		s.T.Fatalf("%s: %d %s: %.1000s", path, got.Status, got.Header.Get("Content-Type"), got.Body)
	}
	lines = strings.Split(got.Body, "\n")
	last := len(lines) - 1
	return lines[:last], lines[last], got.Header.Get("Export-Cursor")
}

// manyOrders is more than two pages of an export.
const manyOrders = 410

// fillMany adds manyOrders orders of the merchant, ten in each second.
func (s *service) fillMany() {
	batch := make([]order.Incoming, manyOrders)
	for i := range batch {
		o := registered(apitest.MerchantID, int64(2000-i), fmt.Sprintf("E-%d", i))
		o.CreatedAt = time.Date(2026, 11, 21, 8, 0, i/10, 0, time.UTC)
		batch[i] = apitest.Incoming(o)
	}
	s.MustImport(batch...)
}

// position is the end of a summary of a merchant's export.
func (s *service) position() string {
	s.T.Helper()
	feed := testenv.Of(s.Orders.Events(s.T.Context(), apitest.MerchantID, order.FeedQuery{Latest: true})).Must(s.T)
	return fmt.Sprintf(`"complete":true,"after":%d,"history":%q}`, feed.Next, feed.History)
}

// Proves decision 9 (whole orders).
func TestExport(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.fillMany()
	testenv.NoError(t, upload(t.Context(), s.Orders, "R-2", "a.pdf"))
	end := s.position()
	lines, summary, cursor := s.export(s.merchant, "/v2/orders/export")
	const all = manyOrders + 11
	testenv.Equal(t, "summary", fmt.Sprintf(`{"summary":{"orders":%d},%s`, all, end), summary)
	ids := make([]string, len(lines))
	keys := make(map[string]bool)
	previous := ""
	for i, line := range lines {
		id, _, _ := strings.Cut(strings.TrimPrefix(line, `{"id":"`), `"`)
		o := testenv.Of(s.Orders.Get(t.Context(), apitest.MerchantID, order.ByReference(id))).Must(t)
		key := fmt.Sprintf("%d %d", o.CreatedAt.Unix(), 1_000_000+o.LegacyID)
		if key <= previous {
			t.Errorf("%s comes after an order with %s: %s", id, previous, key)
		}
		ids[i], keys[id], previous = id, true, key
		if i%40 == 0 || id == "R-2" || id == "SF-2026-000123" {
			s.Send(s.merchant, "GET", "/v2/orders/"+id, "").Want(t, id, 200, `{"order":`+line+`}`)
		}
	}
	testenv.Equal(t, "different orders", all, len(keys))

	// Changes, also of the last order that the client has, move no position.
	s.Send(s.merchant, "PATCH", "/v2/orders/R-3/accept", "").WantStatus(t, 200)
	for _, i := range []int{0, 199, 200, all - 2, all - 1} {
		rest, summary, again := s.export(s.merchant, "/v2/orders/export?cursor="+cursor+"."+ids[i])
		testenv.Equal(t, "resumed summary", fmt.Sprintf(`{"summary":{"orders":%d},%s`, all-1-i, end), summary)
		if testenv.Equal(t, "cursor", cursor, again); strings.Join(rest, "\n") != strings.Join(lines[i+1:], "\n") && i > 11 {
			t.Errorf("other lines after line %d", i)
		}
	}
	begun, _, _ := s.export(s.merchant, "/v2/orders/export?cursor="+cursor)
	testenv.Equal(t, "lines after no line", all, len(begun))

	for query, want := range map[string]int{
		"state=in-processing":                        1,
		"status=registered&date_from=2026-11-21":     manyOrders,
		"dateTo=2026-11-20":                          11,
		"dateFrom=2026-11-21&dateTo=2026-11-21":      manyOrders,
		"dateFrom=2026-11-22":                        0,
		"state=ready-for-shipment&dateTo=2026-11-20": 1,
	} {
		if lines, summary, _ := s.export(s.merchant, "/v2/orders/export?"+query); len(lines) != want || !strings.HasPrefix(summary, fmt.Sprintf(`{"summary":{"orders":%d},`, want)) {
			t.Errorf("%s: %d lines, want %d; %s", query, len(lines), want, summary)
		}
	}

	const other = "cursor is not valid; begin the export again"
	for _, query := range []string{
		"cursor=x", "cursor=" + cursor[1:], "cursor=" + cursor + ".X-1", "cursor=" + cursor + ".N-1", "cursor=" + cursor + ".%00",
		"cursor=" + cursor + "." + ids[0] + "&state=registered", "cursor=" + cursor + "0." + ids[0],
	} {
		s.expect("GET", "/v2/orders/export?"+query, "", 400, coded("invalid_params", other))
	}
	s.Send(s.other, "GET", "/v2/orders/export?cursor="+cursor, "").Want(t, "the cursor of another merchant", 400, coded("invalid_params", other))
	s.expect("GET", "/v2/orders/export?state=lost", "", 400, coded("invalid_params", "state must be one of "+order.StateNames()))
	if got := s.Send(s.merchant, "HEAD", "/v2/orders/export", ""); got.Status != 200 || got.Header.Get("Export-Cursor") == "" {
		t.Errorf("HEAD: %d %v", got.Status, got.Header)
	}
	zipped := testenv.NewRequest(t, s.merchant, "GET", s.URL+"/v2/orders/export?state=registered", http.NoBody)
	zipped.Header.Set("Accept-Encoding", "gzip")
	response := testenv.Do(t, http.DefaultTransport.RoundTrip, zipped)
	reader := testenv.Of(gzip.NewReader(strings.NewReader(response.Body))).Must(t)
	plain := testenv.Of(io.ReadAll(reader)).Must(t)
	testenv.Equal(t, "decompressed", s.Send(s.merchant, "GET", "/v2/orders/export?state=registered", "").Body+"\n", string(plain))
}

// TestExportDeleted resumes after an order that is deleted meanwhile.
// Proves decision 9 (whole orders).
func TestExportDeleted(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.fillMany()
	lines, _, cursor := s.export(s.merchant, "/v2/orders/export")
	for _, line := range lines[:11] {
		var o struct{ ID string }
		testenv.NoError(t, json.Unmarshal([]byte(line), &o))
		testenv.Of(s.Orders.ChangeOrder(t.Context(), order.Command(), apitest.MerchantID, order.ByReference(o.ID), order.Update{To: order.Canceled}, order.Options[order.WriteResult]{})).Must(t)
	}
	testenv.Of(s.Retention.DeleteOldOrders(t.Context(), time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC))).Must(t)
	rest, _, _ := s.export(s.merchant, "/v2/orders/export?cursor="+cursor+".R-9")
	testenv.Equal(t, "lines", manyOrders, len(rest))
	testenv.Equal(t, "the first line", lines[11], rest[0])
}

// hooked is a database that calls a function before it reads the second page of an
// export.
type hooked struct {
	app.Store
	before func(ctx context.Context) error
}

func (h hooked) ExportKeys(ctx context.Context, merchantID int64, query order.ExportQuery, after *order.Cursor, limit int) ([]order.ExportKey, error) {
	if after != nil {
		if err := h.before(ctx); err != nil {
			return nil, err
		}
	}
	return h.Store.ExportKeys(ctx, merchantID, query, after, limit)
}

// TestExportEndsEarly ends exports in the middle: the summary says so, and after the rest
// the export is whole.
// Proves decision 9 (whole orders).
func TestExportEndsEarly(t *testing.T) {
	t.Parallel()
	var before func(ctx context.Context) error
	s := startWith(t, apptest.Setup{Store: func(store app.Store) app.Store {
		return hooked{store, func(ctx context.Context) error { return before(ctx) }}
	}})
	s.fillMany()
	before = func(context.Context) error { return nil }
	whole, _, _ := s.export(s.merchant, "/v2/orders/export")
	const again = " Resume with the cursor of the last order."
	for _, test := range []struct {
		problem string
		before  func(ctx context.Context) error
	}{
		{"The service cannot read orders for now." + again, func(context.Context) error { return order.ErrUnavailable }},
		{"The service failed." + again, func(context.Context) error { return io.ErrUnexpectedEOF }},
		{"The merchant is suspended." + again, func(ctx context.Context) error {
			_, err := s.Merchants.Suspend(ctx, order.Command(), apitest.MerchantID, "x", order.Options[order.Merchant]{})
			return err
		}},
		{"The token is not valid any more." + again, func(ctx context.Context) error {
			_, err := s.Tokens.RevokeAll(ctx, order.Command(), apitest.MerchantID, order.Options[[]int64]{})
			return err
		}},
		{"The service is stopping." + again, func(ctx context.Context) error {
			go s.Stop()
			<-ctx.Done()
			return ctx.Err()
		}},
	} {
		before = test.before
		lines, summary, cursor := s.export(s.merchant, "/v2/orders/export")
		if len(lines) != 200 || strings.Join(lines, "\n") != strings.Join(whole[:200], "\n") ||
			!strings.HasPrefix(summary, `{"summary":{"orders":200},"complete":false,"after":`) || !strings.HasSuffix(summary, `,"problem":"`+test.problem+`"}`) {
			t.Errorf("%s: %d lines, %s", test.problem, len(lines), summary)
		}
		before = func(context.Context) error { return nil }
		switch {
		case strings.HasPrefix(test.problem, "The merchant"):
			testenv.Of(s.Merchants.Resume(t.Context(), order.Command(), apitest.MerchantID, order.Options[order.Merchant]{})).Must(t)
		case strings.HasPrefix(test.problem, "The token"):
			s.merchant = s.NewToken(apitest.MerchantID, order.DefaultScopes)
		case !strings.HasPrefix(test.problem, "The service is stopping"):
			rest, _, _ := s.export(s.merchant, "/v2/orders/export?cursor="+cursor+".E-181")
			testenv.Equal(t, "rest", len(whole)-200, len(rest))
		}
	}
}

// TestExportRoundTrip exports the orders of all merchants and imports them into an empty
// service: it exports the same.
// Proves decision 9 (orders to answer).
func TestExportRoundTrip(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.fillMany()
	s.asOperator("PATCH", "/merchants/355/orders/R-1", `{"carrier":{"trackingCodes":"T-1"}}`, 200, `{"success":true,"state":"registered","corrected":["carrier.trackingCodes"]}`)
	testenv.Of(s.Retention.Erase(t.Context(), order.Command(), order.EraseTarget{MerchantID: 355, Reference: "R-4"}, order.Options[order.Erasure]{})).Must(t)
	lines, summary, cursor := s.export(s.operator, "/operator/orders/export")
	var feed struct{ Next, History string }
	s.Send(s.operator, "GET", "/operator/events?cursor=latest", "").Decode(t, &feed)
	testenv.Equal(t, "summary", fmt.Sprintf(`{"summary":{"orders":%d},"complete":true,"after":%q,"history":%q}`, manyOrders+12, feed.Next, feed.History), summary)
	_, one, _ := s.export(s.operator, "/operator/orders/export?merchantId=400&state=registered")
	testenv.Equal(t, "summary of one", fmt.Sprintf(`{"summary":{"orders":1},"complete":true,"after":%q,"history":%q}`, feed.Next, feed.History), one)
	s.asOperator("PATCH", "/merchants/355/orders/R-1", `{"carrier":{"trackingCodes":"T-2"}}`, 200, `{"success":true,"state":"registered","corrected":["carrier.trackingCodes"]}`)
	rest, resumed, _ := s.export(s.operator, "/operator/orders/export?cursor="+cursor+".E-401")
	testenv.Equal(t, "summary of the rest", fmt.Sprintf(`{"summary":{"orders":2},"complete":true,"after":%q,"history":%q}`, feed.Next, feed.History), resumed)
	testenv.Equal(t, "rest", lines[len(lines)-2:], rest)
	s.asOperator("GET", "/orders/export?cursor="+cursor+".N-1", "", 400, coded("invalid_params", "cursor is not valid; begin the export again"))
	var page struct{ Next string }
	s.Send(s.merchant, "GET", "/v2/orders/unanswered?limit=1", "").Decode(t, &page)
	s.Send(s.NewToken(otherMerchant, order.DefaultScopes), "GET", "/v2/orders/unanswered?cursor="+page.Next, "").
		Want(t, "cursor of another merchant", 400, coded("invalid_params", "cursor is not valid; start again from the first page"))
	s.asOperator("GET", "/orders/export?merchantId=999", "", 404, coded("not_found", "The merchant was not found."))
	s.asOperator("GET", "/orders/export?state=lost", "", 400, coded("invalid_params", "state must be one of "+order.StateNames()))
	s.asOperator("GET", "/orders/export?page=2", "", 400, coded("invalid_params", "page is not a known parameter"))

	empty := apptest.New(t, apptest.Setup{Fill: func(s *apptest.Service) {
		for _, id := range []int64{apitest.MerchantID, otherMerchant} {
			testenv.NoError(t, s.Merchants.Add(t.Context(), order.Command(), id, "Copy", order.Options[order.Merchant]{}))
		}
	}})
	body := s.Send(s.operator, "GET", "/operator/orders/export", "").Body
	operator := empty.NewOperatorToken(order.OperatorScopes)
	importSummaryOf := importSummary(manyOrders+12, 0, 0, 0, manyOrders+12)
	empty.Send(operator, "POST", "/operator/orders/import?results=problems", body).Want(t, "import", 200, importSummaryOf)
	documents := func(body string) string { return body[:strings.Index(body, `{"summary"`)] }
	testenv.Equal(t, "export of the import", documents(body), documents(empty.Send(operator, "GET", "/operator/orders/export", "").Body))
	empty.Send(operator, "POST", "/operator/orders/import", strings.Replace(summary, "true", "false", 1)).Want(t, "import", 200,
		`{"line":1,"status":"invalid","problem":"the export ended here and is not complete"}`+"\n"+importSummary(0, 0, 0, 1, 1))
}
