package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/api/apitest"
	"merchantorders/internal/order"
	"merchantorders/internal/order/ordertest"
	"merchantorders/internal/testenv"
)

const success2 = `{"success":true}`

func v2NotFound(id string) string {
	return `{"error":{"code":"10301","message":"The order with id ` + id + ` was not found"}}`
}

// largeOrder returns an order, with a number, of which two fit into the orders of a page.
func largeOrder(number int64) order.Order {
	o := registered(apitest.MerchantID, 900+number, fmt.Sprintf("L-%d", number))
	o.LineItems = slices.Repeat(o.LineItems, 200)
	for i := range o.LineItems {
		o.LineItems[i].ID, o.LineItems[i].ProductName = int64(i+1), strings.Repeat("x", 8000)
	}
	return o
}

// TestEventsWithLargeOrders reads the events of orders that do not fit on one page together.
func TestEventsWithLargeOrders(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.MustImport(apitest.Incoming(largeOrder(1)))
	for i := range 2 {
		s.expect("PATCH", "/v2/orders/L-1", fmt.Sprintf(`{"merchantReference":"%d"}`, i), 200, success2)
	}
	for _, feed := range []struct{ token, path, after string }{
		{s.merchant, "/v2/events?limit=1000&include=order", "&after="},
		{s.operator, "/operator/events?limit=1000&include=order", "&cursor="},
	} {
		var large []int // events of the order on each page that has some
		for next, more := "", true; more; {
			var page struct {
				Events []struct{ OrderReference string }
				Next   any
				More   bool
			}
			s.Send(feed.token, "GET", feed.path+next, "").Decode(t, &page)
			n := 0
			for _, e := range page.Events {
				if e.OrderReference == "L-1" {
					n++
				}
			}
			if n > 0 {
				large = append(large, n)
			}
			next = fmt.Sprintf("%s%v", feed.after, page.Next)
			more = page.More || feed.token == s.merchant && len(page.Events) > 0
		}
		testenv.Equal(t, feed.path, []int{2, 1}, large)
	}
}

// TestUnansweredLargeOrders reads unanswered orders that do not fit on one page together.
func TestUnansweredLargeOrders(t *testing.T) {
	t.Parallel()
	s := start(t)
	for number := range int64(5) {
		s.MustImport(apitest.Incoming(largeOrder(1 + number)))
	}
	var large []string // orders on each page that has some
	for cursor, more := "", true; more; {
		var page struct {
			Orders []struct {
				ID        string
				LineItems []struct{}
			}
			Next string
		}
		s.Send(s.merchant, "GET", "/v2/orders/unanswered?limit=100"+cursor, "").Decode(t, &page)
		got := ""
		for _, o := range page.Orders {
			if len(o.LineItems) == 200 {
				got += o.ID
			}
		}
		if got != "" {
			large = append(large, got)
		}
		cursor, more = "&cursor="+page.Next, page.Next != ""
	}
	testenv.Equal(t, "pages", []string{"L-1L-2", "L-3L-4", "L-5"}, large)
}

