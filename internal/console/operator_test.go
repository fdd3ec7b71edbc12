package console_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/delivery"
	"merchantorders/internal/delivery/webhook"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
	"merchantorders/internal/token"
)

// operator returns a browser in which an operator with some scopes has signed in.
func (s *service) operator(scopes order.Scope) *browser {
	s.T.Helper()
	return s.signedIn(s.NewOperatorToken(scopes))
}

// TestAttention shows what operators have to act on, with where they can: late orders,
// stores by orders to answer, and failing webhooks.
func TestAttention(t *testing.T) {
	t.Parallel()
	late := func(document map[string]any) {
		document["expiresAt"] = apptest.StartOfTime.Add(-90 * time.Minute).Format(time.RFC3339)
	}
	s := start(t, newOrder(1, "LATE", late), newOrder(2, "SECOND"), newOrder(3, "OTHER", ofMerchant(theirs)))
	for _, state := range []delivery.State{delivery.Active, delivery.Failing, delivery.Failed} {
		endpoint := testenv.Of(s.Webhooks.Add(t.Context(), order.CommandFor(ours), ours, webhook.Change{URL: new("https://example.com/" + state.String())}, nil, order.Options[webhook.Endpoint]{})).Must(t)
		lease := testenv.Of(s.DB.BorrowEndpoint(t.Context(), endpoint.Key, s.Now(), s.Now().Add(time.Minute))).Must(t)
		testenv.NoError(t, s.DB.SaveProgress(t.Context(), lease, delivery.Progress{Cursor: delivery.Cursor{State: state}}))
	}
	b := s.operator(order.OperatorScopes)
	const search = "/console/operator/orders"
	got := b.get("/console/operator")
	got.WantText(t, http.StatusOK, `<span class="count">1</span> overdue`, search+"?overdue=yes", search+"/355/LATE", "1 h 30 min",
		search+"?state=registered&amp;from=2026-11-20&amp;to=2026-11-20", search+"?merchant=355&amp;state=registered\">2 orders", "Store A", "Store B",
		"https://example.com/failed", "https://example.com/failing", "/console/operator/webhooks/355/3")
	testenv.Lacks(t, "page of the operator", got.Body, "SECOND", "https://example.com/active")
	overdue := b.get(search + "?overdue=yes")
	overdue.WantText(t, http.StatusOK, "LATE", "longest overdue first", "Store B")
	testenv.Lacks(t, "late orders", overdue.Body, "SECOND")
	b.get(search+"?overdue=yes&q=sec").WantText(t, http.StatusOK, "No order matches")
	b.get("/console/operator?cursor=x").WantStatus(t, http.StatusBadRequest)
	if got := s.operator(order.ScopeWebhooks).get("/console/operator"); strings.Contains(got.Body, "LATE") || !strings.Contains(got.Body, "/failing") {
		t.Errorf("a token for webhooks sees %s", got.Body)
	}
	testenv.Equal(t, "a token for the audit log comes to", "/console/operator/audit", s.operator(order.ScopeAudit).get("/console/operator").location())
}

