package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/web"
)

// TestShip lists the accepted orders by their time of dispatch, and what to take from the
// warehouse for some of them.
func TestShip(t *testing.T) {
	t.Parallel()
	first := make(map[string]any)
	dispatched := func(hours int) func(map[string]any) {
		return func(document map[string]any) {
			for _, name := range []string{"lineItems", "subtotal", "discount", "total"} {
				if hours == 50 {
					first[name] = document[name]
				}
				document[name] = first[name]
			}
			if delete(document, "dispatchUntil"); hours != 0 {
				document["dispatchUntil"] = apptest.StartOfTime.Add(time.Duration(hours) * time.Hour).Format(time.RFC3339)
			}
		}
	}
	var documents [][]byte
	for n, hours := range []int{50, 3, 0, -1, 20} {
		documents = append(documents, newOrder(n+1, fmt.Sprintf("S-%d", n+1), dispatched(hours)))
	}
	documents = append(documents, newOrder(6, "NEW"), newOrder(7, "THEIRS", ofMerchant(theirs)))
	s := start(t, documents...)
	b := s.signedIn(s.token)
	b.get("/console/ship").WantText(t, http.StatusOK, "0 orders", "Nothing to ship.")
	for n := range 5 {
		testenv.Of(s.Orders.Accept(t.Context(), order.CommandFor(ours), order.ByReference(fmt.Sprintf("S-%d", n+1)), order.Options[order.WriteResult]{})).Must(t)
	}
	page := b.get("/console/ship")
	page.WantText(t, http.StatusOK, "5 orders</h2>", `data-tally="toShip">5<`, `data-tally="new">1<`, "Overdue", "3 h 0 min", "No limit")
	rest := page.Body
	for _, reference := range []string{"S-4", "S-2", "S-5", "S-1", "S-3"} {
		_, after, ok := strings.Cut(rest, `id="order-`+reference+`"`)
		if rest = after; !ok {
			t.Fatalf("%s is not in its place: %s", reference, page.Body)
		}
	}
	b.get("/console/ship?limit=2").WantText(t, http.StatusOK, `rel="next" href="/console/ship?limit=2&amp;page=2"`)
	b.get("/console/ship?limit=2&page=9").WantText(t, http.StatusOK, `id="order-S-3"`, `href="/console/ship?limit=2">First`)
	b.get("/console/ship?limit=101").WantStatus(t, http.StatusBadRequest)
	const view = "%2Fconsole%2Fship%3Flimit%3D25"
	b.get("/console/orders/S-5?from="+view).WantText(t, http.StatusOK, `rel="prev" href="/console/ship?limit=25&amp;before=S-5"`, `rel="next" href="/console/ship?limit=25&amp;after=S-5"`, ">To ship</a>")
	for step, want := range map[string]string{
		"25&before=S-5": "/console/orders/S-2?from=" + view, "25&after=S-5": "/console/orders/S-1?from=" + view, "2&after=S-2": "/console/orders/S-5?from=%2Fconsole%2Fship%3Flimit%3D2%26page%3D2",
		"2&after=S-3": "/console/ship?limit=2&page=3", "2&before=S-4": "/console/ship?limit=2", "2&page=2&after=NEW": "/console/ship?limit=2",
	} {
		testenv.Equal(t, step, want, b.get("/console/ship?limit="+step).location())
	}

	o := testenv.Of(s.Orders.Get(t.Context(), ours, order.ByReference("S-1"))).Must(t)
	var pieces int64
	for _, item := range o.LineItems {
		pieces += 2 * item.Quantity
	}
	item := o.LineItems[0]
	b.get("/console/pick?order=S-1&order=S-3&order=S-1&order=THEIRS").WantText(t, http.StatusOK, fmt.Sprintf("%d items of 2 orders", pieces), "<bdi>THEIRS</bdi>",
		fmt.Sprintf(`<td class="amount">%d</td>`, 2*item.Quantity), "<bdi>"+item.MerchantSKU+"</bdi>", `href="/console/orders/S-3"`)
	// All orders of all pages of the view that the form is of.
	b.get("/console/ship?limit=2").WantText(t, http.StatusOK, "All 5 orders of all pages")
	b.get("/console/pick?all=yes&back=%2Fconsole%2Fship%3Flimit%3D2").WantText(t, http.StatusOK, "items of 5 orders")
	b.get("/console/print?all=yes&back=%2Fconsole%2Forders%3Fstate%3Dregistered").WantText(t, http.StatusOK, `aria-label="QR: NEW"`)
	b.get("/console/print?all=yes&back=%2Fconsole%2Forders%3Fstate%3Dx").WantStatus(t, http.StatusBadRequest)
	// The workbook of a selection, and of all pages of each view.
	for query, want := range map[string]string{
		"order=S-1&order=S-3&back=%2Fconsole%2Fship": "S-1 S-3", "all=yes&order=S-1&back=%2Fconsole%2Fship%3Flimit%3D2": "S-4 S-2 S-5 S-1 S-3",
		"all=yes&back=%2Fconsole%2Fnew": "NEW", "all=yes&back=%2Fconsole%2Forders%3Fq%3DS-2": "S-2",
	} {
		sheet := testenv.Sheet(t, []byte(b.get("/console/orders.xlsx?"+query).Body), "1")
		testenv.Equal(t, query, want, strings.Join(web.Collect(sheet[1:], func(row []string) string { return row[0] }), " "))
	}
	b.get("/console/orders.xlsx?back=%2Fconsole%2Fnew").WantText(t, http.StatusUnprocessableEntity, "No order was selected")
	b.get("/console/orders.xlsx?all=yes&back=%2Fconsole%2Ftokens").WantStatus(t, http.StatusBadRequest)
	b.get("/console/pick").WantText(t, http.StatusUnprocessableEntity, "Select at least one.")
	b.get("/console/print?order=S-1").WantText(t, http.StatusOK, `aria-label="QR: S-1"><path d="M4 4h1v1h-1z`, `data-print="now"`)
}