// TestMerchantData changes the merchant's own number and note: only the merchant sees them.
// Proves decision 9 (the merchant's number and note).
func TestMerchantData(t *testing.T) {
	t.Parallel()
	s := start(t)
	const path = "/v2/orders/R-1"
	refused := func(message string) string {
		return `{"error":{"code":"invalid_params","message":"` + message + `"}}`
	}
	long := strings.Repeat("Ω", 1000)
	for body, want := range map[string]string{
		``:                             `{"error":{"code":"invalid_payload","message":"Invalid payload."}}`,
		`{}`:                           refused("merchantReference is required, or merchantNote"),
		`{"merchantreference":"A"}`:    refused("merchantreference is not a known key"),
		`{"merchantReference":7}`:      refused("merchantReference must be text"),
		`{"merchantReference":"a\nb"}`: refused("merchantReference must be on one line, without control characters"),
		`{"merchantReference":"` + strings.Repeat("Ω", 65) + `"}`:     refused("merchantReference must be text of at most 64 characters"),
		`{"merchantReference":"A","merchantNote":"a\u0000"}`:          refused("merchantNote must be text without control characters"),
		`{"merchantReference":"A","merchantNote":"` + long + `Ω"}`:    refused("merchantNote must be text of at most 1000 characters"),
		`{"merchantReference":"A","merchantNote":"x","state":"done"}`: refused("state is not a known key"),
	} {
		s.expect("PATCH", path, body, 400, want)
	}
	s.expect("PATCH", "/v2/orders/SF-9", `{"merchantNote":"x"}`, 404, v2NotFound("SF-9"))
	s.Send(s.other, "PATCH", path, `{"merchantNote":"x"}`).Want(t, "another merchant", 404, v2NotFound("R-1"))
	before := s.Send(s.merchant, "GET", path, "")
	tag := before.Header.Get("ETag")
	done := s.Send(s.merchant, "PATCH", path, `{"merchantReference":"Own-Number","merchantNote":"`+long+`"}`, "If-Match", tag)
	done.Want(t, "both", 200, success2)
	s.Send(s.merchant, "PATCH", path, `{"merchantNote":""}`, "If-Match", tag).WantStatus(t, http.StatusPreconditionFailed)
	s.expect("PATCH", path, `{"merchantReference":"Own-Number"}`, 200, success2) // no change
	after := s.Send(s.merchant, "GET", path, "")
	want := strings.TrimSuffix(before.Body, "}}") + `,"merchantReference":"Own-Number","merchantNote":"` + long + `"}}`
	if after.Body != want || strings.Contains(before.Body, `"merchantReference`) || after.Header.Get("ETag") != done.Header.Get("ETag") {
		t.Errorf("%s %s, want %s", after.Header.Get("ETag"), after.Body, want)
	}
	s.expect("PATCH", path, `{"merchantReference":null,"merchantNote":""}`, 200, success2)
	s.expect("GET", path, "", 200, before.Body)
	s.expect("PATCH", path, `{"merchantReference":"Own-Number"}`, 200, success2)
	for _, other := range []testenv.Response{
		s.Send(s.merchant, "GET", "/api/orders/101", ""),
		s.Send(s.operator, "GET", "/operator/orders/R-1", ""),
		s.Send(s.operator, "GET", "/operator/orders?reference=R-1", ""),
		s.Send(s.operator, "GET", "/operator/events?include=order", ""),
		s.Send(s.operator, "GET", "/operator/orders/export", ""),
	} {
		other.WantStatus(t, 200)
		testenv.Lacks(t, "order of another token", other.Body, "Own-Number", `"merchantReference":`)
	}
	s.Send(s.operator, "GET", "/operator/orders?q=own-number", "").Want(t, "search", 200, `{"orders":[],"next":null,"total":0}`)
	events := s.Send(s.merchant, "GET", path+"/events", "")
	got := strings.Count(events.Body, `"data":{"fields":["merchantReference","merchantNote"]}`)
	if strings.Count(events.Body, `"order.updated"`) != 3 || got != 2 || strings.Contains(events.Body, "Own-Number") {
		t.Errorf("events %s", events.Body)
	}
}