// TestOperatorOrder finds an order and moves it; of two people the second one is told
// who was first.
func TestOperatorOrder(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "FIRST"), newOrder(2, "OTHER", ofMerchant(theirs)))
	b := s.operator(order.OperatorScopes)
	b.get("/console/operator/orders?q=fir").WantText(t, http.StatusOK, "/console/operator/orders/355/FIRST")
	b.get("/console/operator/orders?merchant=400&overdue=yes").WantText(t, http.StatusOK, `class="chip" href="/console/operator/orders?overdue=yes">`, "Overdue orders, the longest overdue first")
	b.get("/console/operator/orders?merchant=400").WantText(t, http.StatusOK, "/console/operator/orders/400/OTHER")
	b.get("/console/operator/orders?merchant=%3Ci%3E&state=x&from=y").WantText(t, http.StatusBadRequest,
		"No store has this name", `value="&lt;i&gt;"`, "“y” is not a day", `value="y"`, `<details class="filters" open><summary class="button">Filters`)
	b.get("/console/operator/orders/400/FIRST").WantText(t, http.StatusNotFound, "There is no such order, store")

	const address, action = "/console/operator/orders/355/FIRST", "/console/operator/orders/355/FIRST/state"
	form, late := b.get(address).form(t, action), b.get(address).form(t, action)
	form.Set("do", "cancel")
	b.post(action, form).WantText(t, http.StatusUnprocessableEntity, "Choose a reason, or write another one")
	form.Del("do")
	form.Set("state", "in-processing")
	form.Set("other", "Άλλαξε γνώμη")
	b.post(action, form).WantText(t, http.StatusUnprocessableEntity, "Latin letters", `value="Άλλαξε γνώμη"`, `value="in-processing" selected`)
	form.Set("other", "Customer changed mind.")
	form.Set("state", "rejected-by-merchant")
	b.post(action, form).WantText(t, http.StatusUnprocessableEntity, "one of its reasons")
	form.Set("other", "")
	form.Set("reason", "damaged")
	b.post(action, form).WantText(t, http.StatusOK, "<h1>Change the state to “Rejected”?</h1>", ">Change</button>")
	form.Set("other", "Customer changed mind.")
	form.Set("do", "cancel")
	question := b.post(action, form)
	question.WantText(t, http.StatusOK, "<h1>Cancel this order?</h1>", ">Cancel the order</button>", "Store B", "The customer changed their mind", `name="reason" value="customer-changed-mind"`)
	testenv.Equal(t, "state after the question", order.Registered, s.get("FIRST").State)
	form = question.form(t, action)
	for name, value := range map[string]string{"state": "canceled", "reason": "customer-changed-mind", "sure": "yes"} {
		form.Set(name, value)
	}
	for range 2 {
		testenv.Equal(t, "leads to", address+"?done=yes", b.post(action, form).location())
	}
	b.get(address+"?done=yes").WantText(t, http.StatusOK, "The state was changed", `name="customer.phone" type="text" autocomplete="off"`, "The customer changed their mind", "order.state_changed")
	late.Set("state", "in-processing")
	b.post(action, late).WantText(t, http.StatusConflict, "the order has changed", "The customer changed their mind")
}

// TestStoresByName names stores instead of numbers, wherever a store is asked for, and finds
// them in the search of the header.
func TestStoresByName(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "FIRST"), newOrder(2, "OTHER", ofMerchant(theirs)))
	for id, name := range map[int64]string{7: "Ανθοπωλείο Ζωή", 8: "Store AB", 9: "Σίσυφος <b>"} {
		testenv.NoError(t, s.Merchants.Add(t.Context(), order.Command(), id, name, order.Options[order.Merchant]{}))
	}
	b := s.operator(order.OperatorScopes)
	const root = "/console/operator"
	for _, c := range []struct{ typed, want, problem string }{ // want: text of the page of orders
		{"store b", "/355/FIRST", ""}, {" Store A ", "/400/OTHER", ""}, {"400", "/400/OTHER", ""}, {"ανθοπωλείο ζωη", "No order matches", ""}, {"ζωη", "", "<bdi>Ανθοπωλείο Ζωή</bdi> (7)"},
		{"store", "", "Which store?"}, {"sto", "", "<bdi>Store AB</bdi> (8)"}, {"none", "", "No store has this name"}, {"ΣΊΣΥΦΟΣ b", "No order matches", ""}, {"%", "", "No store has this name"},
	} {
		query := "?merchant=" + url.QueryEscape(c.typed)
		status := http.StatusOK
		if c.problem != "" {
			status = http.StatusBadRequest
		}
		got := b.get(root + "/orders" + query)
		got.WantText(t, status, c.want, c.problem, `value="`+c.typed+`"`)
		if c.problem == "" && strings.Contains(got.Body, "/FIRST") && strings.Contains(got.Body, "/OTHER") {
			t.Errorf("%q selects both stores", c.typed)
		}
		b.get(root+"/audit"+query).WantText(t, status, c.problem)
		b.get(root+"/tokens"+query).WantText(t, status, c.problem)
	}
	created := b.get(root+"/tokens").postForm(t, root+"/tokens")
	created["merchant"], created["scope"] = []string{"ζωη"}, []string{"orders:read"}
	b.post(root+"/tokens", created).WantText(t, http.StatusUnprocessableEntity, "Which store?", "<bdi>Ανθοπωλείο Ζωή</bdi> (7)", `<option value="Ανθοπωλείο Ζωή">7</option>`)
	created.Set("merchant", "ΑΝΘΟΠΩΛΕΊΟ ΖΩΉ")
	b.post(root+"/tokens", created).WantText(t, http.StatusOK, "Copy the new token now", root+"/merchants/7")
	b.post(root+"/customers", url.Values{"merchant": {"Store B"}, "reference": {"FIRST"}}).WantText(t, http.StatusOK, "Erase permanently?", `name="merchant" value="355"`)

	const zoe = `href="/console/operator/merchants/7"`
	b.get(root+"/orders?q=%CE%B6%CF%89%CE%B7").WantText(t, http.StatusOK, zoe)
	b.get(root+"/find?q=%CE%B6%CF%89%CE%B7").WantText(t, http.StatusOK, zoe, "<bdi>Ανθοπωλείο Ζωή</bdi>")
	b.get(root+"/find?q=9").WantText(t, http.StatusOK, "Σίσυφος &lt;b&gt;")
	b.get(root+"/find?q=oth").WantText(t, http.StatusOK, root+"/orders/400/OTHER", "1 order")
	b.get(root+"/find?q=audit").WantText(t, http.StatusOK, `href="/console/operator/audit"`)
	b.get(root+"/find?q=").WantText(t, http.StatusOK, "No order matches")
	s.operator(order.ScopeOrdersRead).get(root+"/find?q=audit").WantText(t, http.StatusOK, "No order matches")
	s.operator(order.ScopeOrdersRead).get(root+"/find?q=store+b").WantText(t, http.StatusOK, root+"/orders?merchant=355")
}

