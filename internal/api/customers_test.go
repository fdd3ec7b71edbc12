package api_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/app/apptest"
	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// personal are texts that no place may hold after an erasure.
var personal = []string{"Zoe-Secret", "zoe@secret.example", "6911122233", "Hidden-Street", "ring twice", "VAT-77", "TRACK-9", "engraved", "credit-note", "No-88-Zoe", "400009988776655", "https://docs.example/zoe", "Own-Number", "Own-Note"}

// personalOrder is the document of an order with personal data in every place.
func personalOrder(reference, email string) string {
	return fmt.Sprintf(`{"merchantId":355,"reference":%q,"createdAt":"2026-11-20T08:15:30Z","total":1390,"notes":"ring twice",
		"customer":{"userId":7,"email":%q,"phone":"6911122233","firstName":"Zoe-Secret","lastName":"Zoe-Secret","company":"Zoe-Secret"},
		"shippingAddress":{"firstName":"Zoe-Secret","street":"Hidden-Street","city":"Athens","country":"Greece","countryCode":"GR","phone":"6911122233"},
		"carrier":{"name":"ACS","trackingCodes":"TRACK-9","comments":"ring twice","shipmentIds":[5]},
		"invoiceDetails":{"vatNumber":"VAT-77","company":"Zoe-Secret"},
		"lineItems":[{"id":1,"productName":"Cable","unitPrice":1390,"quantity":1,"extendedAttributes":["engraved"]}]}`, reference, email)
}

// personalTexts returns the texts of personal that a service stores anywhere: in a column of a
// table, or in a file or its name.
func (s *service) personalTexts() []string {
	s.T.Helper()
	folder := filepath.Dir(s.Folder)
	all := []byte(databaseTexts(s.T, filepath.Join(folder, "orders.db")))
	testenv.NoError(s.T, filepath.WalkDir(s.Folder, func(path string, entry os.DirEntry, err error) error {
		all = append(all, path...)
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		all = append(all, content...)
		return err
	}))
	var found []string
	for _, text := range personal {
		if bytes.Contains(bytes.ToLower(all), []byte(strings.ToLower(text))) {
			found = append(found, text)
		}
	}
	return found
}

// databaseTexts returns all values of all tables, also those in recorded responses.
func databaseTexts(t testing.TB, path string) string {
	t.Helper()
	db := testenv.Of(sql.Open("sqlite", "file:"+path+"?mode=ro")).Must(t)
	defer func() { _ = db.Close() }()
	var all strings.Builder
	each := func(text string, scan func(values []any)) {
		rows, err := db.QueryContext(t.Context(), text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		defer func() { _ = rows.Close() }()
		columns := testenv.Of(rows.Columns()).Must(t)
		for rows.Next() {
			values, dest := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				dest[i] = &values[i]
			}
			testenv.NoError(t, rows.Scan(dest...))
			scan(values)
		}
		testenv.NoError(t, rows.Err())
	}
	var tables []string
	each(`SELECT name FROM sqlite_master WHERE type = 'table'`, func(values []any) { tables = append(tables, values[0].(string)) })
	for _, table := range tables {
		each(`SELECT * FROM "`+table+`"`, func(values []any) {
			for _, value := range values {
				text := fmt.Sprintf("%s\n", value)
				all.WriteString(text)
				var record struct{ Body []byte }
				if json.Unmarshal([]byte(text), &record) == nil {
					all.Write(record.Body)
				}
			}
		})
	}
	return all.String()
}

