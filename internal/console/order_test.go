package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

const (
	orderPage  = "/console/orders/A-1"
	acceptPath = orderPage + "/accept"
	rejectPath = orderPage + "/reject"
)

// events returns the types of the events of an order.
func (s *service) events(reference string) []order.EventRecord {
	s.T.Helper()
	events := testenv.Of(s.Orders.OrderEvents(s.T.Context(), ours, order.ByReference(reference), order.FeedQuery{Limit: 100})).Must(s.T)
	return events
}

// TestOrder checks that the page of an order shows everything that there is.
func TestOrder(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(4, "A-1", func(document map[string]any) {
		document["notes"] = "Ring twice"
		document["discount"] = int64(100)
		document["total"] = document["total"].(int64) - 100
		document["dispatchUntil"] = "2026-11-25T10:00:00Z"
		details := document["invoiceDetails"].(map[string]any)
		details["article39"], details["article39Eligible"], details["article39Otp"] = "39a", true, "435366"
		item := document["lineItems"].([]any)[0].(map[string]any)
		item["extendedAttributes"], item["vatRate"] = []any{"ribbon"}, "6.5"
		document["shippingAmount"], document["shippingVatRate"] = int64(350), "24"
		carrier := document["carrier"].(map[string]any)
		carrier["trackingCodes"], carrier["comments"] = "TRACK-7", "Back door"
		carrier["deliveryToCourierEstimationDate"], carrier["deliveryToCustomerEstimationDate"] = "2026-11-26", "2026-11-28T09:00:00+02:00"
		document["shippingAddress"].(map[string]any)["phone"] = "2610000329"
	}))
	b := s.signedIn(s.token)
	o := testenv.Of(s.Orders.Get(t.Context(), ours, order.ByReference("A-1"))).Must(s.T)
	texts := []string{
		"A-1", "<dt>Number</dt><dd>900004", `<span class="dot dot-registered"></span>New`, "Ring twice", "TRACK-7", "Back door", `<code class="attributes">[&#34;ribbon&#34;]</code>`, "435366", "39a",
		o.Customer.FirstName, o.Customer.LastName, o.Customer.Email, *o.Customer.Phone, o.Shipping.Street + " " + o.Shipping.StreetNumber,
		o.Shipping.PostCode + " " + o.Shipping.City, o.InvoiceDetails.VATNumber, *o.InvoiceDetails.TaxOfficeName,
		"25&nbsp;Nov&nbsp;2026, 10:00&nbsp;UTC", "<bdi>26&nbsp;Nov&nbsp;2026</bdi>", "<bdi>28&nbsp;Nov&nbsp;2026, 07:00&nbsp;UTC</bdi>", `href="tel:2610000329"`, "1 d 16 h", "-", "Placed", "Received", "the marketplace",
		"<dt>Discount</dt><dd>-€1.00</dd>", "<span>VAT rate 6.5%</span>", "<dt>Of which shipping <span>VAT rate 24%</span></dt><dd>€3.50</dd>", "<dt>Shipping and other charges</dt><dd>€4.00</dd>", "<bdi>Card</bdi>", `href="tel:` + *o.Customer.Phone + `"`, `href="mailto:` + o.Customer.Email + `"`,
	}
	for _, item := range o.LineItems {
		texts = append(texts, item.ProductName, item.MerchantSKU, item.SKU, item.MerchantEAN, `href="`+item.ProductURL+`"`)
	}
	got := b.get(orderPage)
	got.Body = strings.ReplaceAll(got.Body, "\u00a0", "&nbsp;")
	got.WantText(t, http.StatusOK, texts...)
	b.get(orderPage+"/print").WantText(t, http.StatusOK, "<span>VAT rate 6.5%</span>")
	b.header.Set("Accept-Language", "el-GR,el;q=0.9,en;q=0.8")
	b.get(orderPage).WantText(t, http.StatusOK, `lang="el"`, "Άρθρο 39", "Αποδοχή", "\u00a0€")
}

