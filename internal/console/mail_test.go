package console_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"merchantorders/internal/app/apptest"
	"merchantorders/internal/config"
	"merchantorders/internal/delivery"
	"merchantorders/internal/mail/mailtest"
	"merchantorders/internal/order"
	"merchantorders/internal/testenv"
)

// pathIn returns the path of the first link in a text that has a part.
func pathIn(t testing.TB, text, part string) string {
	t.Helper()
	for word := range strings.FieldsSeq(text) {
		if link, err := url.Parse(word); err == nil && strings.Contains(link.Path, part) {
			return link.Path
		}
	}
	t.Fatalf("no link with %s in %s", part, text)
	return ""
}

// addAddress sends the form that adds an e-mail address.
func (b *browser) addAddress(address, language string, what ...string) page {
	b.s.T.Helper()
	form := b.get("/console/mail").form(b.s.T, "/console/mail")
	form["do"], form["email"], form["language"], form["every"], form["what"] = []string{"add"}, []string{address}, []string{language}, []string{"5"}, what
	return b.post("/console/mail", form)
}

// TestMailAddresses adds e-mail addresses, renews their links and removes them.
func TestMailAddresses(t *testing.T) {
	t.Parallel()
	s := startWith(t, "", config.Serve{DeadlineWarning: "6h"})
	b := s.signedIn(s.token)
	if to := b.addAddress("a@example.com", "en", "new", "near").location(); to != "/console/mail?done=added" || len(s.mails) != 1 {
		t.Fatalf("leads to %s, e-mails %+v", to, s.mails)
	}
	b.get("/console/mail?done=added").WantText(t, http.StatusOK, "An e-mail with a link was sent", "a@example.com", "at most every 5 minutes", "Orders near their deadline", "Not confirmed")
	b.addAddress("a@example.com", "en", "new").WantText(t, http.StatusUnprocessableEntity, "has this address already")
	b.addAddress("down@example.com", "en", "new").WantText(t, http.StatusOK, "could not be sent", "down@example.com")
	link := func(address string) url.Values {
		form := b.get("/console/mail").form(t, "/console/mail")
		form["do"], form["address"] = []string{"link"}, []string{address}
		return form
	}
	b.post("/console/mail", link("1")).WantText(t, http.StatusConflict, "A link was sent just now")
	b.post("/console/mail", link("9")).WantStatus(t, http.StatusNotFound)
	other := s.signedIn(s.otherToken)
	other.post("/console/mail", link("1")).WantStatus(t, http.StatusNotFound)
	s.Pass(time.Minute)
	again := link("1")
	for range 2 { // the second one is a repetition
		if to := b.post("/console/mail", again).location(); to != "/console/mail?done=link" || len(s.mails) != 2 {
			t.Errorf("leads to %s, e-mails %+v", to, s.mails)
		}
	}
	b.post(pathIn(t, s.mails[0].Body, "/mail/confirm/"), nil).WantText(t, http.StatusForbidden, "has expired or was used", `href="/console">To the overview`)
	b.post(pathIn(t, s.mails[1].Body, "/mail/confirm/"), nil).WantText(t, http.StatusOK, "The address is confirmed")
	testenv.Lacks(t, "addresses of another store", other.get("/console/mail").Body, "example.com<")
	other.addAddress("nobody@example.com", "en", "new").WantText(t, http.StatusOK, "refuses this address")
	unread := s.signedIn(s.NewToken(ours, order.ScopeWebhooks))
	unread.addAddress("b@example.com", "en", "new").WantText(t, http.StatusForbidden, "does not let you read orders")
	unread.post("/console/mail", link("1")).WantText(t, http.StatusForbidden, "does not let you read orders")
	remove := link("1")
	remove.Set("do", "remove")
	b.post("/console/mail", remove).WantText(t, http.StatusOK, "Remove this address?", "a@example.com", "gets no more e-mails")
	testenv.Contains(t, "addresses at the question", b.get("/console/mail").Body, ">a@example.com<")
	remove.Set("sure", "yes")
	testenv.Equal(t, "leads to", "/console/mail?done=removed", b.post("/console/mail", remove).location())
	testenv.Lacks(t, "addresses after the removal", b.get("/console/mail").Body, ">a@example.com<")
	left, err := s.Digests.List(t.Context(), ours)
	if testenv.NoError(t, err); len(left) != 1 {
		t.Fatalf("addresses %+v, want one", left)
	}
	end := fmt.Sprintf("/console/mail/end/%d/%d/%s", ours, left[0].ID, string(left[0].Secret))
	b.post(end, nil).WantText(t, http.StatusOK, "It gets no more e-mails")
	testenv.Contains(t, "log", s.Log.String(), `"msg":"e-mail not sent","merchant":355,"address":2`, `"error":"connection","answer":"nobody listens"`)
	testenv.Equal(t, "e-mails that failed", uint64(1), s.Digests.Counts()[delivery.ErrorConnection])
	testenv.Lacks(t, "log", s.Log.String(), "@example.com")
}