// deliverAbout adds a webhook of the merchant and one of the marketplace that have answered
// to the first event of an order.
func (s *service) deliverAbout(reference, response string) {
	s.T.Helper()
	ctx := s.T.Context()
	events := testenv.Of(s.Orders.OrderEvents(ctx, apitest.MerchantID, order.ByReference(reference), order.FeedQuery{Limit: 1})).Must(s.T)
	for of, eventMerchant := range map[int64]int64{apitest.MerchantID: 0, delivery.Marketplace: apitest.MerchantID} {
		added, err := s.Webhooks.Add(ctx, order.Command(), of, webhook.Change{URL: new("https://hooks.example.com")}, nil, order.Options[webhook.Endpoint]{})
		testenv.NoError(s.T, err)
		lease := testenv.Of(s.DB.BorrowEndpoint(ctx, added.Key, apptest.StartOfTime, apptest.StartOfTime.Add(time.Minute))).Must(s.T)
		err = s.DB.SaveProgress(ctx, lease, delivery.Progress{Cursor: lease.Cursor, Attempt: &delivery.Attempt{
			At: apptest.StartOfTime, Event: events[0].Seq, EventMerchant: eventMerchant, Type: "order.created", Result: delivery.Result{Status: 200, Response: response},
		}})
		testenv.NoError(s.T, err)
	}
}

// TestErase erases a customer and one order, and looks for the personal data in all
// files of the service.
// Proves decision 5 (events: corrected, erased, deleted orders).
func TestErase(t *testing.T) {
	t.Parallel()
	s := start(t)
	for i, email := range []string{"zoe@secret.example", "ZOE@Secret.example", "other@example.com"} {
		s.Send(s.operator, "POST", "/operator/orders", personalOrder(fmt.Sprintf("P-%d", i), email)).WantStatus(t, http.StatusCreated)
	}
	upload := s.withKey("k1", "POST", "/v2/orders/P-0/invoices", `{"kind":"credit-note","number":"No-88-Zoe","mark":"400009988776655","link":"https://docs.example/zoe",`+
		apptest.UploadBody("Zoe-Secret.pdf", []byte("Hidden-Street"))[1:])
	move := func() testenv.Response {
		return s.operatorWithKey("k2", "POST", "/merchants/355/orders/P-0/state", `{"state":"canceled","reason":"customer-request"}`)
	}
	moved := move()
	s.deliverAbout("P-0", "thank you, Hidden-Street")
	s.withKey("k3", "PATCH", "/v2/orders/P-0", `{"merchantReference":"Own-Number","merchantNote":"Own-Note"}`).WantStatus(t, http.StatusOK)
	if upload.Status != http.StatusOK || moved.Status != http.StatusOK || len(s.personalTexts()) < len(personal) {
		t.Fatalf("%d %d, stored %q", upload.Status, moved.Status, s.personalTexts())
	}
	exported := s.Send(s.operator, "POST", "/operator/customers/export", `{"email":"Zoe@secret.example"}`)
	testenv.Equal(t, "lines of the export", 1, strings.Count(exported.Body, "\n"))
	for _, text := range personal {
		if own := strings.HasPrefix(text, "Own-"); strings.Contains(exported.Body, text) == own {
			t.Errorf("the export lacks %s, or has what is the merchant's own", text)
		}
	}
	erase := func(body, want string) {
		t.Helper()
		s.asOperator("POST", "/customers/erase", body, 200, want)
	}
	before := s.Send(s.merchant, "GET", "/v2/orders/P-0", "").Header.Get("ETag")
	erase(`{"email":"zoe@SECRET.example","files":true}`, `{"success":true,"orders":2,"files":1,"more":false}`)
	erase(`{"email":"zoe@secret.example","files":true}`, `{"success":true,"orders":0,"files":0,"more":false}`)
	erase(`{"merchantId":355,"orderReference":"P-2"}`, `{"success":true,"orders":1,"files":0,"more":false}`)
	erase(`{"merchantId":355,"orderReference":"P-2"}`, `{"success":true,"orders":0,"files":0,"more":false}`)
	testenv.Equal(t, "still stored texts", nil, s.personalTexts())

	// A repetition with the key erases nothing, nor does another request with it.
	const once = `{"email":"once@example.com"}`
	first := s.operatorWithKey("k4", "POST", "/customers/erase", once)
	s.Send(s.operator, "POST", "/operator/orders", personalOrder("P-3", "once@example.com")).WantStatus(t, http.StatusCreated)
	s.operatorWithKey("k4", "POST", "/customers/erase", once).Want(t, "again", first.Status, first.Body)
	s.operatorWithKey("k4", "POST", "/customers/erase", `{"merchantId":355,"orderReference":"P-3"}`).WantStatus(t, http.StatusUnprocessableEntity)
	erase(once, `{"success":true,"orders":1,"files":0,"more":false}`)
	if again := move(); again.Status != http.StatusConflict || again.Header.Get("Idempotent-Replayed") != "" {
		t.Errorf("the operator's idempotency record is still there: %d %s", again.Status, again.Body)
	}

	after := s.Send(s.merchant, "GET", "/v2/orders/P-0", "")
	if !strings.Contains(after.Body, `"state":"canceled"`) || after.Header.Get("ETag") == before ||
		!strings.Contains(after.Body, "Cable") || !strings.Contains(after.Body, "1390") || !strings.Contains(after.Body, `"GR"`) {
		t.Errorf("erased order: %s", after.Body)
	}
	var actions []string
	for _, e := range s.audit("orderReference=P-0") {
		actions = append(actions, e.Action)
	}
	want := []string{"customer.erased", "order.updated", "invoice.deleted", "order.updated", "order.state_changed", "invoice.uploaded", "order.created"}
	testenv.Equal(t, "audit log", want, actions)
	if got := s.audit("merchantId=0&action=customer.exported"); len(got) != 1 || got[0].Detail != "orders=2" {
		t.Errorf("audit log of the export %v", got)
	}
	const erased = "The personal data of the order is erased and cannot be set again."
	for _, body := range []string{
		`{"customer":{"phone":"69"}}`, `{"shippingAddress":{"city":"Πάτρα"}}`, `{"carrier":{"name":"x","trackingCodes":"7"}}`,
		`{"carrier":{"shipmentIds":[7]}}`, `{"carrier":{"comments":"bell: Zoe"}}`,
	} {
		s.asOperator("PATCH", "/merchants/355/orders/P-0", body, 409, coded("erased", erased))
	}
	lines := s.Send(s.operator, "POST", "/operator/orders/transitions", `{"merchantId":355,"reference":"P-0","customer":{"phone":"69"}}`, "Content-Type", "application/x-ndjson")
	lines.WantText(t, http.StatusOK, `"status":"refused","state":"canceled","problem":"`+erased)
	testenv.Equal(t, "corrected", after.Body, s.Send(s.merchant, "GET", "/v2/orders/P-0", "").Body)
	s.asOperator("PATCH", "/merchants/355/orders/P-0", `{"dispatchUntil":"2026-12-01T08:00:00Z","customer":{"phone":null},"shippingAddress":{"city":""},"carrier":{"name":"x"}}`,
		200, `{"success":true,"state":"canceled","corrected":["dispatchUntil","carrier.name"]}`)
	s.Send(s.operator, "POST", "/operator/orders", personalOrder("P-0", "zoe@secret.example")).WantStatus(t, http.StatusConflict)
	s.asOperator("POST", "/customers/erase", `{"email":"a@example.com","merchantId":355,"orderReference":"P-0"}`, 400,
		coded("invalid_params", "email must not be given together with an order"))
	s.asOperator("POST", "/customers/erase", `{"merchantId":400,"orderReference":"P-0"}`, 404, coded("not_found", "The order was not found."))
}

