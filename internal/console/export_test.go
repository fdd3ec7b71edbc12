package console_test

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

// TestExport exports views of more orders than a page of the store has, with texts that a
// spreadsheet could take for something else.
func TestExport(t *testing.T) {
	t.Parallel()
	const orders = 230
	documents := newOrders(1, orders, "A-%03d", func(n int, document map[string]any) {
		document["total"] = 1205
		if n%2 == 1 {
			document["state"] = "in-processing"
		}
		if n == 3 {
			customer, item := document["customer"].(map[string]any), document["lineItems"].([]any)[0].(map[string]any)
			customer["firstName"], customer["lastName"], customer["company"] = `=HYPERLINK("http://evil.example")`, "Maria;=cmd|'/C calc'!A0;\n+1", "</t><f>1</f>"
			customer["email"], customer["phone"], document["createdAt"] = "\ttab_x003D_", "+30 210", "2026-03-29T01:30:00Z"
			item["productName"], item["basePrice"], item["vatRate"] = "-1+1\r\n@SUM(A1)", 990, "6.5"
			document["shippingAmount"], document["shippingVatRate"] = 350, "24"
		}
	})
	s := start(t, append(documents, newOrder(900, "B-1", ofMerchant(theirs)))...)
	zone, name := "Europe/Athens", "Μαγαζί: \"A/B\""
	testenv.Of(s.Merchants.Update(t.Context(), order.Command(), ours, order.MerchantUpdate{TimeZone: &zone, Name: &name}, order.Options[order.Merchant]{})).Must(t)
	b := s.signedIn(s.token)
	for query, want := range map[string]int{"": orders, "?state=in-processing": orders / 2, "?q=a-00": 10, "?from=2026-11-21": 0, "?from=2026-11-20&to=2026-11-20": orders - 1} {
		got := b.get("/console/orders.xlsx" + query)
		got.WantStatus(t, http.StatusOK)
		if rows := testenv.Sheet(t, []byte(got.Body), "1"); len(rows) != want+1 || rows[0][0] != "Order" {
			t.Errorf("%q: %d rows, want %d with the headings", query, len(rows), want+1)
		}
		seen := make(map[string]bool)
		for lines := json.NewDecoder(strings.NewReader(b.get("/console/orders.ndjson" + query).Body)); lines.More(); {
			var line struct{ ID, Total string }
			if err := lines.Decode(&line); err != nil || line.Total == "" {
				t.Fatalf("%q: %+v: %v", query, line, err)
			}
			seen[line.ID] = true
		}
		if len(seen) != want || seen["B-1"] {
			t.Errorf("%q: %d orders in NDJSON, want %d", query, len(seen), want)
		}
	}
	o := testenv.Of(s.Orders.Get(t.Context(), ours, order.ByReference("A-003"))).Must(t)
	d, item := o.InvoiceDetails, o.LineItems[0]
	b.header.Set("Accept-Language", "el")
	testenv.Contains(t, "header of NDJSON", b.get("/console/orders.ndjson").Header.Get("Content-Disposition"), "attachment; filename=orders.ndjson;")
	got := b.get("/console/orders.xlsx?to=2026-03-29")
	row := []string{
		"A-003", "", "46110.1875", "", "Σε επεξεργασία", "Κάρτα", o.Customer.FirstName + " " + o.Customer.LastName + " " + o.Customer.Company, "tab_x005F_x003D_", "+30 210",
		"GR", *d.Company, d.VATNumber, *d.TaxOfficeCode + " · " + *d.TaxOfficeName, *d.Occupation, *d.Address + ", " + *d.PostCode + " " + *d.City,
		order.Decimal(o.Subtotal, "EUR"), order.Decimal(-o.Discount, "EUR"), order.Decimal(o.Total-o.Subtotal+o.Discount, "EUR"), "3.50", "24", "12.05", "EUR", "0",
	}
	rows := testenv.Sheet(t, []byte(got.Body), "1")
	testenv.Equal(t, "the row of an order", row, rows[1])
	if rows[0][11] != "ΑΦΜ" || len(rows[0]) != len(row)+3 { // no file, so no kind, number and mark
		t.Errorf("headings %q", rows[0])
	}
	_, file, err := mime.ParseMediaType(got.Header.Get("Content-Disposition"))
	if err != nil || file["filename"] != "παραγγελίες Μαγαζί- -A-B- 2026-03-29.xlsx" || !strings.Contains(got.Header.Get("Content-Disposition"), "; filename=orders.xlsx;") {
		t.Errorf("Content-Disposition: %v, %v", file, err)
	}
	rows = testenv.Sheet(t, []byte(b.get("/console/orders.xlsx?items=1&to=2026-03-29").Body), "1")
	testenv.Equal(t, "the row of an item", []string{
		"A-003", "", "46110.1875", "Σε επεξεργασία", row[6], *d.Company, d.VATNumber, "-1+1\r\n@SUM(A1)", item.MerchantSKU, item.SKU, item.MerchantEAN,
		fmt.Sprint(item.Quantity), order.Decimal(item.UnitPrice, "EUR"), "9.90", "6.5", order.Decimal(item.TotalPrice, "EUR"), "EUR",
	}, rows[1])
	testenv.Equal(t, "rows", len(o.LineItems)+1, len(rows))
	months := b.get("/console/orders?state=in-processing").Body
	for _, query := range []string{"from=2026-11-01&amp;state=in-processing&amp;to=2026-11-30", "from=2026-10-01&amp;state=in-processing&amp;to=2026-10-31"} {
		testenv.Contains(t, "months", months, `href="/console/orders?`+query+`"`)
	}
}

