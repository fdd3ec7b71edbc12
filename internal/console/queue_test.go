package console_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/app"
	"merchantorders/internal/app/apptest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

// TestAnswerSelected answers several orders, of which somebody else has accepted one.
func TestAnswerSelected(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "FIRST"), newOrder(2, "SECOND"), newOrder(3, "TAKEN"), newOrder(4, "THEIRS", ofMerchant(theirs)), newOrder(5, "LAST"), newOrder(6, "LEFT"))
	b := s.signedIn(s.token)
	form := b.get("/console/new").form(t, queueForm)
	form.Set("do", "accept")
	for _, other := range []string{"THEIRS", "<script>", "X-1"} {
		form["order"] = []string{"FIRST", other}
		b.post("/console/new", form).WantText(t, http.StatusUnprocessableEntity, "the selection is not one of this page")
	}
	form["order"] = []string{"FIRST", "TAKEN", "SECOND", "FIRST"}
	testenv.Of(s.Orders.Accept(t.Context(), order.Caller{Actor: order.ActorMerchant, MerchantID: ours, TokenID: 77}, order.ByReference("TAKEN"), order.Options[order.WriteResult]{})).Must(s.T)

	for range 2 { // a second time, too
		got := b.get(b.post("/console/new", form).location())
		got.WantText(t, http.StatusOK, "2 orders were accepted", "1 order was not accepted", "token 77",
			`href="/console/print?back=%2Fconsole%2Fnew%3Flimit%3D25&amp;order=FIRST&amp;order=SECOND">Print 2 packing slips`, "2 orders</h2>", `value="LEFT"`)
		testenv.Lacks(t, "page", got.Body, "<script>", `value="FIRST"`)
	}
	b.get("/console/new?result=last").WantText(t, http.StatusOK, "Last result: ", "2 orders were accepted", "TAKEN")

	form.Set("do", "reject")
	form["order"] = []string{"LAST", "SECOND"}
	b.post("/console/new", form).WantText(t, http.StatusUnprocessableEntity, "Choose one of the reasons.", ` open`, `value="LAST" checked`)
	form.Set("reason", "damaged")
	asked := b.post("/console/new", form)
	asked.WantText(t, http.StatusOK, "<h1>Reject 2 orders?</h1>", "<bdi>LAST</bdi>", "<bdi>SECOND</bdi>", ">Reject 2 orders</button>")
	form = asked.form(t, queueForm)
	for range 2 {
		b.get(b.post("/console/new", form).location()).WantText(t, http.StatusOK, "1 order was rejected", "1 order was not rejected", "Someone else got there first.")
	}
	form.Set("reason", "boredom")
	b.post("/console/new", form).WantText(t, http.StatusUnprocessableEntity, "Choose one of the reasons.")
	form.Set("do", "accept")
	form.Set("reason", "damaged")
	form["order"] = []string{"LEFT"}
	b.post("/console/new", form).WantText(t, http.StatusUnprocessableEntity, "you chose a reason for a rejection")
	form.Set("do", "none")
	b.post("/console/new", form).WantText(t, http.StatusOK, `value="LEFT" checked`)
	form.Set("do", "cancel")
	b.post("/console/new", form).WantText(t, http.StatusBadRequest)

	for reference, want := range map[string]int{"FIRST": 2, "SECOND": 2, "TAKEN": 2, "LAST": 2, "LEFT": 1} {
		events := s.events(reference)
		testenv.Equal(t, reference+": events", want, len(events))
		if reason := events[len(events)-1].Reason; reference == "LAST" && reason != "damaged" {
			t.Errorf("the reason is %q", reason)
		}
	}
	testenv.Equal(t, "the other store's order", order.Registered, testenv.Of(s.Orders.Get(t.Context(), theirs, order.ByReference("THEIRS"))).Must(t).State)
}