// TestRetention deletes an old order with its file: clients learn it from the feed.
// Proves decision 5 (events: corrected, erased, deleted orders), decision 9
// (include=order).
func TestRetention(t *testing.T) {
	t.Parallel()
	s := start(t)
	open := strings.Replace(personalOrder("P-2", "zoe@secret.example"), "2026-11-20T", "2015-11-20T", 1)
	old := strings.NewReplacer("P-2", "P-0", `"total"`, `"state":"completed","total"`).Replace(open)
	for _, text := range []string{old, open, personalOrder("P-1", "a@example.com")} {
		s.Send(s.operator, "POST", "/operator/orders", text).WantStatus(t, http.StatusCreated)
	}
	s.Send(s.merchant, "POST", "/v2/orders/P-0/invoices", apptest.UploadBody("a.pdf", []byte("content"))).WantStatus(t, http.StatusOK)
	for _, want := range []int{1, 0} {
		testenv.Of(s.Retention.DeleteOldOrders(t.Context(), apptest.StartOfTime.AddDate(-10, 0, 0))).Want(t, "orders deleted", want)
	}
	s.expect("GET", "/v2/orders/P-0", "", 404, v2NotFound("P-0"))
	for _, stays := range []string{"P-1", "P-2"} {
		s.Send(s.merchant, "GET", "/v2/orders/"+stays, "").WantStatus(t, http.StatusOK)
	}
	testenv.Equal(t, "stored files", 0, len(testenv.Of(filepath.Glob(filepath.Join(s.Folder, "invoices", "P-0", "*"))).Must(t)))
	feed := s.Send(s.merchant, "GET", "/v2/events?limit=1000&include=order", "")
	if feed.Status != http.StatusOK || strings.Count(feed.Body, `"orderReference":"P-0"`) != 4 || strings.Count(feed.Body, `"order":null`) != 4 ||
		strings.Count(feed.Body, `"order":{"id":"P-1"`) != 1 || !strings.Contains(feed.Body, `"type":"order.deleted","orderReference":"P-0"`) {
		t.Errorf("feed: %d %s", feed.Status, feed.Body)
	}
	s.Send(s.operator, "POST", "/operator/orders", old).WantText(t, http.StatusOK, `"result":"deleted"`)
}