// TestList goes through the pages of a list and of a search.
func TestList(t *testing.T) {
	t.Parallel()
	s := start(t, newOrders(1, 60, "A-%03d", func(n int, document map[string]any) {
		if n < 10 {
			document["state"] = "in-processing"
		}
		if n == 30 {
			document["expiresAt"], document["currency"] = apptest.StartOfTime.Add(-time.Hour).Format(time.RFC3339), "SEK"
		}
	})...)
	b := s.signedIn(s.token)
	b.get("/console/orders").WantText(t, http.StatusOK, "60 orders", "1–25 of 60", "A-003", `href="/console/orders?page=2"`, `href="/console/orders?page=3"`, `class="what"><div><span title="`)
	b.get("/console/orders?page=2&state=registered").WantText(t, http.StatusOK, "26–50 of 50", "A-059", `rel="prev" href="/console/orders?state=registered"`,
		`class="chip" href="/console/orders?"><span class="hidden">Remove the filter:</span>State: New <`)
	b.get("/console/orders?overdue=yes&from=2026-11-01").WantText(t, http.StatusOK, "Overdue orders", "A-030", "Total <span>SEK\u00a0",
		`href="/console/orders?from=2026-11-01"><span class="hidden">Remove the filter:</span>Overdue only`, `href="/console/orders?overdue=yes"><span class="hidden">Remove the filter:</span>Placed from: 1`+"\u00a0Nov\u00a02026 ")
	// The database adds up a list, the page what a search finds.
	sum := regexp.MustCompile(`<p class="sum">Total <span>€[0-9,.]+</span> </p>`)
	listed := sum.FindString(b.get("/console/orders?state=in-processing").Body)
	if found := sum.FindString(b.get("/console/orders?q=a-00").Body); listed == "" || found != listed {
		t.Errorf("the sums are %q of a list and %q of a search", listed, found)
	}
	first := b.get("/console/orders?q=a-0")
	first.WantText(t, http.StatusOK, "At least 50 orders found, newest first", "A-024", `value="a-0"`)
	b.get(first.next()).WantText(t, http.StatusOK, "A-025", "A-049")
	b.get("/console/orders?q=nothing").WantText(t, http.StatusOK, "No orders found</h2>", "No order matches")
}

// TestViews saves a view of the list for a person, whom others with the same name are, and
// removes it.
func TestViews(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "A-1"))
	b, other := s.signedIn(s.token), s.signedIn(s.NewToken(ours, order.MerchantScopes))
	const view, link = "/console/orders?state=registered", `href="/console/orders?state=registered"`
	form := b.get(view).form(t, view)
	for _, name := range []string{"", " ", "a\nb", strings.Repeat("Ω", 41)} {
		form.Set("name", name)
		b.post(view, form).WantText(t, http.StatusUnprocessableEntity, "Enter a name of at most 40 characters.", "A-1")
	}
	form.Set("name", "To <do>")
	// All orders are no view, and none keeps words of a customer.
	for _, path := range []string{"/console/orders", "/console/orders?q=Maria", "/console/orders?q=Maria&state=registered"} {
		b.post(path, form).WantStatus(t, http.StatusUnprocessableEntity)
	}
	testenv.Lacks(t, "page of a search", b.get("/console/orders?q=A-1").Body, "Save this view")
	testenv.Equal(t, "saved", view, b.post(view, form).location())
	b.get("/console/orders").WantText(t, http.StatusOK, link+`><bdi>To &lt;do&gt;</bdi>`, `?overdue=yes">Overdue`, `href="/console/invoices"`, `?from=2026-11-14&amp;state=canceled">Canceled`)
	testenv.Lacks(t, "views of another person", other.get("/console/orders").Body, "do&gt;")
	got := b.get(view)
	got.WantText(t, http.StatusOK, link+` aria-current="page"><bdi>To`)
	form = got.form(t, view)
	form.Set("name", "Today")
	testenv.Equal(t, "renamed", view, b.post(view, form).location())
	got = b.get(view)
	got.WantText(t, http.StatusOK, link+` aria-current="page"><bdi>Today`)
	testenv.Lacks(t, "page of a renamed view", got.Body, "do&gt;")
	// Another view keeps its name, and a person has no more than token.MaxViews.
	newest := "/console/orders?state=canceled"
	for n := range token.MaxViews - 1 {
		newest = "/console/orders?from=" + order.DayOf(apptest.StartOfTime.AddDate(0, 0, -n)).String()
		testenv.Equal(t, "saved", newest, b.post(newest, url.Values{"key": form["key"], "name": {"View " + strconv.Itoa(n)}}).location())
	}
	testenv.Equal(t, "saved again", newest, b.post(newest, url.Values{"key": form["key"], "name": {"View 18"}}).location())
	b.post(view, url.Values{"key": form["key"], "name": {"View 1"}, "was": {"Today"}}).WantText(t, http.StatusUnprocessableEntity, "Another view has this name.", `value="View 1"`)
	b.post("/console/orders?to=2026-11-01", url.Values{"key": form["key"], "name": {"One more"}}).WantText(t, http.StatusUnprocessableEntity, "You have 20 views.", `value="One more"`)
	form.Set("do", "remove")
	testenv.Equal(t, "removed", "/console/orders", b.post("/console/orders", form).location())
	testenv.Lacks(t, "views after the removal", b.get("/console/orders").Body, "Today<")
}