// TestAnswerAsShown answers an order that has changed since its page was shown, and more
// orders than without a question.
func TestAnswerAsShown(t *testing.T) {
	t.Parallel()
	var references []string
	for n := range 12 {
		references = append(references, fmt.Sprintf("S-%02d", n))
	}
	s := start(t, newOrders(1, 12, "S-%02d")...)
	b := s.signedIn(s.token)
	form := b.get("/console/new").form(t, queueForm)
	note := "changed"
	_, err := s.Orders.UpdateMerchantData(t.Context(), order.Caller{Actor: order.ActorMerchant, MerchantID: ours}, order.ByReference("S-03"),
		order.MerchantDataUpdate{Note: order.To(&note)}, order.Options[order.WriteResult]{})
	testenv.NoError(s.T, err)
	form.Set("do", "accept")
	form["order"] = []string{"S-03"}
	b.get(b.post("/console/new", form).location()).WantText(t, http.StatusOK, "1 order was not accepted", "S-03</a>", "It has changed since")
	form["order"] = references[:11]
	asked := b.post("/console/new", form)
	asked.WantText(t, http.StatusOK, "<h1>Accept 11 orders?</h1>", "<bdi>S-04</bdi>", "and 6 more")
	b.get(b.post("/console/new", asked.form(t, queueForm)).location()).WantText(t, http.StatusOK, "10 orders were accepted", "1 order was not accepted")
	for _, reference := range references {
		want := order.InProcessing
		if reference == "S-03" || reference == "S-11" {
			want = order.Registered
		}
		testenv.Equal(t, "state of "+reference, want, testenv.Of(s.Orders.Get(t.Context(), ours, order.ByReference(reference))).Must(t).State)
	}
}

// queueForm is the action of the form of the queue.
const queueForm = "/console/new?limit=25"

// TestQueue pages through the queue, the soonest deadline first.
func TestQueue(t *testing.T) {
	t.Parallel()
	s := start(t, newOrders(1, 30, "Q-%02d", func(n int, document map[string]any) {
		document["expiresAt"] = apptest.StartOfTime.Add(time.Duration(30-n) * time.Hour).Format(time.RFC3339)
	})...)
	b := s.signedIn(s.token)
	got := b.get("/console/new")
	got.WantText(t, http.StatusOK, "30 orders</h2>", "1 h 0 min", "×", `class="more">+`, `href="?limit=100"`)
	if last, next := strings.Index(got.Body, `value="Q-29"`), strings.Index(got.Body, `value="Q-28"`); last < 0 || next < last || strings.Contains(got.Body, `value="Q-04"`) {
		t.Errorf("the page does not have the soonest deadlines first: %s", got.Body)
	}
	rest := b.get(got.next())
	rest.WantText(t, http.StatusOK, `value="Q-04"`, `value="Q-00"`, `href="/console/new?limit=25">First`)
	testenv.Lacks(t, "the last page", rest.Body, `value="Q-05"`, `rel="next"`)

	// From an order to those beside it, and on after an answer.
	const view = "%2Fconsole%2Fnew%3Flimit%3D25"
	page := b.get("/console/orders/Q-28?from=" + view)
	page.WantText(t, http.StatusOK, `href="/console/new?limit=25#order-Q-28"`,
		`rel="prev" href="/console/orders/Q-29?from=`+view+`"`, `rel="next" href="/console/orders/Q-27?from=`+view+`"`)
	accept := "/console/orders/Q-28/accept?from=" + view
	answered := b.post(accept, page.form(t, accept))
	testenv.Equal(t, "the answer leads to", "/console/orders/Q-27?from="+view+"&done=accepted&was=Q-28", answered.location())
	b.get(answered.location()).WantText(t, http.StatusOK, "<bdi>Q-28</bdi></a>: The order is accepted.", `href="/console/orders/Q-28/print"`)
	b.get("/console/orders/Q-28?from="+view).WantText(t, http.StatusOK, `rel="next" href="/console/orders/Q-27?`)
	reject := "/console/orders/Q-00/reject?from=" + view
	form := b.get("/console/orders/Q-00?from="+view).form(t, reject)
	form.Set("reason", "damaged")
	answered = b.post(reject, form) // the last one
	testenv.Equal(t, "the last answer leads to", "/console/new?limit=25&done=rejected&was=Q-00", answered.location())
	b.get(answered.location()).WantText(t, http.StatusOK, "<bdi>Q-00</bdi></a>: The order is rejected.")

	// In the list, also at the edges of its pages, and among the results of a search.
	b.get("/console/orders/Q-24?from=%2Fconsole%2Forders").WantText(t, http.StatusOK, `href="/console/orders#order-Q-24"`, `href="/console/orders/Q-23?from=%2Fconsole%2Forders"`, `href="/console/orders/Q-25?from=%2Fconsole%2Forders%3Fpage%3D2"`)
	b.get("/console/orders/Q-25?from=%2Fconsole%2Forders%3Fpage%3D2").WantText(t, http.StatusOK, `rel="prev" href="/console/orders/Q-24?from=%2Fconsole%2Forders"`)
	b.get("/console/orders/Q-12?from=%2Fconsole%2Forders%3Fq%3DQ-1").WantText(t, http.StatusOK, `rel="next" href="/console/orders/Q-13?from=%2Fconsole%2Forders%3Fq%3DQ-1"`)
	for _, from := range []string{"https://evil.example/console/new", "//evil.example", "/console/tokens", "/console/new?cursor=x", "/console/orders?state=x", "/console/orders?page=99"} {
		got := b.get("/console/orders/Q-24?from=" + url.QueryEscape(from))
		got.WantStatus(t, http.StatusOK)
		testenv.Lacks(t, from, got.Body, `evil.example#`, `href="//evil`, `rel="prev"`)
	}
	testenv.Lacks(t, "the page", b.get("/console/new?done=accepted&was=%3Cb%3E").Body, "b&gt;: The order")
	for _, query := range []string{"limit=101", "limit=x", "cursor=x", "limit=1&limit=2"} {
		b.get("/console/new?"+query).WantText(t, http.StatusBadRequest)
	}
}