// TestMerchants adds a store, renames, suspends and resumes it.
func TestMerchants(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.operator(order.OperatorScopes)
	const list = "/console/operator/merchants"
	form := b.get(list).postForm(t, list)
	for field, wrong := range map[string][2]string{"id": {"x7", "Enter a whole number"}, "name": {"a\nb", "on one line"}} {
		values := url.Values{"key": form["key"], "id": {"9"}, "name": {"Nine"}, field: {wrong[0]}}
		b.post(list, values).WantText(t, http.StatusUnprocessableEntity, wrong[1])
	}
	form.Set("id", strconv.Itoa(ours))
	form.Set("name", "<script>alert(1)</script>")
	b.post(list, form).WantText(t, http.StatusUnprocessableEntity, "with another name", "&lt;script&gt;")
	form.Set("id", "9")
	testenv.Equal(t, "leads to", list+"/9?done=added", b.post(list, form).location())
	got := b.get(list)
	got.WantText(t, http.StatusOK, "&lt;script&gt;alert")
	testenv.Lacks(t, "list with a hostile name", got.Body, "<script>alert")

	address, staff := list+"/"+strconv.Itoa(ours), s.signedIn(s.token)
	suspend := b.get(address).form(t, address+"/suspend")
	b.post(address+"/suspend", suspend).WantText(t, http.StatusUnprocessableEntity, "Fill in this field")
	suspend.Set("reason", "unpaid")
	asked := b.post(address+"/suspend", suspend)
	asked.WantText(t, http.StatusOK, "Suspend this store?", "Store B · unpaid")
	testenv.Lacks(t, "question before a suspension", asked.Body, "cannot be undone")
	staff.get("/console").WantStatus(t, http.StatusOK)
	b.post(address+"/suspend", asked.form(t, address+"/suspend")).WantText(t, http.StatusSeeOther)
	staff.get("/console").WantText(t, http.StatusForbidden, "Your store is suspended")
	b.get(address).WantText(t, http.StatusOK, "unpaid")
	b.post(address+"/resume", b.get(address).form(t, address+"/resume")).WantText(t, http.StatusSeeOther)
	staff.get("/console").WantText(t, http.StatusOK)
	rename := b.get(address).form(t, address+"/rename")
	rename.Set("name", "Another name")
	b.post(address+"/rename", rename).WantText(t, http.StatusSeeOther)
	for _, limit := range []struct {
		requests, burst string
		want            order.RateLimit
	}{
		{"200", "1000", order.RateLimit{PerSecond: 200, Burst: 1000}}, {"200", "", order.RateLimit{PerSecond: 200, Burst: 400}}, {"", "", order.RateLimit{}},
	} {
		form := b.get(address).form(t, address+"/limit")
		form.Set("requests", limit.requests)
		form.Set("burst", limit.burst)
		b.get(b.post(address+"/limit", form).location()).WantText(t, http.StatusOK, "The request limit was saved")
		testenv.Equal(t, "limit", limit.want, testenv.Of(s.Merchants.Get(t.Context(), ours)).Must(t).RateLimit)
	}
	b.get(address).WantText(t, http.StatusOK, "That of the service: UTC")
	zone := b.get(address).form(t, address+"/time-zone")
	zone.Set("zone", "Europe/Athens")
	b.get(b.post(address+"/time-zone", zone).location()).WantText(t, http.StatusOK, `value="Europe/Athens" selected>Athens<`)
	staff.get("/console").WantText(t, http.StatusOK, "Another name")
	b.get(list+"/12345").WantText(t, http.StatusNotFound)
}