// TestNoMail checks that nothing shows e-mails without a mail server.
func TestNoMail(t *testing.T) {
	t.Parallel()
	s := &service{}
	s.Service = apptest.New(t, apptest.Setup{Fill: func(s *apptest.Service) {
		testenv.NoError(t, s.Merchants.Add(t.Context(), order.Command(), ours, "Store", order.Options[order.Merchant]{}))
	}})
	b := s.signedIn(s.NewToken(ours, order.MerchantScopes))
	if got := b.get("/console/webhooks"); got.Status != http.StatusOK || strings.Contains(got.Body, "/console/mail") {
		t.Errorf("status %d, with a link to the page", got.Status)
	}
	b.get("/console/mail").WantStatus(t, http.StatusNotFound)
}

// TestMailOfOrders sends e-mails through a real mail server: a link that confirms, a digest
// in Greek, and the click that ends them.
func TestMailOfOrders(t *testing.T) {
	t.Parallel()
	server := mailtest.Start(t)
	s := startWith(t, "http://orders.example.com", config.Serve{SMTP: "smtp://127.0.0.1:" + strconv.Itoa(server.Plain), SMTPFrom: "orders@example.com"})
	b := s.signedIn(s.token)
	testenv.Lacks(t, "page of a service that writes no warnings", b.get("/console/mail").Body, `value="near"`)
	b.addAddress("maria@example.com", "el", "new").WantStatus(t, http.StatusSeeOther)
	mail := server.Next(t)
	if mail.Subject() != "Επιβεβαιώστε τη διεύθυνσή σας" || !strings.Contains(mail.Body, "Το κατάστημα Store B") || mail.Header.Get("List-Unsubscribe") != "" {
		t.Errorf("%s\n%s", mail.Subject(), mail.Body)
	}
	stranger := s.browser() // has no session
	link := pathIn(t, mail.Body, "/console/mail/confirm/")
	page := stranger.get(link)
	checkPage(t, link, page)
	page.WantText(t, http.StatusOK, `<form class="card stack" method="post">`)
	b.get("/console/mail").WantText(t, http.StatusOK, "Not confirmed")
	stranger.post(link, nil).WantText(t, http.StatusOK, "The address is confirmed")
	b.get("/console/mail").WantText(t, http.StatusOK, "Confirmed")
	stranger.post(link, nil).WantText(t, http.StatusForbidden, "has expired or was used", "<title>Error: ")

	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { s.Worker.Run(ctx) })
	defer running.Wait()
	defer cancel()
	zone := "Europe/Athens"
	testenv.Of(s.Merchants.Update(t.Context(), order.Command(), ours, order.MerchantUpdate{TimeZone: &zone}, order.Options[order.Merchant]{})).Must(t)
	s.add(newOrder(1, "SF-1"), newOrder(2, "SF-2"))
	mail = server.Next(t)
	if mail.Subject() != "2 νέες παραγγελίες" || !strings.Contains(mail.Body, "SF-1, απάντηση έως 22\u00a0Νοε\u00a02026, 04:00\n") || !strings.Contains(mail.Body, "Κατάστημα: Store B (ώρες στη ζώνη Europe/Athens)") || !strings.Contains(mail.Body, "http://orders.example.com/console/new") {
		t.Errorf("%s\n%s", mail.Subject(), mail.Body)
	}
	o := testenv.Of(s.Orders.Get(t.Context(), ours, order.ByReference("SF-1"))).Must(t)
	for _, text := range []string{o.Customer.FirstName, o.Customer.LastName, o.Customer.Email, o.Shipping.Street, o.LineItems[0].ProductName} {
		if text == "" || strings.Contains(mail.Body, text) {
			t.Errorf("the e-mail has %q", text)
		}
	}
	end := pathIn(t, strings.Trim(mail.Header.Get("List-Unsubscribe"), "<>"), "/console/mail/end/")
	testenv.Equal(t, "the link of the header", pathIn(t, mail.Body, "/console/mail/end/"), end)
	stranger.get(end).WantText(t, http.StatusOK, "Stop the e-mails")
	stranger.post(strings.TrimRight(end, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")+"X", nil).WantText(t, http.StatusForbidden, "ask the store to remove the address")
	for range 2 { // also if it has ended already
		stranger.post(end, url.Values{"List-Unsubscribe": {"One-Click"}}).WantText(t, http.StatusOK, "It gets no more e-mails", `href="/console">To the overview`)
	}
	testenv.Equal(t, "addresses left", 0, len(testenv.Of(s.Digests.List(t.Context(), ours)).Must(t)))
	testenv.Eventually(t, "a count of the e-mail", func() bool { return s.Digests.Counts()["sent"] == 2 /* with the link */ })
	testenv.Equal(t, "e-mails refused", uint64(0), s.Digests.Counts()[delivery.ErrorRefused])
}