// TestRetentionNotice begins periods: a shorter one is announced for a day, unless it is
// confirmed, and another one meanwhile begins the day again.
func TestRetentionNotice(t *testing.T) {
	t.Parallel()
	s := start(t)
	const day = 24 * time.Hour
	begin := func(period time.Duration, confirmed bool, want time.Duration) {
		t.Helper()
		begins := testenv.Of(s.Retention.BeginRetention(t.Context(), period, confirmed)).Must(t)
		testenv.Equal(t, "begins in", want, begins.Sub(s.Now()))
	}
	begin(3650*day, false, day)
	s.Pass(day - time.Hour)
	begin(3650*day, false, time.Hour)
	s.Pass(time.Hour)
	begin(3650*day, false, 0)
	begin(365*day, false, day)
	s.Pass(time.Hour)
	begin(36*day, false, day) // a typo
	begin(3651*day, false, 0) // put back
	begin(365*day, false, day)
	begin(365*day, true, 0)
	begin(365*day, false, 0)
}

// TestDoubtfulClock asks whether jobs wait whose work nobody can undo: for a day after a stop of more than
// 30 days, or while the clock is as far ahead, and again if it jumps once more.
func TestDoubtfulClock(t *testing.T) {
	t.Parallel()
	s := start(t)
	const day, years = 24 * time.Hour, 10 * 365 * 24 * time.Hour
	wait := func(when string, passed, want time.Duration) {
		t.Helper()
		s.Pass(passed)
		period := testenv.Of(s.Retention.CheckClock(t.Context())).Must(t)
		got := max(0, period.WaitUntil.Sub(s.Now()))
		testenv.Equal(t, when, want, got)
	}
	s.Send(s.operator, "POST", "/operator/orders", personalOrder("P-1", "a@example.com")).WantStatus(t, http.StatusCreated)
	wait("two days after the newest event", 2*day, 0)
	wait("31 days later", 31*day, day)
	wait("an hour later", time.Hour, day-time.Hour)
	wait("a day later", day-time.Hour, 0)
	wait("another day later", day, 0)
	wait("ten years ahead", years, day)
	wait("after another jump", years, day)
	wait("corrected", -2*years, 0)
	wait("a run later", time.Hour, 0)
	wait("after a stop", 40*day, day)
	wait("stopped again", 30*day, day)
	wait("started within a day of the end", 36*time.Hour, 0)
	wait("after a stop of 20 days", 20*day, 0)
	testenv.Of(s.Retention.BeginRetention(t.Context(), years, true)).Must(t)
	wait("another period", 30*day+time.Hour, day)
}