// TestOperatorLoginLink gives a store a link that works once.
func TestOperatorLoginLink(t *testing.T) {
	t.Parallel()
	s := start(t)
	b := s.operator(order.OperatorScopes)
	const address = "/console/operator/merchants/355"
	got := b.post(address+"/login-link", b.get(address).form(t, address+"/login-link"))
	got.WantText(t, http.StatusOK, "/console/login/")
	_, link, _ := strings.Cut(got.Body, s.URL)
	link, _, _ = strings.Cut(link, "<")
	staff := s.browser()
	staff.post(link, nil).WantText(t, http.StatusSeeOther)
	staff.get("/console").WantText(t, http.StatusOK)
	s.browser().post(link, nil).WantText(t, http.StatusForbidden)
}

// TestErasePages erases the data of a customer after a question.
func TestErasePages(t *testing.T) {
	t.Parallel()
	buyer := func(document map[string]any) {
		document["customer"].(map[string]any)["email"] = "someone@example.com"
	}
	s := start(t, newOrder(1, "FIRST", buyer), newOrder(2, "SECOND", buyer), newOrder(3, "OTHER", buyer, ofMerchant(theirs)))
	s.signedIn(s.token).upload("/console/orders/FIRST", "a.pdf", "content")
	b := s.operator(order.OperatorScopes)
	const ask, erase = "/console/operator/customers", "/console/operator/customers/erase"
	for _, c := range []struct{ field, value, problem string }{
		{"email", "", "Enter an e-mail address, or a store"},
		{"email", "nobody", "not an e-mail address"},
		{"email", "nobody@example.com", "No order has this e-mail address"},
		{"reference", "%", "not the reference of an order"},
		{"merchant", "-1", "No store has this name"},
	} {
		b.post(ask, url.Values{c.field: {c.value}}).WantText(t, http.StatusUnprocessableEntity, c.problem)
	}
	b.post(ask, url.Values{"merchant": {"400"}, "reference": {"FIRST"}}).WantText(t, http.StatusUnprocessableEntity, "no such order")
	question := b.post(ask, url.Values{"email": {"someone@example.com"}})
	question.WantText(t, http.StatusOK, "Erase permanently?", "3 orders, 2 stores, 1 file<", `name="email" value="someone@example.com"`)
	form := question.form(t, erase)
	form.Set("email", "someone@example.com")
	b.post(erase, form).WantText(t, http.StatusOK, "Erased: 3 orders, 0 files.")
	testenv.Equal(t, "the order's e-mail address", "", testenv.Of(s.Orders.Get(t.Context(), ours, order.ByReference("FIRST"))).Must(t).Customer.Email)
	const address, correct = "/console/operator/orders/355/FIRST", "/console/operator/orders/355/FIRST/correct"
	correction := b.get(address).form(t, correct)
	correction.Set("customer.phone", "6912345678")
	b.post(correct, correction).WantText(t, http.StatusUnprocessableEntity, "The personal data of this order is erased")
}