// TestSelectionOfNothing sends the form without orders, and with too many.
func TestSelectionOfNothing(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "FIRST"))
	b := s.signedIn(s.token)
	form := b.get("/console/new").form(t, queueForm)
	form.Set("do", "accept")
	b.post("/console/new", form).WantText(t, http.StatusUnprocessableEntity, "No order was selected")
	for n := range 101 {
		form.Add("order", fmt.Sprintf("X-%d", n))
	}
	b.post("/console/new", form).WantText(t, http.StatusUnprocessableEntity, "at most 100 orders")
	b.post("/console/new", url.Values{"order": {"FIRST"}, "do": {"accept"}}).WantText(t, http.StatusBadRequest)
}

// TestLive waits for changes of the orders of a store, and of no other.
func TestLive(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "OURS"), newOrder(2, "THEIRS", ofMerchant(theirs)))
	b := s.signedIn(s.token)
	got := b.get("/console/live?after=0")
	got.WantText(t, http.StatusOK, `"orders":["OURS"]`, `"next":1`, `"created":1`, `"new":1`)
	b.get("/console/orders").WantText(t, http.StatusOK, `data-live-url="/console/live?store=355" data-live-after="1"`)
	for _, query := range []string{"", "?after=x", "?after=-1"} {
		b.get("/console/live"+query).WantText(t, http.StatusBadRequest)
	}
	// A page of another store, for which the browser was signed in before.
	b.get("/console/live?store=777&after=0").WantStatus(t, http.StatusSeeOther)

	changed := make(chan page)
	go func() { changed <- b.get("/console/live?after=1") }()
	s.waitForWaiters(1)
	testenv.Of(s.Orders.Accept(t.Context(), order.CommandFor(ours), order.ByReference("OURS"), order.Options[order.WriteResult]{})).Must(s.T)
	(<-changed).WantText(t, http.StatusOK, `"orders":["OURS"]`, `"next":2`, `"created":0`, `"new":0`)

	go func() { changed <- b.get("/console/live?after=2") }()
	s.waitForWaiters(1)
	testenv.Of(s.Tokens.RevokeID(t.Context(), order.Command(), testenv.Of(s.Tokens.ID(t.Context(), s.token)).Must(s.T), order.Options[int64]{})).Must(s.T)
	testenv.Equal(t, "after the revocation", http.StatusSeeOther, (<-changed).Status)
}