func TestAccept(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "A-1"))
	b := s.signedIn(s.token)
	form := b.get(orderPage).form(t, acceptPath)
	for range 2 { // a double click
		testenv.Equal(t, "accept leads to", orderPage+"?done=accepted", b.post(acceptPath, form).location())
	}
	testenv.Equal(t, "events", 2, len(s.events("A-1")))
	got := b.get(orderPage + "?done=accepted")
	got.WantText(t, http.StatusOK, "The order is accepted.", "In processing", "you")
	testenv.Lacks(t, "page of an accepted order", got.Body, acceptPath, rejectPath)
	testenv.Lacks(t, "the page", b.get(orderPage+"?done=<b>").Body, "<b>")
}

func TestReject(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "A-1"))
	b := s.signedIn(s.token)
	form := b.get(orderPage).form(t, rejectPath)
	for _, reason := range []string{"", "boredom", "out-of-stock "} {
		form.Set("reason", reason)
		b.post(rejectPath, form).WantText(t, http.StatusBadRequest, "Choose one of the reasons.", `aria-describedby="reason-problem"`, " open")
	}
	form.Set("reason", "out-of-stock")
	testenv.Equal(t, "reject leads to", orderPage+"?done=rejected", b.post(rejectPath, form).location())
	events := s.events("A-1")
	if last := events[len(events)-1]; last.To != order.RejectedByMerchant || last.Reason != "out-of-stock" {
		t.Errorf("the last event is %+v", last)
	}
	b.get(orderPage).WantText(t, http.StatusOK, "Rejected", "Out of stock")
}

// TestMerchantData saves the store's own number and note on the page of an order, and finds
// the order by them.
func TestMerchantData(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "A-1"), newOrder(2, "A-2"))
	b, ownPath := s.signedIn(s.token), orderPage+"/own"
	form := b.get(orderPage).form(t, ownPath)
	form.Set("merchantReference", " W/4711 ")
	form.Set("merchantNote", "call\r\nfirst")
	for range 2 { // a double click
		testenv.Equal(t, "save leads to", orderPage+"?done=saved", b.post(ownPath, form).location())
	}
	b.get(orderPage+"?done=saved").WantText(t, http.StatusOK, "are saved", `value="W/4711"`, ">\ncall\nfirst</textarea>", "number or note changed")
	form.Set("key", strings.Repeat("A", 26))
	b.post(ownPath, form).WantText(t, http.StatusConflict, "Nothing was done")
	for _, text := range []string{"w/47", "first"} {
		got := b.get("/console/orders?q=" + url.QueryEscape(text))
		got.WantText(t, http.StatusOK, "1 order found", "A-1")
		testenv.Lacks(t, "a search for "+text, got.Body, "A-2")
	}
	reader := s.signedIn(s.NewToken(ours, order.ScopeOrdersRead))
	got := reader.get(orderPage)
	got.WantText(t, http.StatusOK, "W/4711", "call\nfirst")
	testenv.Lacks(t, "page without the scope", got.Body, ownPath)
	operator := s.operator(order.OperatorScopes)
	for path, hidden := range map[string]string{"/console/operator/orders/355/A-1": "W/4711", "/console/operator/orders?q=W%2F4711": ">A-1</a>"} {
		if got := operator.get(path); got.Status != http.StatusOK || strings.Contains(got.Body, hidden) {
			t.Errorf("operators see what is the store's own at %s: %d", path, got.Status)
		}
	}
}

// TestConflict checks that of two people who answer an order the second one is told
// what was first.
func TestConflict(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "A-1"), newOrder(2, "A-2"))
	first, second := s.signedIn(s.token), s.signedIn(s.token)
	form := second.get(orderPage).form(t, rejectPath)
	form.Set("reason", "damaged")
	first.post(acceptPath, first.get(orderPage).form(t, acceptPath))
	second.post(rejectPath, form).WantText(t, http.StatusConflict, "Nothing was done", "In processing", "you")

	form = second.get("/console/orders/A-2").form(t, "/console/orders/A-2/accept")
	caller := order.Caller{Actor: order.ActorMerchant, MerchantID: ours, TokenID: 77}
	testenv.Of(s.Orders.Reject(t.Context(), caller, order.ByReference("A-2"), "damaged", order.Options[order.WriteResult]{})).Must(t)
	second.post("/console/orders/A-2/accept", form).WantText(t, http.StatusConflict, "Rejected", "token 77", "Damaged")
}