// TestAuditPage filters the audit log and pages through it. A request that does not fit on a page
// begins the next one.
func TestAuditPage(t *testing.T) {
	t.Parallel()
	s := start(t, newOrders(1, 510, "ORDER-%d")...)
	b := s.operator(order.OperatorScopes)
	const address = "/console/operator/audit"
	b.get(address+"?reference=ORDER-7").WantText(t, http.StatusOK, "order.created", "ORDER-7")
	b.get(address+"?reference=%25&merchant=x&token=y&from=1&to=2").WantText(t, http.StatusBadRequest,
		"not the reference of an order", "No store has this name", "Enter a whole number", "Enter a day", `value="y"`)
	b.get(address+"?merchant=0&action=token.created").WantText(t, http.StatusOK, "scopes=")
	b.get(address+"?action=order.created").WantText(t, http.StatusOK, `value="order.created" selected`, `href="?from=2026-11-19&amp;to=2026-11-19"`)
	b.header.Set("Accept-Language", "el")
	b.get(address+"?merchant=0&action=token.created").WantText(t, http.StatusOK, "Το marketplace</bdi> δημιούργησε το κλειδί <a")
	b.header.Del("Accept-Language")
	for n := range 60 { // the first requests have one entry each, the last one has nine
		by := order.CommandFor(ours)
		by.RequestID = strconv.Itoa(min(n, 51))
		testenv.Of(s.Merchants.Update(t.Context(), by, ours, order.MerchantUpdate{Name: new(strconv.Itoa(n))}, order.Options[order.Merchant]{})).Must(t)
	}
	const goesOn = "goes on on the next page"
	next := address + "?merchant=355"
	for _, want := range []struct {
		requests int
		says     string
		goesOn   bool
	}{{50, "changed the store and 8 more", false}, {2, "changed the store", false}, {1, "imported 500 orders", true}, {1, "imported 10 orders", false}} {
		got := b.get(next)
		got.WantText(t, http.StatusOK, want.says)
		testenv.Equal(t, want.says+": requests", want.requests, strings.Count(got.Body, `<th scope="row"`))
		testenv.Equal(t, want.says+": goes on", want.goesOn, strings.Contains(got.Body, goesOn))
		next = got.next()
	}
	testenv.Equal(t, "page after the last", "", next)
}

// TestAuditSays does something with several orders at once: the audit log says it in one
// line, which opens.
func TestAuditSays(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "A-1"), newOrder(2, "A-2"), newOrder(3, "A-3"))
	staff := s.signedIn(testenv.Of(s.Tokens.Add(t.Context(), order.Command(), token.Request{MerchantID: ours, Scopes: order.MerchantScopes, Label: "Ελένη <b>"}, order.Options[token.Created]{})).Must(t).Text)
	form := staff.get("/console/new").form(t, queueForm)
	form["order"], form["do"] = []string{"A-1", "A-2"}, []string{"accept"}
	staff.post("/console/new", form).WantStatus(t, http.StatusSeeOther)
	reject := staff.get("/console/orders/A-3").form(t, "/console/orders/A-3/own")
	reject.Set("reason", "damaged")
	staff.post("/console/orders/A-3/reject", reject).WantStatus(t, http.StatusSeeOther)
	staff.upload("/console/orders/A-1", "1.pdf", "x", "2.pdf", "x")
	own := staff.get("/console/orders/A-1").form(t, "/console/orders/A-1/own")
	own.Set("merchantNote", "call first")
	staff.post("/console/orders/A-1/own", own).WantStatus(t, http.StatusSeeOther)
	b := s.operator(order.OperatorScopes)
	const link = `<a href="/console/operator/orders/355/`
	b.get("/console/operator/audit").WantText(t, http.StatusOK, "<summary><bdi>Ελένη &lt;b&gt;</bdi> accepted 2 orders</summary>",
		"<bdi>Ελένη &lt;b&gt;</bdi> accepted order "+link+"A-1\">A-1</a>", "<bdi>Ελένη &lt;b&gt;</bdi> rejected order "+link+"A-3", "</bdi> added a file to order A-1 (×2)</summary>", "</bdi> changed the number or note of order "+link+"A-1",
		"The marketplace</bdi> imported order")
	b.header.Set("Accept-Language", "el")
	b.get("/console/operator/audit").WantText(t, http.StatusOK, "</bdi> αποδέχθηκε 2 παραγγελίες</summary>", "</bdi> απέρριψε την παραγγελία "+link+"A-3")
}