// waitForWaiters returns when a number of requests wait for events.
func (s *service) waitForWaiters(want int) {
	s.T.Helper()
	testenv.Eventually(s.T, fmt.Sprintf("%d requests wait", want), func() bool {
		waiting, _ := s.Orders.Waiting()
		return waiting == want
	})
}

// TestLiveIsNoUse checks that requests of scripts do not keep a session.
func TestLiveIsNoUse(t *testing.T) {
	t.Parallel()
	s := start(t)
	watching, working := s.signedIn(s.token), s.signedIn(s.token)
	watching.header.Set("Console-Background", "1")
	for range 3 {
		s.Pass(9 * time.Hour)
		watching.get("/console/orders")
		working.get("/console/orders").WantText(t, http.StatusOK)
	}
	watching.get("/console/orders").WantStatus(t, http.StatusSeeOther)
}

// TestPackingSlip has what goes into the parcel, and no prices.
func TestPackingSlip(t *testing.T) {
	t.Parallel()
	nameless := func(document map[string]any) {
		document["customer"].(map[string]any)["firstName"], document["customer"].(map[string]any)["lastName"] = "Ελένη", "Πελάτισσα"
		document["customer"].(map[string]any)["phone"] = "6900000123"
		for _, name := range []string{"firstName", "lastName", "phone"} {
			document["shippingAddress"].(map[string]any)[name] = ""
		}
		document["payment"], document["total"] = map[string]any{"name": "cod"}, 123456
	}
	s := start(t, newOrder(1, "FIRST"), newOrder(2, "THEIRS", ofMerchant(theirs)), newOrder(3, "THIRD", nameless))
	b := s.signedIn(s.token)
	got := b.get("/console/orders/FIRST/print")
	got.WantText(t, http.StatusOK, "Packing slip", "FIRST", `class="box"`)
	testenv.Lacks(t, "slip", got.Body, "€")
	testenv.Lacks(t, "slip of a paid order", got.Body, "Collect")
	b.get("/console/orders/THEIRS/print").WantText(t, http.StatusNotFound)
	b.get("/console/orders/THIRD/print").WantText(t, http.StatusOK, "<bdi>Ελένη Πελάτισσα</bdi>", "<bdi>6900000123</bdi>", "Collect: <strong>€1,234.56</strong>")

	got = b.get("/console/print?order=THIRD&order=FIRST&order=THEIRS&order=THIRD")
	got.WantText(t, http.StatusOK, "2 packing slips", "Not found: <bdi>THEIRS</bdi>")
	if third, first := strings.Index(got.Body, "<h2>Packing slip <bdi>THIRD"), strings.Index(got.Body, "<h2>Packing slip <bdi>FIRST"); third < 0 || first < third || strings.Count(got.Body, `class="sheet"`) != 2 {
		t.Errorf("the slips are not in the sequence of the selection: %s", got.Body)
	}
	b.get("/console/print").WantText(t, http.StatusUnprocessableEntity, "No order was selected")

	// What is not to be shipped has no slip in a selection, and alone one that says so.
	testenv.Of(s.Orders.Reject(t.Context(), order.CommandFor(ours), order.ByReference("THIRD"), "damaged", order.Options[order.WriteResult]{})).Must(s.T)
	got = b.get("/console/print?order=THIRD&order=FIRST")
	got.WantText(t, http.StatusOK, "1 packing slip", `canceled or rejected: <a href="/console/orders/THIRD">`)
	got = b.get("/console/orders/THIRD/print")
	got.WantText(t, http.StatusOK, `class="stop">Rejected. Do not ship`)
	testenv.Lacks(t, "slip of a rejected order", got.Body, "Collect")
}