// TestWrongForms sends what no page of the console sends.
func TestWrongForms(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "A-1"))
	b := s.signedIn(s.token)
	for _, form := range map[string]url.Values{
		"empty": {}, "no key": {"revision": {"1"}}, "no revision": {"key": {strings.Repeat("A", 26)}},
		"short key": {"key": {"A"}, "revision": {"1"}}, "a revision that is no number": {"key": {strings.Repeat("A", 26)}, "revision": {"x"}},
	} {
		b.post(acceptPath, form).WantStatus(t, http.StatusBadRequest)
	}
	b.send(http.MethodPost, acceptPath, "application/x-www-form-urlencoded", strings.NewReader("%zz")).WantText(t, http.StatusBadRequest)
	b.send(http.MethodPost, acceptPath, "application/x-www-form-urlencoded", strings.NewReader(strings.Repeat("x", 1<<20))).WantText(t, http.StatusBadRequest)
	b.send(http.MethodPut, orderPage, "", nil).WantText(t, http.StatusMethodNotAllowed, "Not possible")
	for query, texts := range map[string][]string{
		"state=nonsense":                 {"There is no such state"},
		"from=2026-13-01":                {"“2026-13-01” is not a day", `value="2026-13-01"`},
		"to=yesterday":                   {"“yesterday” is not a day"},
		"from=2026-11-02&to=2026-11-01":  {"before the first one"},
		"q=" + strings.Repeat("a", 300):  {"at most 200"},
		"from=%3Cscript%3E&state=%00%FF": {"&lt;script&gt;"},
	} {
		b.get("/console/orders?"+query).WantText(t, http.StatusBadRequest, append(texts, `aria-invalid="true"`)...)
		b.get("/console/orders.xlsx?"+query).WantText(t, http.StatusBadRequest)
	}
	b.get("/console/orders?page=99999999999999999999").WantStatus(t, http.StatusOK)
	testenv.Equal(t, "a page past the end leads to", "/console/orders", b.get("/console/orders?page=7").location())
	b.get("/console/orders?q="+strings.Repeat("a", 9<<10)).WantText(t, http.StatusBadRequest)
}

// Something that belongs to one merchant in a path, and words of the other merchant's data.
var (
	owned   = regexp.MustCompile(`^/console/(?:orders|tokens|webhooks)/[^/?]+`)
	private = regexp.MustCompile(`\bFIRST\b|\bStore A\b|Their shop|shop\.example`)
)