// TestWebhookPages adds a webhook, changes, tests and removes it, as its merchant and as
// an operator; a form that is sent twice does a thing once.
func TestWebhookPages(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "FIRST"))
	merchant, other, operator := s.signedIn(s.token), s.signedIn(s.otherToken), s.operator(order.ScopeWebhooks|order.ScopeOrdersRead)
	const list, address = "/console/webhooks", "https://example.com/hook"
	for _, c := range []struct {
		b    *browser
		one  string
		list string
	}{{merchant, "/console/webhooks/1", list}, {operator, "/console/operator/webhooks/355/2", "/console/operator/webhooks"}} {
		form := merchant.get(list).form(t, list)
		form.Set("url", address)
		form.Set("headers", "X-A: 1\nx-a: 2")
		merchant.post(list, form).WantText(t, http.StatusUnprocessableEntity, "at most 10 headers")
		form.Set("headers", "X-A:")
		merchant.post(list, form).WantText(t, http.StatusUnprocessableEntity, "none is stored")
		form.Del("headers")
		form.Set("username", "u")
		merchant.post(list, form).WantText(t, http.StatusUnprocessableEntity, "none is stored")
		form.Del("username")
		merchant.post(list, form).WantText(t, http.StatusOK, "whsec_")
		merchant.post(list, form).WantText(t, http.StatusOK, "shown already")
		send := func(do, event string) (first, second page) {
			values := c.b.get(c.one).form(t, c.one)
			values.Set("do", do)
			values.Set("event", event)
			other.post(c.one, values)
			return c.b.post(c.one, values), c.b.post(c.one, values)
		}
		first, second := send("secret", "")
		if !strings.Contains(first.Body, "whsec_") || strings.Contains(second.Body, "whsec_") || !strings.Contains(second.Body, "shown already") {
			t.Errorf("%s: the secret is not shown once", c.one)
		}
		for _, change := range [][2]string{{"disable", "Nothing is delivered"}, {"enable", "Deliveries continue"}} {
			first, second = send(change[0], "")
			first.WantText(t, http.StatusOK, change[1])
			second.WantText(t, http.StatusOK, change[1])
		}
		for do, event := range map[string]string{"test": "", "redeliver": "1"} {
			before := s.posted.Load()
			first, second = send(do, event)
			first.WantText(t, http.StatusOK, "status 418", "&lt;b&gt;no&lt;/b&gt;")
			second.WantText(t, http.StatusOK, "sent already")
			testenv.Equal(t, fmt.Sprintf("%s: messages that %s sends", c.one, do), 1, s.posted.Load()-before)
		}
		first, _ = send("redeliver", "77")
		first.WantText(t, http.StatusUnprocessableEntity)
		change := c.b.get(c.one).form(t, c.one)
		change["do"], change["url"], change["description"], change["type"] = []string{"change"}, []string{address + "/2"}, []string{"till"}, []string{"order.created"}
		c.b.post(c.one, change).WantText(t, http.StatusOK, "The webhook was changed", address+"/2", "till", `value="order.created" checked`)
		for _, access := range []struct {
			headers, username, password string
			host                        string
			status                      int
		}{
			{"X-A: 1", "u", "p", "example.com", http.StatusOK},
			{"X-A:", "v", "", "example.com", http.StatusOK},
			{"X-A:\nX-B:", "v", "", "example.com", http.StatusUnprocessableEntity},
			{"X-A:", "", "", "other.example.com", http.StatusUnprocessableEntity},
			{"", "v", "", "other.example.com", http.StatusUnprocessableEntity},
			{"X-A:", "", "p", "example.com", http.StatusUnprocessableEntity},
		} {
			change := c.b.get(c.one).form(t, c.one)
			for name, value := range map[string]string{
				"do": "change", "url": "https://" + access.host, "headers": access.headers, "username": access.username, "password": access.password,
			} {
				change.Set(name, value)
			}
			c.b.post(c.one, change).WantStatus(t, access.status)
		}
		c.b.get(c.one).WantText(t, http.StatusOK, ">https://example.com<", "X-A:\n</textarea>", `value="v"`)
		stored, err := s.Webhooks.List(t.Context(), ours)
		if testenv.NoError(t, err); stored[0].Headers["X-A"] != "1" || stored[0].Password != "p" {
			t.Errorf("%s: the stored credentials are not kept", c.one)
		}
		form = c.b.get(c.one+"/remove").form(t, c.one)
		form.Set("do", "remove")
		testenv.Equal(t, "leads to", c.list+"?done=removed", c.b.post(c.one, form).location())
		c.b.get(c.list+"?done=removed").WantText(t, http.StatusOK, "was removed")
		c.b.get(c.one).WantText(t, http.StatusNotFound)
	}
	other.get("/console/webhooks/1").WantText(t, http.StatusNotFound)

	market := testenv.Of(s.Webhooks.Add(t.Context(), order.Command(), delivery.Marketplace, webhook.Change{URL: new("https://market.example.com")}, nil, order.Options[webhook.Endpoint]{})).Must(t)
	testenv.Of(s.Webhooks.Redeliver(t.Context(), order.Command(), market.Key, ours, 1, order.Options[delivery.Attempt]{})).Must(t)
	marketPage := fmt.Sprint("/console/operator/webhooks/all/", market.ID)
	for _, state := range []string{"", "?state=active"} {
		operator.get("/console/operator/webhooks"+state).WantText(t, http.StatusOK, "All stores", marketPage)
	}
	operator.get("/console/operator/webhooks?state=failed").WantText(t, http.StatusOK, "No webhook is in this state")
	operator.get(marketPage).WantText(t, http.StatusOK, "355/1", `name="merchant" value="355"`)
	again := operator.get(marketPage).form(t, marketPage)
	again["do"], again["event"], again["merchant"] = []string{"redeliver"}, []string{"1"}, []string{"355"}
	operator.post(marketPage, again).WantText(t, http.StatusOK, "market.example.com")
	lease := testenv.Of(s.DB.BorrowEndpoint(t.Context(), market.Key, s.Now(), s.Now())).Must(t)
	p := delivery.Progress{Cursor: lease.Cursor}
	p.Held = []delivery.Held{{MerchantID: ours, Event: 1}, {MerchantID: theirs, Event: 7}}
	testenv.NoError(t, s.DB.SaveProgress(t.Context(), lease, p))
	operator.get(marketPage).WantText(t, http.StatusOK, "Retrying", fmt.Sprintf("Waiting, as they were refused</dt><dd>%d/1, %d/7</dd>", ours, theirs))
}