// TestByMerchantReference finds orders by the merchant's own number, exactly as it was stored.
// Proves decision 9 (the merchant's number and note).
func TestByMerchantReference(t *testing.T) {
	t.Parallel()
	s := start(t)
	path := func(number string) string {
		return "/v2/orders/by-merchant-reference/" + strings.ReplaceAll(url.PathEscape(number), ".", "%2E")
	}
	var list struct{ Orders []json.RawMessage }
	s.Send(s.merchant, "GET", "/v2/orders", "").Decode(t, &list)
	item := ""
	for _, o := range list.Orders {
		if strings.HasPrefix(string(o), `{"id":"R-1",`) {
			item = string(o)
		}
	}
	const none = `{"orders":[]}`
	tags := map[string]string{} // bodies by tag
	read := func(number, want string) {
		t.Helper()
		got := s.Send(s.merchant, "GET", path(number), "")
		got.Want(t, number, 200, want)
		tag := got.Header.Get("ETag")
		if body, known := tags[number+tag]; tag == "" || known && body != want {
			t.Errorf("%s has the tag %q, as has %s", want, tag, body)
		}
		tags[number+tag] = want
		s.Send(s.merchant, "GET", path(number), "", "If-None-Match", tag).WantStatus(t, http.StatusNotModified)
	}
	for _, number := range []string{"2026/08 15", "Α-17 ΆΩ", "a+b&c%2F?#=", "Case", "events", "invoices", ".", "..", "...", "a//b/", strings.Repeat("Ω", 64)} {
		read(number, none)
		s.expect("PATCH", "/v2/orders/R-1", fmt.Sprintf(`{"merchantReference":%q}`, number), 200, success2)
		read(number, `{"orders":[`+item+`]}`)
		read(strings.ToLower(number)+"x", none)
	}
	read("\xff", none)
	read(strings.Repeat("Ω", 65), none)
	s.expect("PATCH", "/v2/orders/R-1", `{"merchantReference":"Case"}`, 200, success2)
	read("case", none)
	s.Send(s.other, "GET", path("Case"), "").Want(t, "another merchant", 200, none)
	s.Send(s.NewToken(apitest.MerchantID, order.ScopeInvoicesWrite), "GET", path("Case"), "").WantStatus(t, http.StatusForbidden)
	s.Send(s.merchant, "PUT", path("events"), "").WantStatus(t, http.StatusMethodNotAllowed)
	s.Send(s.merchant, "GET", path("a")+"/b", "").WantStatus(t, http.StatusNotFound)
	for n := range order.MaxByMerchantReference + 1 {
		s.MustImport(apitest.Incoming(registered(apitest.MerchantID, int64(5000+n), fmt.Sprintf("N-%d", n))))
		s.expect("PATCH", fmt.Sprintf("/v2/orders/N-%d", n), `{"merchantReference":"many"}`, 200, success2)
	}
	var many struct{ Orders []struct{ ID string } }
	s.Send(s.merchant, "GET", path("many"), "").Decode(t, &many)
	if len(many.Orders) != 100 || many.Orders[0].ID != "N-100" || many.Orders[99].ID != "N-1" {
		t.Errorf("orders with the same number: %v", many)
	}
}

// TestWithoutInvoice lists the orders that have no invoice file and want one.
func TestWithoutInvoice(t *testing.T) {
	t.Parallel()
	s := start(t)
	for n := range int64(6) { // newest first
		o := registered(apitest.MerchantID, 600+n, fmt.Sprintf("I-%d", n))
		o.InvoiceDetails, o.CreatedAt = ordertest.Rich().InvoiceDetails, o.CreatedAt.Add(time.Duration(-n)*time.Hour)
		s.MustImport(apitest.Incoming(o))
	}
	read := func(token string) (all string) {
		t.Helper()
		for cursor, more := "", true; more; {
			var page struct {
				Orders []json.RawMessage
				Next   *string
			}
			s.Send(token, "GET", "/v2/orders/without-invoice?limit=2"+cursor, "").Decode(t, &page)
			for _, o := range page.Orders {
				all += string(o)[len(`{"id":"`):][:3] + " "
				testenv.Contains(t, "an order in the list", string(o), `,"hasInvoice":true,`)
			}
			if all, more = all+"/ ", page.Next != nil; more {
				cursor = "&cursor=" + *page.Next
			}
		}
		return all
	}
	before := read(s.merchant)
	if !strings.HasPrefix(before, "I-5 I-4 / I-3 I-2 / I-1 I-0 / ") {
		t.Errorf("orders %s", before)
	}
	testenv.Equal(t, "of the other merchant", "/ ", read(s.other))
	upload := `{"filename":"a.pdf","contentBase64":"eA=="}`
	s.expect("PATCH", "/v2/orders/I-4/reject", `{"status":"D"}`, 200, success2)
	s.Send(s.merchant, "POST", "/v2/orders/I-2/invoices", upload).WantStatus(t, 200)
	testenv.Equal(t, "when two are done", strings.Replace(before, "I-5 I-4 / I-3 I-2 / I-1 I-0 / ", "I-5 I-3 / I-1 I-0 / ", 1), read(s.merchant))
	for query, problem := range map[string]string{"limit=101": "limit must be a whole number from 1 to 100", "cursor=AA": "cursor is not valid; start again from the first page"} {
		s.expect("GET", "/v2/orders/without-invoice?"+query, "", 400, coded("invalid_params", problem))
	}
	s.Send(s.NewToken(apitest.MerchantID, order.ScopeInvoicesWrite), "GET", "/v2/orders/without-invoice", "").WantStatus(t, http.StatusForbidden)
}