// TestLongSelection selects a hundred orders with the longest references, in a browser without
// scripts: addresses have room for them.
func TestLongSelection(t *testing.T) {
	t.Parallel()
	var documents [][]byte
	var references []string
	for n := range 100 {
		references = append(references, fmt.Sprintf("A-%03d%s", n, strings.Repeat("x", order.MaxReferenceLength-5)))
		documents = append(documents, newOrder(n+1, references[n]))
	}
	s := start(t, documents...)
	b := s.signedIn(s.token)
	const page = "/console/new?limit=100"
	form := b.get(page).form(t, page)
	form["order"], form["back"] = references, []string{page}
	for do, want := range map[string]string{"/print": "100 packing slips", "/pick": "items of 100 orders", "/orders.xlsx": "PK", "/invoices": references[99]} {
		form["do"] = []string{do}
		b.get(b.post(page, form).location()).WantText(t, http.StatusOK, want)
	}
	none := maps.Clone(form)
	delete(none, "order")
	b.post(page, none).WantText(t, http.StatusUnprocessableEntity, "No order was selected")
	form["do"] = []string{"accept"}
	form = b.post(page, form).form(t, page)
	form["then"] = []string{"print"}
	b.get(b.post(page, form).location()).WantText(t, http.StatusOK, "100 packing slips")
	b.get(b.post(page, form).location()).WantText(t, http.StatusOK, "100 packing slips") // the keys have what was done
}

// TestSlipOfStore sets what the packing slips say of the store, and where tracking codes lead.
func TestSlipOfStore(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "A-1", func(document map[string]any) {
		document["carrier"].(map[string]any)["trackingCodes"] = "AB 1&2, XY/3"
	}), newOrder(2, "A-2", func(document map[string]any) {
		document["carrier"].(map[string]any)["trackingCodes"] = "https://example.org/a,b"
	}))
	b := s.signedIn(s.token)
	b.get(orderPage).WantText(t, http.StatusOK, "<bdi data-copy>AB 1&amp;2</bdi>")
	form := b.get("/console/store").form(t, "/console/store")
	for name, value := range map[string]string{"slipName": "Ζωή <b>", "returnAddress": "Ερμού 1\r\nΑθήνα", "trackingLink": "https://track.example.com/{code}?l=el"} {
		form.Set(name, value)
	}
	b.post("/console/store", form).WantStatus(t, http.StatusSeeOther)
	b.get("/console/store").WantText(t, http.StatusOK, `value="Ζωή &lt;b&gt;"`, ">\nΕρμού 1\nΑθήνα</textarea>")
	for _, path := range []string{orderPage + "/print", "/console/print?order=A-1"} {
		b.get(path).WantText(t, http.StatusOK, "<dt>Store</dt><dd><bdi>Ζωή &lt;b&gt;</bdi></dd>", "<bdi>Ερμού 1\nΑθήνα</bdi>")
	}
	b.get(orderPage).WantText(t, http.StatusOK, `href="https://track.example.com/AB%201%262?l=el"`, `href="https://track.example.com/XY%2F3?l=el"`)
	b.get("/console/orders/A-2").WantText(t, http.StatusOK, `href="https://example.org/a,b"`)
}