// postForm is form for a page with a search that has the same action.
func (p page) postForm(t testing.TB, action string) url.Values {
	t.Helper()
	_, rest, _ := strings.Cut(p.Body, `<main`)
	_, rest, _ = strings.Cut(rest, `method="post" `)
	return page{testenv.Response{Body: rest}}.form(t, action)
}

// TestOperatorOrderParts shows the files and the deliveries of an order, as far as the
// scopes allow.
func TestOperatorOrderParts(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "FIRST"))
	const address = "/console/operator/orders/355/FIRST"
	s.signedIn(s.token).upload("/console/orders/FIRST", "a.pdf", "content")
	endpoint := testenv.Of(s.Webhooks.Add(t.Context(), order.CommandFor(ours), ours, webhook.Change{URL: new("https://example.com/hook")}, nil, order.Options[webhook.Endpoint]{})).Must(s.T)
	testenv.Of(s.Webhooks.Redeliver(t.Context(), order.Command(), endpoint.Key, ours, 1, order.Options[delivery.Attempt]{})).Must(s.T)
	all, reader := s.operator(order.OperatorScopes), s.operator(order.ScopeOrdersRead)
	all.get(address).WantText(t, http.StatusOK, "https://example.com/hook", "&lt;b&gt;no&lt;/b&gt;", "HTTP 418", `action="/console/operator/webhooks/355/1"`)
	got := reader.get(address)
	got.WantText(t, http.StatusOK, "status 418", "a.pdf", "the store, token", "Store&#39;s SKU")
	testenv.Lacks(t, "page for a token that reads orders", got.Body, "example.com/hook", "&lt;b&gt;no", "/console/operator/webhooks", "/correct")
	reader.get(address+"/files/a.pdf").WantText(t, http.StatusOK, "content")
	reader.get("/console/operator/orders/400/FIRST/files/a.pdf").WantText(t, http.StatusNotFound)
	s.operator(order.ScopeAudit).get(address+"/files/a.pdf").WantText(t, http.StatusForbidden)
	s.signedIn(s.otherToken).get(address+"/files/a.pdf").WantText(t, http.StatusForbidden)
	testenv.Of(s.Orders.DeleteInvoice(t.Context(), order.CommandFor(ours), order.ByReference("FIRST"), 1, order.Options[order.WriteResult]{})).Must(s.T)
	reader.get(address).WantText(t, http.StatusOK, "a.pdf</bdi></s>", "deleted")
	reader.get(address+"/files/a.pdf").WantText(t, http.StatusNotFound)
}