// TestForeign asks for every page and sends every form of one merchant as another one. The
// response is the one for an order, a file, a token or a webhook that never was.
func TestForeign(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "A-1"), newOrder(2, "FIRST", ofMerchant(theirs)))
	owner, b := s.signedIn(s.otherToken), s.signedIn(s.token)
	owner.upload("/console/orders/FIRST", "a.pdf", "content").WantStatus(t, http.StatusSeeOther)
	testenv.Of(s.Webhooks.Add(t.Context(), order.CommandFor(theirs), theirs, webhook.Change{URL: new("https://shop.example/hook"), Description: new("Their shop")}, nil, order.Options[webhook.Endpoint]{})).Must(t)
	whole := testenv.Of(s.Orders.Get(t.Context(), theirs, order.ByReference("FIRST"))).Must(t)
	pages, forms := owner.crawl(t, "owner", "/console")
	for _, path := range []string{"/orders/FIRST/accept", "/orders/FIRST/reject", "/tokens/2/rotate", "/tokens/2/revoke"} {
		forms["/console"+path] = true // of buttons and of pages, without an action
	}
	form := url.Values{"key": {strings.Repeat("B", 26)}, "revision": {"1"}, "reason": {"damaged"}, "overlap": {"0"}, "do": {"disable"}}
	post := func(path string) page {
		if path, _, found := strings.Cut(path, "/files"); found {
			return b.sendFiles(path+"/files", form.Get("key"), "", "a.pdf", "x")
		}
		return b.post(path, form)
	}
	// told returns a response without what differs each time, and without what the path names.
	told := func(got page, path string) string {
		for _, name := range []string{"Date", "X-Request-Id", "Content-Length"} {
			got.Header.Del(name)
		}
		return fmt.Sprint(got.Status, got.Header) + strings.ReplaceAll(got.Body, owned.FindString(path), "")
	}
	meet := func(paths map[string]bool, ask func(path string) page) (met int) {
		for path := range paths {
			if !owned.MatchString(path) {
				continue
			}
			met++
			nobodys := owned.ReplaceAllString(path, path[:strings.LastIndex(owned.FindString(path), "/")]+"/90000001")
			got := ask(path)
			got.WantStatus(t, http.StatusNotFound)
			if diff := cmp.Diff(told(ask(nobodys), nobodys), told(got, path)); diff != "" {
				t.Errorf("%s differs from an address of nothing (-nothing +theirs):\n%s", path, diff)
			}
		}
		return met
	}
	testenv.Equal(t, "pages of the owner alone", 8, meet(pages, b.get))
	testenv.Equal(t, "forms of the owner alone", 8, meet(forms, post))
	for _, path := range []string{"/console/orders?q=FIR", "/console/orders.xlsx?q=FIR", "/console/orders.ndjson?q=FIR", "/console/orders.ndjson", "/console/live?after=0"} {
		pages[path] = true
	}
	for path := range pages {
		if got := b.get(path); !owned.MatchString(path) && (got.Status >= http.StatusBadRequest || private.MatchString(got.Body)) {
			t.Errorf("%s tells of %q: status %d", path, private.FindString(got.Body), got.Status)
		}
	}
	bulk := func(reference string) string {
		sent := b.post("/console/new", url.Values{"key": {strings.Repeat("C", 26)}, "do": {"accept"}, "order": {reference}, "shown": {reference + " 1"}})
		shown := b.get("/console/new?do=accept&refused=" + reference)
		testenv.Contains(t, "bulk accept", sent.location()+shown.Body, "refused="+reference, "Not found.")
		return strings.NewReplacer(reference, "", shown.form(t, "/console/new?limit=25").Get("key"), "").Replace(told(sent, "") + told(shown, ""))
	}
	testenv.Equal(t, "what a bulk accept tells", bulk("NONE-1"), bulk("FIRST"))
	after := testenv.Of(s.Orders.Get(t.Context(), theirs, order.ByReference("FIRST"))).Must(t)
	testenv.Equal(t, "revision of the order of another merchant", whole.Revision, after.Revision)
}

// TestOverview checks the numbers of the overview.
func TestOverview(t *testing.T) {
	t.Parallel()
	s := start(t, newOrders(1, 12, "A-%02d", func(n int, document map[string]any) {
		document["state"] = []string{"registered", "in-processing", "delivered-to-customer"}[n%3]
		if n == 0 {
			document["expiresAt"] = apptest.StartOfTime.Add(30 * time.Minute).Format(time.RFC3339)
		}
	})...)
	b := s.signedIn(s.token)
	got := b.get("/console")
	got.WantText(t, http.StatusOK, `<span class="left late">30 min</span>`, "1 d 16 h", "12 orders", `<rect class="bar-new"`)
	testenv.Equal(t, "states with 4 orders", 3, strings.Count(got.Body, `<span class="count">4</span>`))
	testenv.Equal(t, "orders without an invoice", 3, strings.Count(got.Body, "#files"))
	s.Pass(time.Hour)
	b.get("/console").WantText(t, http.StatusOK, "Overdue")
	s.signedIn(s.otherToken).get("/console").WantText(t, http.StatusOK, "No order is waiting", "0 orders")
}