// TestAnswerAll rejects the orders of all pages, as they were when the question named their
// number: neither the one that somebody accepts meanwhile, nor the one that arrives.
func TestAnswerAll(t *testing.T) {
	t.Parallel()
	s := start(t, newOrders(1, 130, "A-%03d")...)
	b := s.signedIn(s.token)
	page := b.get("/console/new")
	page.WantText(t, http.StatusOK, `data-all="130"`, "All 130 orders of all pages")
	form := page.form(t, queueForm)
	form["all"], form["do"], form["reason"], form["order"] = []string{"yes"}, []string{"reject"}, []string{"out-of-stock"}, []string{"A-000"}
	form.Del("reason")
	b.post("/console/new", form).WantText(t, http.StatusUnprocessableEntity, "Choose one of the reasons.", `data-all="130" checked`)
	form.Set("reason", "out-of-stock")
	asked := b.post("/console/new", form)
	asked.WantText(t, http.StatusOK, "<h1>Reject 130 orders?</h1>", "and 125 more", ">Reject 130 orders</button>")
	testenv.Of(s.Orders.Accept(t.Context(), order.CommandFor(ours), order.ByReference("A-100"), order.Options[order.WriteResult]{})).Must(t)
	s.add(newOrder(200, "LATER"))
	for range 2 { // the second time it is a repetition
		answer := b.post("/console/new", asked.form(t, queueForm))
		answer.WantStatus(t, http.StatusSeeOther)
		done := b.get(answer.location())
		done.WantText(t, http.StatusOK, "129 orders were rejected.", "1 order was not rejected", "A-100", "LATER", "1 order</h2>")
	}
	// The person finds the result again, and nobody else.
	b.get("/console/new?result=last").WantText(t, http.StatusOK, "Last result: ", "129 orders were rejected.", "A-100")
	testenv.Lacks(t, "page of somebody else", s.signedIn(s.NewToken(ours, order.MerchantScopes)).get("/console/new?result=last").Body, "were rejected")
	form["do"], form["reason"] = []string{"accept"}, nil
	b.post("/console/new", form).WantText(t, http.StatusOK, "<h1>Accept 1 order?</h1>", "LATER")
	s.add(newOrders(1000, 5000, "B-%04d")...) // with LATER one more than a form answers
	asked = b.post("/console/new", form)
	asked.WantText(t, http.StatusOK, "<h1>Accept 5,000 orders?</h1>", "the soonest deadlines")
	s.browser().post("/console/new", asked.form(t, queueForm)).WantText(t, http.StatusForbidden, "Your acceptance was not sent")
}

// finish rejects what a crash has left: not what has changed, was answered or has arrived meanwhile.
func (s *service) finish(t *testing.T, b *browser, result string) {
	t.Helper()
	left := regexp.MustCompile(`data-order="([^"]*)"`).FindAllStringSubmatch(b.get("/console/new").Body, 2)
	for i, do := range []string{"/accept", "/own"} {
		page := "/console/orders/" + left[i][1]
		own := b.get(page).form(t, page+"/own")
		own.Set("merchantNote", "changed")
		testenv.Equal(t, page, http.StatusSeeOther, b.post(page+do, own).Status)
	}
	s.add(newOrder(1000, "LATER"))
	page := b.get(result)
	page.WantText(t, http.StatusOK, ">Reject 48 orders</button>")
	form := page.form(t, queueForm)
	form.Set("do", "reject")
	asked := b.post("/console/new", form)
	asked.WantText(t, http.StatusOK, "<h1>Reject 48 orders?</h1>", "Damaged")
	result = b.post("/console/new", asked.form(t, queueForm)).location()
	testenv.Eventually(t, "the rest is rejected", func() bool { return strings.Contains(b.get(result).Body, "48 orders were rejected.") })
	b.get(result).WantText(t, http.StatusOK, "2 orders</h2>")
	if page := b.get(b.post("/console/new", form).location()); !strings.Contains(page.Body, "200 orders were rejected.") || strings.Contains(page.Body, "were not answered") {
		t.Errorf("the rest of nothing: %s", page.Body)
	}
}

// watchedResults calls a function before it keeps a result.
type watchedResults struct {
	app.Store
	before func() error
}

// Keep implements token.SessionStore.
func (w watchedResults) Keep(ctx context.Context, merchantID int64, kind token.KeptKind, person string, k token.Kept, most int, check func([]token.Kept) (string, error)) error {
	if kind == token.KeptResult {
		if err := w.before(); err != nil {
			return err
		}
	}
	return w.Store.Keep(ctx, merchantID, kind, person, k, most, check)
}

// TestAnswerAgain answers an order while the database fails before the result is kept: the same form
// sent again shows what was done.
func TestAnswerAgain(t *testing.T) {
	t.Parallel()
	failure := order.ErrUnavailable
	s := startSetup(t, apptest.Setup{Store: func(db app.Store) app.Store {
		return watchedResults{db, func() error { return failure }}
	}}, newOrder(1, "A-1"))
	b := s.signedIn(s.token)
	form := b.get("/console/new").form(t, queueForm)
	form["do"], form["order"] = []string{"accept"}, []string{"A-1"}
	b.post("/console/new", form).WantText(t, http.StatusServiceUnavailable, "What you typed is not lost: reload this page")
	failure = nil
	b.get(b.post("/console/new", form).location()).WantText(t, http.StatusOK, "1 order was accepted.")
	testenv.Equal(t, "events", 2, len(s.events("A-1")))
}