// TestCorrection corrects an order: only fields that were changed in the form, once,
// and not after somebody else has changed the order.
func TestCorrection(t *testing.T) {
	t.Parallel()
	s := start(t, newOrder(1, "FIRST", func(document map[string]any) {
		document["carrier"] = map[string]any{"name": "Line one\nline two", "comments": "a\nb", "shipmentIds": []any{1, 2}}
		document["customer"].(map[string]any)["phone"] = ""
	}))
	b := s.operator(order.OperatorScopes)
	const address, action = "/console/operator/orders/355/FIRST", "/console/operator/orders/355/FIRST/correct"
	form, late := b.get(address).form(t, action), b.get(address).form(t, action)
	for name, value := range map[string]string{ // as a browser sends them back
		"carrier.name": "Line oneline two", "carrier.comments": "a\r\nb", "carrier.shipmentIds": "1, 2", "customer.phone": "", "carrier.method": "",
	} {
		form.Set(name, value)
	}
	unchanged := s.get("FIRST")
	b.post(action, form).WantText(t, http.StatusUnprocessableEntity, "no field was changed")
	testenv.Equal(t, "revision after a form without a change", unchanged.Revision, s.get("FIRST").Revision)
	form.Set("carrier.trackingCodes", "77 88")
	form.Set("shippingAddress.lastName", "<b>Άλλη</b>")
	form.Set("carrier.shipmentIds", "")
	form.Set("expiresAt", "2026-12-01T10:00")
	for range 2 {
		testenv.Equal(t, "leads to", address+"?done=corrected", b.post(action, form).location())
	}
	got := s.get("FIRST")
	if c := got.Carrier; c.TrackingCodes != "77 88" || got.Shipping.LastName != "<b>Άλλη</b>" || len(c.ShipmentIDs) != 0 || c.Name != "Line one\nline two" || got.ExpiresAt.Format("15:04") != "10:00" {
		t.Errorf("the order has %+v, until %s", c, got.ExpiresAt)
	}
	b.get(address+"?done=corrected").WantText(t, http.StatusOK, "The order was corrected", "77 88", "&lt;b&gt;Άλλη&lt;/b&gt;", `value="2026-12-01T10:00"`)
	late.Set("carrier.trackingCodes", "99")
	b.post(action, late).WantText(t, http.StatusConflict, "the order has changed", `value="99"`)
}

// get returns an order of ours.
func (s *service) get(reference string) order.Order {
	s.T.Helper()
	o := testenv.Of(s.Orders.Get(s.T.Context(), ours, order.ByReference(reference))).Must(s.T)
	return o
}

// TestRevokeChildren revokes a token with what it made, because the box is ticked.
func TestRevokeChildren(t *testing.T) {
	t.Parallel()
	s := start(t)
	parent := testenv.Of(s.Tokens.Add(t.Context(), order.Command(), token.Request{Operator: true, Scopes: order.ScopeTokens}, order.Options[token.Created]{})).Must(t)
	by := order.Caller{Actor: order.ActorOperator, TokenID: parent.Token.ID, Scopes: order.ScopeTokens}
	b := s.operator(order.OperatorScopes)
	address := fmt.Sprintf("/console/operator/tokens/%d/revoke", parent.Token.ID)
	for _, children := range []bool{true, false} {
		child, err := s.Tokens.Add(t.Context(), by, token.Request{MerchantID: ours, Scopes: order.ScopeOrdersRead}, order.Options[token.Created]{})
		if !children {
			testenv.Equal(t, "the revoked token makes another one", token.ErrUnknown, err)
			return
		}
		testenv.NoError(t, err)
		asked := b.get(address)
		asked.WantText(t, http.StatusOK, "<title>Revoke this token? ·")
		key := hiddenField.FindStringSubmatch(asked.Body)[2]
		b.post(address, url.Values{"key": {key}, "children": {"yes"}}).WantStatus(t, http.StatusSeeOther)
		testenv.Of(s.Tokens.Authenticate(t.Context(), child.Text, netip.Addr{})).WantError(t, "the child is valid", token.ErrUnknown)
	}
}