// TestUnanswered lists the orders to answer: one past its deadline, one before it and those
// without one, until they are answered.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	s := start(t)
	for reference, expiresAt := range map[string]string{"D-LATE": "2026-11-20T09:59:59Z", "D-SOON": "2026-11-20T12:00:00Z"} {
		s.Send(s.operator, "POST", "/operator/orders", `{"merchantId":355,"reference":"`+reference+`","createdAt":"2026-11-19T08:00:00Z","expiresAt":"`+expiresAt+`",
			"total":300,"customer":{"firstName":"A","lastName":"B","email":"a@example.com"},"shippingAddress":{"city":"Athens","countryCode":"GR"},
			"lineItems":[{"id":1,"productName":"Τσάι","unitPrice":100,"quantity":3}]}`).WantStatus(t, http.StatusCreated)
	}
	read := func(token, query string) string {
		t.Helper()
		got, cursor := "", ""
		for {
			var page struct {
				Orders []struct {
					ID          string
					ExpiresAt   *string
					SecondsLeft *int64
					LineItems   []struct {
						ProductName string
						Quantity    int
					}
				}
				Next *string
			}
			s.Send(token, "GET", "/v2/orders/unanswered?limit=5"+query+cursor, "").Decode(t, &page)
			for _, o := range page.Orders {
				got += o.ID
				if o.SecondsLeft != nil {
					got += fmt.Sprintf(" %s %d %v", *o.ExpiresAt, *o.SecondsLeft, o.LineItems)
				}
				got += "\n"
			}
			if page.Next == nil {
				return got
			}
			cursor = "&cursor=" + *page.Next
		}
	}
	const late, soon, without = "D-LATE 2026-11-20 09:59:59 0 [{Τσάι 3}]\n", "D-SOON 2026-11-20 12:00:00 7200 [{Τσάι 3}]\n", "m\nR-1\nR-2\nR-3\nR-4\nR-5\nR-6\nR-7\nR-8\nR-9\n"
	testenv.Equal(t, "all", late+soon+without, read(s.merchant, ""))
	testenv.Equal(t, "of the other merchant", "X-1\n", read(s.other, ""))
	testenv.Equal(t, "before a deadline", late, read(s.merchant, "&expiresBefore=2026-11-20T12:00:00Z"))
	testenv.Equal(t, "without seconds", late, read(s.merchant, "&expiresBefore=2026-11-20T12:00Z"))
	testenv.Equal(t, "with a zone", late+soon, read(s.merchant, "&expiresBefore=2026-11-20T14:00:01%2B02:00"))
	testenv.Equal(t, "with a short zone", late+soon, read(s.merchant, "&expiresBefore=2026-11-20T14:00:01+02"))
	for _, reference := range []string{"D-LATE", "R-2"} {
		s.expect("PATCH", "/v2/orders/"+reference+"/accept", "", 200, success2)
	}
	testenv.Equal(t, "when two are answered", soon+strings.Replace(without, "R-2\n", "", 1), read(s.merchant, ""))
	for query, problem := range map[string]string{
		"expiresBefore=2026-11-20": "expiresBefore must be a time such as 2026-11-20T08:15:30Z", "limit=101": "limit must be a whole number from 1 to 100",
		"expiresBefore=2026-11-20T08:15:30Z&expiresBefore=2026-11-20T08:15:30Z": "expiresBefore is given twice", "cursor=AA": "cursor is not valid; start again from the first page",
	} {
		s.expect("GET", "/v2/orders/unanswered?"+query, "", 400, coded("invalid_params", problem))
	}
	s.Send(s.NewToken(apitest.MerchantID, order.ScopeInvoicesWrite), "GET", "/v2/orders/unanswered", "").WantStatus(t, http.StatusForbidden)
}