// TestAnswerAllSlowly rejects the orders of all pages while the database is slow: the page shows
// how far it is, and after a crash or a stop what was answered and what was not.
func TestAnswerAllSlowly(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"done", "crash", "stop", "revoked"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			release, kept := make(chan struct{}), 0
			s := startSetup(t, apptest.Setup{Store: func(db app.Store) app.Store {
				return watchedResults{db, func() error {
					if kept++; kept == 3 { // after the second part
						if <-release; end == "crash" {
							return order.ErrUnavailable
						}
					}
					if kept == 4 && end == "crash" {
						return order.ErrUnavailable
					}
					return nil
				}}
			}}, newOrders(1, 250, "A-%03d")...)
			b := s.signedIn(s.token)
			form := b.get("/console/new").form(t, queueForm)
			form["all"], form["do"], form["reason"] = []string{"yes"}, []string{"reject"}, []string{"damaged"}
			form = b.post("/console/new", form).form(t, queueForm)
			result := b.post("/console/new", form).location()
			testenv.Eventually(t, "a part is kept", func() bool { return strings.Contains(b.get(result).Body, "100 of 250") })
			b.get(result).WantText(t, http.StatusOK, "<h1>Rejecting 250 orders…</h1>", `<progress max="250" value="100"`, `<noscript><meta http-equiv="refresh"`)
			testenv.Equal(t, "sent again", result, b.post("/console/new", form).location())
			other := b.get("/console/new").form(t, queueForm)
			other["all"], other["do"] = []string{"yes"}, []string{"accept"}
			other = b.post("/console/new", other).form(t, queueForm)
			b.post("/console/new", other).WantText(t, http.StatusUnprocessableEntity, "other orders of the store are being answered")
			switch end {
			case "done":
				close(release)
				testenv.Eventually(t, "it ends", func() bool {
					return strings.Contains(b.get("/console/new?result=last").Body, "250 orders were rejected.")
				})
			case "crash":
				close(release)
				b.get(result).WantText(t, http.StatusOK, "100 of 250")
				s.Pass(20 * time.Second)
				testenv.Eventually(t, "the work counts as ended", func() bool { return !strings.Contains(b.get(result).Body, "<progress") })
				b.get(result).WantText(t, http.StatusOK, "200 orders were rejected.", "50 orders were not answered", "50 orders</h2>")
				s.finish(t, b, result)
			case "stop":
				stopped := make(chan struct{})
				go func() {
					defer close(stopped)
					s.Stop()
				}()
				testenv.Eventually(t, "the server stops", func() bool {
					response, err := http.Get(s.URL) //nolint:noctx // it is refused
					if err == nil {
						_ = response.Body.Close()
					}
					return err != nil
				})
				close(release)
				<-stopped
			case "revoked":
				testenv.Of(s.Tokens.RevokeID(t.Context(), order.Command(), testenv.Of(s.Tokens.ID(t.Context(), s.token)).Must(t), order.Options[int64]{})).Must(t)
				close(release)
			}
			if end == "stop" || end == "revoked" {
				testenv.Eventually(t, "the result says that it stopped", func() bool {
					kept := testenv.Of(s.DB.Kept(t.Context(), ours, token.KeptResult, "#1")).Must(t)
					return regexp.MustCompile("answered=200&.*&stopped=yes&total=250").MatchString(kept[0].Value)
				})
			}
			answered := 0
			for n := range 250 {
				if events := len(s.events(fmt.Sprintf("A-%03d", n))); events > 2 {
					t.Errorf("A-%03d was answered %d times", n, events-1)
				} else {
					answered += events - 1
				}
			}
			testenv.Equal(t, "answered", map[string]int{"done": 250, "crash": 250, "stop": 200, "revoked": 200}[end], answered)
		})
	}
}
