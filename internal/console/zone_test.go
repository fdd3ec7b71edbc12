package console_test

import (
	"net/http"
	"strings"
	"testing"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// TestTimeZone places an order at 01:55 in Athens, which is the day before in UTC: list,
// search, export, chart and packing slip of the store agree on its day, also on the one of 25
// hours, and the interface stays in UTC.
func TestTimeZone(t *testing.T) {
	t.Parallel()
	at := func(time string) func(map[string]any) {
		return func(document map[string]any) { document["createdAt"] = time }
	}
	s := start(t, newOrder(1, "NIGHT", at("2026-11-19T23:55:00Z")), newOrder(2, "EVENING", at("2026-11-19T21:55:00Z")), newOrder(3, "NOON"),
		newOrder(5, "NEXT", at("2026-10-25T22:00:00Z")), newOrder(6, "LATE", at("2026-10-25T21:59:59Z")), newOrder(7, "EARLY", at("2026-10-24T21:00:00Z")),
		newOrder(4, "THEIRS", ofMerchant(theirs), at("2026-11-19T23:55:00Z")))
	b := s.signedIn(s.token)
	b.get("/console/orders/NIGHT").WantText(t, http.StatusOK, "19\u00a0Nov\u00a02026, 23:55\u00a0UTC", "Times are in UTC")
	b.get("/console/orders?from=2026-11-20").WantText(t, http.StatusOK, ">1 order<", "NOON")
	form := b.get("/console/store").form(t, "/console/store")
	form.Set("zone", "Europe/Athens")
	b.post("/console/store", form).WantStatus(t, http.StatusSeeOther)
	b.get("/console/store").WantText(t, http.StatusOK, `value="Europe/Athens" selected>Athens<`)

	const night = "20\u00a0Nov\u00a02026, 01:55<"
	b.get("/console/orders/NIGHT").WantText(t, http.StatusOK, night, "Times are in Europe/Athens")
	b.get("/console/orders/NIGHT/print").WantText(t, http.StatusOK, "<dd>20\u00a0Nov\u00a02026</dd>")
	for query, want := range map[string]string{
		"from=2026-11-20":               "NOON NIGHT",
		"from=2026-11-20&to=2026-11-20": "NOON NIGHT",
		"to=2026-11-19":                 "EVENING NEXT LATE EARLY",
		"from=2026-10-25&to=2026-10-25": "LATE EARLY",
		"from=2026-10-26&to=2026-10-26": "NEXT",
		"q=nig&from=2026-11-20":         "NIGHT",
		"q=nig&to=2026-11-19":           "",
		"q=eve&to=2026-11-19":           "EVENING",
	} {
		list, export := b.get("/console/orders?"+query), b.get("/console/orders.ndjson?"+query)
		var listed, exported []string
		for _, reference := range []string{"NOON", "NIGHT", "EVENING", "NEXT", "LATE", "EARLY"} {
			if strings.Contains(list.Body, `id="order-`+reference+`"`) {
				listed = append(listed, reference)
			}
			if strings.Contains(export.Body, `"id":"`+reference+`"`) {
				exported = append(exported, reference)
			}
		}
		if strings.Join(listed, " ") != want || strings.Join(exported, " ") != want {
			t.Errorf("%s: listed %q, exported %q, want %q", query, listed, exported, want)
		}
	}
	chart := b.get("/console").Body
	testenv.Contains(t, "chart", chart, "20\u00a0Nov\u00a02026: 2<", "19\u00a0Nov\u00a02026: 1<", "26\u00a0Oct\u00a02026: 1<", "25\u00a0Oct\u00a02026: 2<")
	b.header.Set("Accept-Language", "el")
	b.get("/console/orders").WantText(t, http.StatusOK, "20\u00a0Νοε\u00a02026, 01:55<", "Οι ώρες είναι στη ζώνη Europe/Athens", `href="/docs/guide/console-el"`)
	testenv.Equal(t, "orders of the day in UTC", 1, testenv.Of(s.Orders.List(t.Context(), ours, order.Filter{AnyState: true, From: order.DayOf(apptest.StartOfTime), To: order.NoDay, Page: 1, PageSize: 10})).Must(t).Total)
	s.signedIn(s.otherToken).get("/console/orders/THEIRS").WantText(t, http.StatusOK, "23:55\u00a0UTC")
}
